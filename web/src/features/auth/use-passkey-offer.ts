import { useEffect, useRef } from 'react';
import type { Session } from '#api/session.ts';

/** Browsers allow passkeys on domain names and not on IP addresses (WebAuthn level 3, sections 5.1.3 and 5.1.6). */
export const takesPasskeys = () => 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/u.test(window.location.hostname);
const OFFERS_PASSKEYS = takesPasskeys() && 'isConditionalMediationAvailable' in PublicKeyCredential;

interface Answers {
  onSignedIn: (session: Session) => void;
  onRefused: (sentence: string) => void;
}

/** Passkey autofill in the email field, from `offer` until `withdraw` or unmount. */
export function usePasskeyOffer({ onSignedIn, onRefused }: Answers) {
  const end = useRef<() => void>(undefined);

  function withdraw() {
    end.current?.();
    end.current = undefined;
  }

  function offer() {
    if (!OFFERS_PASSKEYS || end.current) return;
    let isOver = false;
    let endAutofill = () => {};
    end.current = () => {
      isOver = true;
      endAutofill();
    };
    import('./passkey-autofill.ts').then(({ beginAutofill }) => {
      if (isOver) return;
      endAutofill = beginAutofill({
        onSignedIn,
        onRefused(sentence) {
          withdraw();
          onRefused(sentence);
        },
      });
    }, withdraw);
  }

  useEffect(() => () => end.current?.(), []);
  return { offer, withdraw };
}
