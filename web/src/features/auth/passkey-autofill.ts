import { loginWithPasskey, type PasskeyAssertion, requestPasskeyLogin } from '@palisade/contract/two-factor';
import { browserId } from '#api/browser.ts';
import { call, sentenceOf } from '#api/call.ts';
import { offerPasskeys, withdrawPasskeys } from '#api/passkey.ts';
import type { Session } from '#api/session.ts';

/** Age at which the challenge is renewed, in ms. The server accepts it for five minutes. */
const RENEW_AFTER = 240_000;

interface Listener {
  onSignedIn: (session: Session) => void;
  onRefused: (sentence: string) => void;
}

/** Lets the browser offer passkeys in the email field, until the returned function is called. Fails silently, because other ways to sign in exist. */
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
