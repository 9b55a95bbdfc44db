import type { RemoteSession } from '@palisade/contract/remote';
import { IconListDetails } from '@tabler/icons-react';
import { lazy, Suspense, useId, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { RateAndReport } from './after-session.tsx';
import { ChangedDevices } from './changed-devices.tsx';
import { ownEndReason } from './session-badge.tsx';
import { SessionFileList } from './session-files.tsx';

const SessionDialog = lazy(async () => ({ default: (await import('./session-dialog.tsx')).SessionDialog }));

/** Asked while the customer still knows how it was. */
export function EndedCard({ session }: { session: RemoteSession }) {
  const [isOpen, setIsOpen] = useState(false);
  const changed = useId();
  return (
    <Card
      title={`Your session with ${session.support_agent} is over`}
      action={
        <Button
          variant="quiet"
          size="s"
          icon={<IconListDetails size={16} stroke={1.7} aria-hidden="true" />}
          aria-haspopup="dialog"
          onClick={() => setIsOpen(true)}
        >
          What was recorded
        </Button>
      }
    >
      <p className="sub">
        {session.end_reason === null ? 'It is done.' : `${ownEndReason(session.end_reason)}.`} Nobody sees anything of your screen
        any more. Anything strange, now or later: report it.
      </p>
      {session.approved_at !== null && (
        <section className="ended-card__changed" aria-labelledby={changed}>
          <h3 id={changed}>What changed on your device</h3>
          <ChangedDevices session={session} />
        </section>
      )}
      <SessionFileList session_id={session.id} side="customer" />
      <div className="ended-card__below">
        <RateAndReport session={session} />
      </div>
      {isOpen && (
        <Suspense>
          <SessionDialog session={session} onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </Card>
  );
}
