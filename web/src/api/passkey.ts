import type { NewPasskey, PasskeyAssertion, PasskeyCreation, PasskeyRequest } from '@palisade/contract/two-factor';
import {
  type AuthenticationResponseJSON,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
} from '@simplewebauthn/browser';

/** Result of the browser's prompt. Cancelling is an expected result. `origin` is the address at which passkeys work, if it is not this one. */
export type PasskeyOutcome<Answer> = { ok: true; answer: Answer } | { ok: false; message: string; origin?: string };

/** The sentence for a browser's refusal (WebAuthn level 3, sections 5.1.3 and 5.1.4). */
function sentenceFor(error: unknown): string | undefined {
  if (error instanceof WebAuthnError && error.code === 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED')
    return 'This device already has a passkey for your account.';
  if (!(error instanceof Error)) return undefined;
  if (error.name === 'NotAllowedError') return 'The passkey was cancelled or took too long. Try again.';
  if (error.name === 'AbortError') return 'Your passkey didn’t work. Try again.';
  return error instanceof WebAuthnError || error.name === 'NotSupportedError' || error.name === 'SecurityError'
    ? 'This device can’t use a passkey here. Try another device.'
    : undefined;
}

async function ask<Answer>(origin: string, work: () => Promise<Answer>): Promise<PasskeyOutcome<Answer>> {
  if (origin !== window.location.origin) return { ok: false, message: 'Passkeys don’t work at this address.', origin };
  if (!('PublicKeyCredential' in window))
    return { ok: false, message: 'This browser doesn’t support passkeys. Sign in another way.' };
  try {
    return { ok: true, answer: await work() };
  } catch (error) {
    const message = sentenceFor(error);
    if (message === undefined) throw error;
    return { ok: false, message };
  }
}

function assertionOf({ id, rawId, type, response }: AuthenticationResponseJSON): PasskeyAssertion {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  return { id, rawId, type, response: { clientDataJSON, authenticatorData, signature, userHandle } };
}

/** Asks the person to sign in with a passkey. */
export function askForPasskey({ origin, ...request }: PasskeyRequest): Promise<PasskeyOutcome<PasskeyAssertion>> {
  return ask(origin, async () => assertionOf(await startAuthentication({ optionsJSON: request })));
}

/** Lets the browser offer passkeys as autofill in a field whose `autocomplete` ends with `webauthn`. May stay pending for ever. */
export async function offerPasskeys({ origin, ...request }: PasskeyRequest): Promise<PasskeyOutcome<PasskeyAssertion>> {
  if (!(await browserSupportsWebAuthnAutofill())) return { ok: false, message: 'This browser doesn’t support passkeys.' };
  return await ask(origin, async () =>
    assertionOf(await startAuthentication({ optionsJSON: request, useBrowserAutofill: true })),
  );
}

/** Cancels `offerPasskeys`. */
export function withdrawPasskeys(): void {
  WebAuthnAbortService.cancelCeremony();
}

/** Asks the person's device to create a passkey. */
export function makePasskey({ origin, ...request }: PasskeyCreation): Promise<PasskeyOutcome<NewPasskey>> {
  return ask(origin, async () => {
    const { id, rawId, type, response } = await startRegistration({ optionsJSON: request });
    const { clientDataJSON, attestationObject, transports } = response;
    return { id, rawId, type, response: { clientDataJSON, attestationObject, transports } };
  });
}
