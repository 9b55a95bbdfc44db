import { SESSION_POLL_INTERVAL } from '@palisade/contract/remote';
import { IconInfoCircle, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { useIsStaff } from '#api/policies.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { JoinCard } from './join-card.tsx';
import { JoinedSessions } from './joined-sessions.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { isOpen, sessionsQuery } from './remote.queries.ts';
import { NoSessionBanner, SessionBanner } from './session-banner.tsx';
import { type Step, Steps } from './steps.tsx';
import './remote-page.css';
import './portal-page.css';

const STAFF_STEPS: readonly Step[] = [
  { title: 'They call you', sentence: 'Never call first, and never ask for a password, a card number or a code of a sign-in.' },
  { title: 'They read you the code', sentence: 'It has nine letters and digits, and is valid for 30 minutes. Enter it here.' },
  { title: 'They see your name', sentence: 'Ask them to read it to you, so that they know that it is you.' },
  { title: 'Guide them', sentence: 'One step at a time. They press; you do not see their screen.' },
  { title: 'Complete the session', sentence: 'Press Complete when you have finished. They can end it at any time.' },
];

const CUSTOMER_STEPS: readonly Step[] = [
  { title: 'Check the name', sentence: 'It is shown here as soon as a technician has joined. Ask them to say it to you.' },
  { title: 'Do only what you understand', sentence: 'You press, nobody else does. Ask as often as you like.' },
  { title: 'Keep your secrets', sentence: 'Nobody from support asks for a password, a card number or a code of a sign-in.' },
  { title: 'End it whenever you want', sentence: 'Press End session, or hang up. The code is worth nothing afterwards.' },
];

/** Where the two sides meet: customers see their open session; technicians join by its code, and see a session of their own while one is open. */
export function PortalPage() {
  const isStaff = useIsStaff();
  return (
    <Page
      title="Remote support portal"
      sentence={
        isStaff
          ? 'Join a customer’s session with the code that they read to you.'
          : 'Your session, while a technician helps you. Keep this window open.'
      }
    >
      <p className="portal__notice">
        <IconInfoCircle size={20} stroke={1.7} aria-hidden="true" />
        <span>
          <b>Screen sharing is not part of this version.</b>{' '}
          {isStaff
            ? 'Guide the customer on the phone, step by step. You do not see their screen.'
            : 'Stay on the phone: the technician guides you step by step. Nobody sees or controls your screen.'}
        </span>
      </p>
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
        <Card title={isStaff ? 'How a session goes' : 'While you are helped'}>
          <Steps steps={isStaff ? STAFF_STEPS : CUSTOMER_STEPS} />
        </Card>
      </div>
    </Page>
  );
}

function OwnSessions({ isStaff }: { isStaff: boolean }) {
  // Read all the time, because the session may have been created on another screen.
  const { data: sessions, error, refetch } = useQuery({ ...sessionsQuery, refetchInterval: SESSION_POLL_INTERVAL });
  const [isStarting, setIsStarting] = useState(false);
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
        <SessionBanner key={session.id} session={session} />
      ))}
      {open?.length === 0 && <NoSessionBanner />}
      {isStarting && <NewSessionDialog onClose={() => setIsStarting(false)} opensPortal={false} />}
    </section>
  );
}
