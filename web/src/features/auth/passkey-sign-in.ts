import { loginWithPasskey, requestPasskeyLogin } from '@palisade/contract/two-factor';
import { browserId } from '#api/browser.ts';
import { CallError, call } from '#api/call.ts';
import { askForPasskey, type PasskeyOutcome } from '#api/passkey.ts';
import type { Session } from '#api/session.ts';

/** Signs in with a passkey that the person chooses in the browser. */
export async function signInWithPasskey(): Promise<PasskeyOutcome<Session>> {
  try {
    const asked = await askForPasskey(await call(requestPasskeyLogin));
    if (!asked.ok) return asked;
    return { ok: true, answer: await call(loginWithPasskey, { body: { passkey: asked.answer, browser_id: browserId() } }) };
  } catch (error) {
    if (error instanceof CallError) return { ok: false, message: error.sentence };
    throw error;
  }
}
