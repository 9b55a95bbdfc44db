import { IconShieldLock } from '@tabler/icons-react';
import { useSupportLinks } from '#api/support-links.ts';
import { Button } from '#ui/button.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { FraudWords } from './fraud-words.tsx';
import { useCreateSession } from './remote.queries.ts';
import './new-session-dialog.css';

interface NewSessionDialogProps {
  onClose: () => void;
  /** Also opens the portal; on the portal itself there is no need to. */
  opensPortal: boolean;
}

export function NewSessionDialog({ onClose, opensPortal }: NewSessionDialogProps) {
  const create = useCreateSession();
  const isUnproven = useIsUnproven();
  const { remote_portal } = useSupportLinks();
  const portal = new URL(remote_portal, window.location.href).href;

  function start() {
    // At once, and not when the answer is there: a browser blocks windows that no press opens.
    if (opensPortal) window.open(portal, '_blank', 'noopener');
    create.mutate(undefined, {
      onError: () => window.alert(`The remote session could not be created. Please visit the portal to get help: ${portal}`),
      onSettled: onClose,
    });
  }

  return (
    <ModalWindow title="New Session" onClose={onClose}>
      <FraudWords />
      <div className="security-notice">
        <IconShieldLock size={22} stroke={1.7} aria-hidden="true" />
        <div>
          <h3>Security notice</h3>
          <p>
            Share codes only with trusted support technicians: someone whom you called yourself. Never with somebody who called
            you.
          </p>
        </div>
      </div>
      <p className="sub">
        You get a code that is valid for 30 minutes and for one technician. A code that still waits is cancelled.
        {opensPortal && ' The remote-support portal opens in a new window.'}
      </p>
      <EmailNeeded what="You can create a session" />
      <div className="modal-window__actions">
        <Button variant="quiet" onClick={onClose}>
          Not now
        </Button>
        <Button loading={create.isPending} disabled={isUnproven} onClick={start}>
          Create Session
        </Button>
      </div>
    </ModalWindow>
  );
}
