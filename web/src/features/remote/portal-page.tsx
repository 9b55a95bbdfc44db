import { type JoinedSession, SESSION_POLL_INTERVAL } from '@palisade/contract/remote';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { rowsOf } from '#api/pages.ts';
import { useIsStaff } from '#api/policies.ts';
import { RemoteRequests } from '#domain/session/remote-requests.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { useMinute } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { JoinCard } from './join-card.tsx';
import { JoinedSessions } from './joined-sessions.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { OwnSessionFlow } from './own-session.tsx';
import { EVERY_SESSION, isOpen, joinedHistoryQuery, sessionsQuery, useSessionEvents } from './remote.queries.ts';
import { type Step, Steps } from './steps.tsx';
import './portal-page.css';

const STAFF_STEPS: readonly Step[] = [
  { title: 'They contact you', sentence: 'Never call first. Never ask for a password, card number, or sign-in code.' },
  { title: 'They read you the code', sentence: 'Enter the nine letters and digits here. A code lasts 30 minutes.' },
  {
    title: 'They approve you',
    sentence: 'They see your name and choose what to share. An unanswered request expires in a minute.',
  },
  { title: 'Guide them', sentence: 'You see what they share. Point and draw on it while they press.' },
  { title: 'End the session', sentence: 'Press End session when you’re done. They can end it at any time.' },
];

const ADVICE: readonly Step[] = [
  { title: 'Check the name', sentence: 'You’ll see who asks to see your screen. Ask them to say their name.' },
  { title: 'Choose what to show', sentence: 'After Approve your browser asks: the whole screen, a window or a tab.' },
  { title: 'Keep your secrets', sentence: 'Support never asks for a password, card number, or sign-in code.' },
  {
    title: 'End it whenever you want',
    sentence: 'Press Pause for a break or End session to finish. Your code can’t be used again.',
  },
];

/** Without numbers: the steps of the session have them. */
function Advice() {
  return (
    <Stack as="ul" gap="4">
      {ADVICE.map(({ title, sentence }) => (
        <li key={title}>
          <h3 className="base bold">{title}</h3>
          <p className="sub">{sentence}</p>
        </li>
      ))}
    </Stack>
  );
}

/** The picture and the tools around it, loaded after joining a session. */
const Workspace = lazyPart(async () => (await import('./workspace.tsx')).Workspace);

/** The screen on which both sides meet: customers see their open session; technicians join by code, and also see their own open session. */
export function PortalPage() {
  const isStaff = useIsStaff();
  const { isLoading: isOwnOnItsWay } = useQuery(sessionsQuery);
  const { data: joined, isLoading: isJoinedOnItsWay } = useInfiniteQuery({
    ...joinedHistoryQuery(EVERY_SESSION),
    enabled: isStaff,
  });
  useSessionEvents();
  const opened = isStaff ? (rowsOf(joined)?.filter(isOpen) ?? []) : [];
  const [working] = opened;
  if (working !== undefined) return <Working session={working} hasMore={opened.length > 1} />;
  return (
    <Page
      title="Remote support portal"
      sentence={
        isStaff
          ? 'Enter the code that your customer gives you.'
          : 'Get help on your screen. Keep this window open during a session.'
      }
    >
      <Grid columns="side" tablet="stack" gap="4" align="start">
        <Stack gap="4">
          {isStaff && (
            <>
              <JoinCard />
              <RemoteRequests isElsewhere={false} />
              <JoinedSessions />
            </>
          )}
          <OwnSessions isStaff={isStaff} />
        </Stack>
        {/* On a phone this card is below the others, and rendering it earlier would move it. */}
        {!isOwnOnItsWay && !isJoinedOnItsWay && (
          <Card title={isStaff ? 'How a session goes' : 'During your session'} level="sunken">
            {isStaff ? <Steps steps={STAFF_STEPS} /> : <Advice />}
          </Card>
        )}
      </Grid>
    </Page>
  );
}

/** The newest open session that this technician has joined fills the screen; other open ones are listed below it. */
function Working({ session, hasMore }: { session: JoinedSession; hasMore: boolean }) {
  return (
    <Stack gap="4" className="portal__working">
      <h1 tabIndex={-1} className="visually-hidden">
        Remote support portal
      </h1>

      <Workspace meanwhile={<LoadingRows label="Loading the session" />} key={session.id} session={session} />

      {hasMore && <JoinedSessions />}
    </Stack>
  );
}

function OwnSessions({ isStaff }: { isStaff: boolean }) {
  // Polled, because the session may have been created on another screen.
  const { data: sessions, error, refetch } = useQuery({ ...sessionsQuery, refetchInterval: SESSION_POLL_INTERVAL });
  const [isStarting, setIsStarting] = useState(false);
  const now = useMinute();
  useSessionEvents();
  const open = sessions?.filter(isOpen);
  // Technicians start their own session on the customer's screen.
  if (isStaff && !open?.length) return null;
  return (
    <Stack as="section" gap="3" aria-labelledby="own-session">
      <h2 id="own-session">Your session</h2>
      {error && (
        <ErrorNotice title="Your sessions could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {!open && !error && <LoadingRows label="Loading your session" />}
      {sessions && <OwnSessionFlow sessions={sessions} now={now} onStart={() => setIsStarting(true)} />}
      {isStarting && <NewSessionDialog onClose={() => setIsStarting(false)} offersPortal={false} />}
    </Stack>
  );
}
