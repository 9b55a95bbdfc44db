import type { RemoteSession } from '@palisade/contract/remote';
import { useState } from 'react';
import { keepDraft, readDraft } from '#api/drafts.ts';
import { lazyPart } from '#ui/lazy-part.tsx';
import { LoadingRows } from '#ui/states.tsx';
import { isOpen } from './remote.queries.ts';
import { NoSessionBanner, SessionBanner } from './session-banner.tsx';
import { SessionStepper, stepOf } from './session-stepper.tsx';

/** The code for sharing a screen is loaded once somebody asks to see it. */
const OpenSession = lazyPart(async () => (await import('./open-session.tsx')).OpenSession);
const EndedCard = lazyPart(async () => (await import('./ended-card.tsx')).EndedCard);

/** Time for which a finished session stays in its place, in ms: that is when its customer knows best how it was. */
const FRESH = 10 * 60_000;

/** An own session that is open: its code until somebody asks, then everything else. */
function OwnSession({ session }: { session: RemoteSession }) {
  if (session.phase === 'waiting') return <SessionBanner session={session} />;
  return <OpenSession meanwhile={<LoadingRows label="Loading your session" />} session={session} />;
}

/** Where the dismissed card of an ended session is kept, for this person in this browser. */
const DISMISSED = 'remote.dismissed';

/** The session that has just ended, where somebody had joined it and none is open. */
function justEnded(sessions: readonly RemoteSession[], now: number): RemoteSession | undefined {
  const [newest] = sessions;
  if (!newest || sessions.some(isOpen) || newest.support_agent === null || newest.ended_at === null) return undefined;
  return now - Date.parse(newest.ended_at) > FRESH ? undefined : newest;
}

/** Own sessions as one flow of steps: the open one, or how the last one went, or that nobody can join. */
export function OwnSessionFlow({ sessions, now }: { sessions: readonly RemoteSession[]; now: number }) {
  const [dismissed, setDismissed] = useState(() => readDraft(DISMISSED));
  const open = sessions.filter(isOpen);
  const newest = justEnded(sessions, now);
  const ended = newest?.id === dismissed ? undefined : newest;
  function dismiss({ id }: RemoteSession) {
    keepDraft(DISMISSED, id);
    setDismissed(id);
  }
  return (
    <SessionStepper step={stepOf(open[0], ended !== undefined)} hasCode={open.length > 0}>
      {open.map((session) => (
        <OwnSession key={session.id} session={session} />
      ))}
      {ended && <EndedCard key={ended.id} session={ended} onDismiss={() => dismiss(ended)} />}
      {open.length === 0 && <NoSessionBanner />}
    </SessionStepper>
  );
}
