import type { RemoteSession } from '@palisade/contract/remote';
import { lazy, Suspense } from 'react';
import { LoadingRows } from '#ui/states.tsx';
import { isOpen } from './remote.queries.ts';
import { SessionBanner } from './session-banner.tsx';

/** The code for sharing a screen is loaded once somebody asks to see it. */
const OpenSession = lazy(async () => ({ default: (await import('./open-session.tsx')).OpenSession }));
const EndedCard = lazy(async () => ({ default: (await import('./ended-card.tsx')).EndedCard }));

/** Time for which a finished session stays in its place, in ms: that is when its customer knows best how it was. */
const FRESH = 10 * 60_000;

/** An own session that is open: its code until somebody asks, then everything else. */
export function OwnSession({ session }: { session: RemoteSession }) {
  if (session.phase === 'waiting') return <SessionBanner session={session} />;
  return (
    <Suspense fallback={<LoadingRows label="Loading your session" />}>
      <OpenSession session={session} />
    </Suspense>
  );
}

/** The session that has just ended, where somebody had joined it and none is open. */
export function JustEnded({ sessions, now }: { sessions: readonly RemoteSession[]; now: number }) {
  const [newest] = sessions;
  if (!newest || sessions.some(isOpen) || newest.support_agent === null || newest.ended_at === null) return null;
  if (now - Date.parse(newest.ended_at) > FRESH) return null;
  return (
    <Suspense fallback={null}>
      <EndedCard key={newest.id} session={newest} />
    </Suspense>
  );
}
