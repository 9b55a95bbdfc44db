import { SESSION_POLL_INTERVAL } from '@palisade/contract/remote';
import { IconInfoCircle, IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { sentenceOf } from '#api/call.ts';
import { useSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { JoinCard } from './join-card.tsx';
import { JoinedSessions } from './joined-sessions.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { isOpen, sessionsQuery } from './remote.queries.ts';
import { NoSessionBanner, SessionBanner } from './session-banner.tsx';
import './portal-page.css';

/** Where the two sides meet: customers see their open session; technicians join by its code, and see a session of their own while one is open. */
export function PortalPage() {
  const role = useSession().session?.user_info.role;
  const isStaff = role === 'support' || role === 'admin';
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
            ? 'Call the customer, and guide them step by step. You do not see their screen.'
            : 'The technician calls you, and guides you step by step. Nobody sees or controls your screen.'}
        </span>
      </p>
      {isStaff && (
        <>
          <JoinCard />
          <JoinedSessions />
        </>
      )}
      <OwnSessions isStaff={isStaff} />
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
