import type { RemoteSession } from '@palisade/contract/remote';
import { useState } from 'react';
import { keepDraft, readDraft } from '#api/drafts.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { isOpen } from './remote.queries.ts';
import { NoSessionBanner, SessionBanner } from './session-banner.tsx';
import { SessionStepper } from './session-stepper.tsx';

/** Loaded when a technician has joined, because most visits do not need the code of screen sharing. */
const OpenSession = lazyPart(async () => (await import('./open-session.tsx')).OpenSession);
const EndedCard = lazyPart(async () => (await import('./ended-card.tsx')).EndedCard);

/** Time for which an ended session stays on the page, in ms, because the customer rates it best right after it. */
const FRESH = 10 * 60_000;

/** The person's open session: its code until a technician joins, then the full view. */
function OwnSession({ session }: { session: RemoteSession }) {
  if (session.phase === 'waiting') return <SessionBanner session={session} />;
  return <OpenSession meanwhile={<LoadingRows label="Loading your session" />} session={session} />;
}

/** Storage key of the dismissed card of an ended session, for this person in this browser. */
const DISMISSED = 'remote.dismissed';

/** The session that has just ended, if a technician had joined it and no other is open. */
function justEnded(sessions: readonly RemoteSession[], now: number): RemoteSession | undefined {
  const [newest] = sessions;
  if (!newest || sessions.some(isOpen) || newest.support_agent === null || newest.ended_at === null) return undefined;
  return now - Date.parse(newest.ended_at) > FRESH ? undefined : newest;
}

interface OwnSessionFlowProps {
  sessions: readonly RemoteSession[];
  now: number;
  /** Opens the dialog of a new session. */
  onStart: () => void;
}

/** The open session with its steps; otherwise the result of the last one, and a note that no technician can join. */
export function OwnSessionFlow({ sessions, now, onStart }: OwnSessionFlowProps) {
  const [dismissed, setDismissed] = useState(() => readDraft(DISMISSED));
  const open = sessions.filter(isOpen);
  const newest = justEnded(sessions, now);
  const ended = newest?.id === dismissed ? undefined : newest;
  function dismiss({ id }: RemoteSession) {
    keepDraft(DISMISSED, id);
    setDismissed(id);
  }
  const [latest] = open;
  if (latest)
    return (
      <SessionStepper session={latest}>
        {open.map((session) => (
          <OwnSession key={session.id} session={session} />
        ))}
      </SessionStepper>
    );
  return (
    <>
      {ended && <EndedCard key={ended.id} session={ended} onDismiss={() => dismiss(ended)} />}
      <NoSessionBanner onStart={onStart} />
    </>
  );
}
