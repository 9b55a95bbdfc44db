import { shownEmail } from '@palisade/contract/shown-email';
import { IconMail } from '@tabler/icons-react';
import { useState } from 'react';
import { useSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { Row } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmailProofForm } from './email-proof.tsx';
import './email-proof.css';

/** Shown on every page until the person confirms their address: the blocked actions, and the field for the code. */
export function EmailBanner() {
  const email = useSession().session?.user_info.email;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Row as="section" gap="3" rowGap="2" className="email-banner base amber" aria-label="Confirm your email address">
      <IconMail size={20} stroke={1.7} aria-hidden="true" />
      <p className="grow break">
        <Sentence
          text="**Confirm your email address.** Until then two-factor sign-in, plan requests, remote sessions, and emails to {email} are held back."
          parts={{ email: <bdi>{shownEmail(email ?? '')}</bdi> }}
        />
      </p>
      <Button size="s" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Enter the code
      </Button>
      {isOpen && (
        <ModalWindow title="Confirm your email address" onClose={() => setIsOpen(false)}>
          <EmailProofForm onProved={() => setIsOpen(false)} />
        </ModalWindow>
      )}
    </Row>
  );
}
