import { IconShieldLock } from '@tabler/icons-react';
import { useState } from 'react';
import { useSupportLinks } from '#api/support-links.ts';
import { Button } from '#ui/button.tsx';
import { EmailNeeded, useIsUnproven } from '#ui/email-needed.tsx';
import { Grid } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Toggle } from '#ui/toggle.tsx';
import { FraudWords } from './fraud-words.tsx';
import { useCreateSession } from './remote.queries.ts';

interface NewSessionDialogProps {
  onClose: () => void;
  /** Whether to offer the portal in its own window. False on the portal itself. */
  offersPortal: boolean;
}

export function NewSessionDialog({ onClose, offersPortal }: NewSessionDialogProps) {
  const create = useCreateSession();
  const isUnproven = useIsUnproven();
  const { remote_portal } = useSupportLinks();
  const portal = new URL(remote_portal, window.location.href);
  // The default is the provider's own portal, because its technicians work there; otherwise sessions run on this page.
  const [choice, setChoice] = useState<boolean>();
  const isPortalWanted = choice ?? portal.origin !== window.location.origin;

  function start() {
    const opened = offersPortal && isPortalWanted;
    // Opened before the reply, because browsers block windows that do not follow a press directly.
    if (opened) window.open(portal.href, '_blank', 'noopener');
    create.mutate(undefined, {
      onError() {
        if (offersPortal && !opened) window.open(portal.href, '_blank', 'noopener');
        window.alert(`The remote session could not be created. Please visit the portal to get help: ${portal.href}`);
      },
      onSettled: onClose,
    });
  }

  return (
    <ModalWindow title="New Session" onClose={onClose}>
      <FraudWords />
      <Grid columns="lead" gap="3" className="surface-amber pad-m base">
        <IconShieldLock className="amber" size={22} stroke={1.7} aria-hidden="true" />
        <div>
          <h3 className="base bold amber">Security notice</h3>
          <p>
            Share codes only with trusted support technicians: someone you contacted yourself, in Support Chat or on a number you
            know.
          </p>
        </div>
      </Grid>
      <p className="sub">Your code lasts 30 minutes, works for one technician, and replaces any unused code.</p>
      {offersPortal && <Toggle wide label="Also open the portal in a new window" isOn={isPortalWanted} onChange={setChoice} />}
      <EmailNeeded sentence="You can create a session after you confirm your email address." />
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
