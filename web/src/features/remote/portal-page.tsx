import { SESSION_POLL_INTERVAL } from '@palisade/contract/remote';
import { IconPlus } from '@tabler/icons-react';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { rowsOf } from '#api/pages.ts';
import { useIsStaff } from '#api/policies.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { JoinCard } from './join-card.tsx';
import { JoinedSessions } from './joined-sessions.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { JustEnded, OwnSession } from './own-session.tsx';
import { EVERY_SESSION, isOpen, joinedHistoryQuery, sessionsQuery, useSessionEvents } from './remote.queries.ts';
import { NoSessionBanner } from './session-banner.tsx';
import { type Step, Steps } from './steps.tsx';
import './remote-page.css';
import './portal-page.css';

const STAFF_STEPS: readonly Step[] = [
  { title: 'They call you', sentence: 'Never call first, and never ask for a password, a card number or a code of a sign-in.' },
  { title: 'They read you the code', sentence: 'It has nine letters and digits, and is valid for 30 minutes. Enter it here.' },
  {
    title: 'They approve you',
    sentence: 'They see your name and choose what to show. Without an answer the request ends in a minute.',
  },
  { title: 'Guide them', sentence: 'You see what they share. Point and draw on it; they press.' },
  { title: 'End the session', sentence: 'Press End session when you have finished. They can end it at any time.' },
];

const CUSTOMER_STEPS: readonly Step[] = [
  { title: 'Check the name', sentence: 'You see here who asks to see your screen. Ask them to say their name to you.' },
  { title: 'Choose what to show', sentence: 'After Approve your browser asks: the whole screen, a window or a tab.' },
  { title: 'Keep your secrets', sentence: 'Nobody from support asks for a password, a card number or a code of a sign-in.' },
  {
    title: 'End it whenever you want',
    sentence: 'Press Pause for a moment, or Stop for good. The code is worth nothing afterwards.',
  },
];

/** The picture and all that is beside it, loaded by who has joined a session. */
const Workspace = lazy(async () => ({ default: (await import('./workspace.tsx')).Workspace }));

/** Where the two sides meet: customers see their open session; technicians join by its code, and see a session of their own while one is open. */
export function PortalPage() {
  const isStaff = useIsStaff();
  const { isLoading: isOwnOnItsWay } = useQuery(sessionsQuery);
  const { isLoading: isJoinedOnItsWay } = useInfiniteQuery({ ...joinedHistoryQuery(EVERY_SESSION), enabled: isStaff });
  return (
    <Page
      title="Remote support portal"
      sentence={
        isStaff
          ? 'Join a customer’s session with the code that they read to you.'
          : 'Your session, while a technician helps you. Keep this window open.'
      }
    >
      {isStaff && <OpenWorkspace />}
      <div className="remote__columns">
        <div className="portal__main">
          {isStaff && (
            <>
              <JoinCard />
              <JoinedSessions />
            </>
          )}
          <OwnSessions isStaff={isStaff} />
        </div>
        {/* On a phone it stands below them, and would be moved by what they hold. */}
        {!isOwnOnItsWay && !isJoinedOnItsWay && (
          <Card title={isStaff ? 'How a session goes' : 'While you are helped'}>
            <Steps steps={isStaff ? STAFF_STEPS : CUSTOMER_STEPS} />
          </Card>
        )}
      </div>
    </Page>
  );
}

/** The newest of the sessions that this technician has joined and that are open. */
function OpenWorkspace() {
  const { data } = useInfiniteQuery(joinedHistoryQuery(EVERY_SESSION));
  useSessionEvents();
  const session = rowsOf(data)?.find(isOpen);
  if (!session) return null;
  return (
    <Suspense fallback={<LoadingRows label="Loading the session" />}>
      <Workspace key={session.id} session={session} />
    </Suspense>
  );
}

function OwnSessions({ isStaff }: { isStaff: boolean }) {
  // Read all the time, because the session may have been created on another screen.
  const { data: sessions, error, refetch } = useQuery({ ...sessionsQuery, refetchInterval: SESSION_POLL_INTERVAL });
  const [isStarting, setIsStarting] = useState(false);
  const now = useMinute();
  useSessionEvents();
  const open = sessions?.filter(isOpen);
  // A technician who needs help begins where customers do.
  if (isStaff && !open?.length) return null;
  return (
    <section className="portal__own" aria-labelledby="own-session">
      <div className="portal__head">
        <h2 id="own-session">Your session</h2>
        {!isStaff && (
          <Button
            variant={open?.length === 0 ? 'primary' : 'quiet'}
            icon={<IconPlus size={18} stroke={2} aria-hidden="true" />}
            aria-haspopup="dialog"
            onClick={() => setIsStarting(true)}
          >
            New Session
          </Button>
        )}
      </div>
      {error && (
        <ErrorNotice title="Your sessions could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {!open && !error && <LoadingRows label="Loading your session" />}
      {open?.map((session) => (
        <OwnSession key={session.id} session={session} />
      ))}
      {sessions && <JustEnded sessions={sessions} now={now} />}
      {open?.length === 0 && <NoSessionBanner />}
      {isStarting && <NewSessionDialog onClose={() => setIsStarting(false)} opensPortal={false} />}
    </section>
  );
}
