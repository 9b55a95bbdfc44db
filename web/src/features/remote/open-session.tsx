import type { RemoteSession } from '@palisade/contract/remote';
import { useEffect } from 'react';
import { AskingCard } from './asking-card.tsx';
import { SessionBanner } from './session-banner.tsx';
import { SessionPanel } from './session-panel.tsx';
import { attend } from './sharing.ts';

/** The customer's side of a session that somebody has joined. */
export function OpenSession({ session }: { session: RemoteSession }) {
  useEffect(() => attend(session), [session]);
  if (session.phase === 'claimed') return <AskingCard session={session} />;
  return (
    <>
      <SessionBanner session={session} />
      <SessionPanel session={session} />
    </>
  );
}
