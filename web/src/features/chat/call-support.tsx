import { isCallable } from '@palisade/contract/contact';
import { IconPhone } from '@tabler/icons-react';
import { useState } from 'react';
import { useConfig } from '#api/config.ts';
import { Button } from '#ui/button.tsx';
import { ButtonLink } from '#ui/button-link.tsx';
import { EmailLink } from '#ui/contact-link.tsx';
import { Sentence } from '#ui/sentence.tsx';

/** Calls support if there is a phone number; otherwise shows other ways to reach it. */
export function CallSupport({ onUnreachable }: { onUnreachable: () => void }) {
  const phone = useConfig()?.support.phone;
  return phone && isCallable(phone) ? (
    <ButtonLink href={`tel:${phone}`} size="s" icon={IconPhone} title={`Call ${phone}`} aria-label="Call support">
      <CallWords />
    </ButtonLink>
  ) : (
    <Button variant="quiet" size="s" icon={IconPhone} title="Call support" aria-label="Call support" onClick={onUnreachable}>
      <CallWords />
    </Button>
  );
}

function CallWords() {
  return (
    <>
      <span className="off-phone">Call support</span>
      <span className="on-phone">Call</span>
    </>
  );
}

/** Alternative to a call, shown when a person wanted to call without a number. */
export function useNoPhoneNotice() {
  const [isShown, setIsShown] = useState(false);
  const email = useConfig()?.support.email;
  return {
    show: () => setIsShown(true),
    notice: (
      <div role="status">
        {isShown && (
          <p className="surface-blue pad-s base">
            {email ? (
              <Sentence
                text="Support has no phone number that you can call from here. Write your message here, or send an email to {email}."
                parts={{ email: <EmailLink email={email} /> }}
              />
            ) : (
              'Support has no phone number that you can call from here. Write your message here: it stays in this chat.'
            )}
          </p>
        )}
      </div>
    ),
  };
}
