import type { RemoteSession } from '@palisade/contract/remote';
import { useEffect, useRef } from 'react';
import { AskingCard } from './asking-card.tsx';
import { SessionBanner } from './session-banner.tsx';
import { SessionPanel } from './session-panel.tsx';
import { attend } from './sharing.ts';

/** The customer's side of a session that a technician has joined. */
export function OpenSession({ session }: { session: RemoteSession }) {
  const { phase } = session;
  useEffect(() => attend(session), [session]);
  const wasAsked = useRef(false);
  // The Approve button is far below the banner with the technician's name and the End button, so the focus moves up.
  useEffect(() => {
    if (phase !== 'claimed' && wasAsked.current) document.querySelector<HTMLElement>('.banner h2')?.focus();
    wasAsked.current = phase === 'claimed';
  }, [phase]);
  if (phase === 'claimed') return <AskingCard session={session} />;
  return (
    <>
      <SessionBanner session={session} />
      <SessionPanel session={session} />
    </>
  );
}
