import { loginWithPasskey, type PasskeyAssertion, requestPasskeyLogin } from '@palisade/contract/two-factor';
import { browserId } from '#api/browser.ts';
import { call, sentenceOf } from '#api/call.ts';
import { offerPasskeys, withdrawPasskeys } from '#api/passkey.ts';
import type { Session } from '#api/session.ts';

/** The server's question is worth something for five minutes; a new one is asked before, in ms. */
const RENEW_AFTER = 240_000;

interface Listener {
  onSignedIn: (session: Session) => void;
  onRefused: (sentence: string) => void;
}

/** Has the browser offer to sign in with a passkey, until the answered function is called. Where it cannot, nothing is said: there are the other ways. */
export function beginAutofill({ onSignedIn, onRefused }: Listener): () => void {
  let isOver = false;
  let withdraw = () => {};

  async function offer(): Promise<void> {
    const request = await call(requestPasskeyLogin);
    if (isOver) return;
    let isOld = false;
    const renewal = setTimeout(() => {
      isOld = true;
      withdrawPasskeys();
    }, RENEW_AFTER);
    withdraw = () => {
      clearTimeout(renewal);
      withdrawPasskeys();
    };
    const outcome = await offerPasskeys(request);
    clearTimeout(renewal);
    withdraw = () => {};
    if (isOver) return;
    if (outcome.ok) await signIn(outcome.answer);
    else if (isOld) await offer();
  }

  async function signIn(passkey: PasskeyAssertion): Promise<void> {
    try {
      onSignedIn(await call(loginWithPasskey, { body: { passkey, browser_id: browserId() } }));
    } catch (error) {
      onRefused(sentenceOf(error));
    }
  }

  offer().catch((error: unknown) => console.error(error));
  return () => {
    isOver = true;
    withdraw();
  };
}
