import type { RemoteSession } from '@palisade/contract/remote';
import { IconListDetails, IconX } from '@tabler/icons-react';
import { useId, useState } from 'react';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Row } from '#ui/layout.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { RateAndReport } from './after-session.tsx';
import { ChangedDevices } from './changed-devices.tsx';
import { ownEndReason } from './session-badge.tsx';
import { SessionFileList } from './session-files.tsx';

const SessionDialog = lazyPart(async () => (await import('./session-dialog.tsx')).SessionDialog);

/** Asks for a rating right after the session, until the customer dismisses it. */
export function EndedCard({ session, onDismiss }: { session: RemoteSession; onDismiss: () => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const changed = useId();
  const wasApproved = session.approved_at !== null;
  return (
    <Card
      title={wasApproved ? `Your session with ${session.support_agent} is over` : `${session.support_agent} wasn’t let in`}
      action={
        <Row gap="2" rowGap="1" justify="end">
          <Button variant="quiet" size="s" icon={IconListDetails} aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
            What was recorded
          </Button>
          <Button
            variant="text"
            size="s"
            icon={IconX}
            stroke={2}
            onClick={() => {
              onDismiss();
              document.querySelector('h1')?.focus();
            }}
          >
            Dismiss
          </Button>
        </Row>
      }
    >
      <p className="sub">
        {session.end_reason !== null && `${ownEndReason(session.end_reason)}. `}
        {wasApproved ? 'Screen sharing has stopped. ' : 'They saw nothing of your device. '}
        Report anything suspicious.
      </p>
      {wasApproved && (
        <section className="above-4" aria-labelledby={changed}>
          <h3 id={changed} className="base below-2">
            What changed on your device
          </h3>
          <ChangedDevices session={session} />
        </section>
      )}
      <SessionFileList session_id={session.id} side="customer" />
      <div className="above-4">
        <RateAndReport session={session} />
      </div>
      {isOpen && <SessionDialog session={session} onClose={() => setIsOpen(false)} />}
    </Card>
  );
}
