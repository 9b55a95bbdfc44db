import { forgotPassword, login, logout, recoverUsername, register, resetPassword } from '@palisade/contract/auth';
import type { SecondFactor } from '@palisade/contract/problem';
import { browserId } from '#api/browser.ts';
import { CallError, call } from '#api/call.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import type { Session } from '#api/session.ts';
import { endSession } from '#api/session.ts';

export type AuthField = 'email' | 'username' | 'password' | 'confirm' | 'reset_token' | 'new_password';

/** One sentence for each field that the server refused. */
export type FieldMessages = { [Field in AuthField]?: string | undefined };

/** A refusal is an expected result of these forms, so it is returned and not thrown. */
export type AuthOutcome<Reply> = { ok: true; reply: Reply } | Refused;

interface Refused {
  ok: false;
  message: string;
  fields: FieldMessages;
  /** Challenge of the second step, after a correct password. */
  challenge?: string | undefined;
  methods?: SecondFactor[] | undefined;
  /** In seconds. */
  retry_after?: number | undefined;
}

/** Time that signing out waits for the server, in ms. */
const SIGN_OUT_PATIENCE = 3_000;

async function outcomeOf<Reply>(fallback: string, attempt: Promise<Reply>): Promise<AuthOutcome<Reply>> {
  try {
    return { ok: true, reply: await attempt };
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.kind === 'network') return { ok: false, message: error.sentence, fields: {} };
    const { detail, challenge, methods } = error.problem ?? {};
    return {
      ok: false,
      message: detail || fallback,
      fields: fieldMessagesOf(error),
      challenge,
      methods,
      retry_after: error.retry_after,
    };
  }
}

export function signIn({ email, password }: { email: string; password: string }): Promise<AuthOutcome<Session>> {
  return outcomeOf('Login failed', call(login, { body: { email, password, browser_id: browserId() } }));
}

export function createAccount({ email, username, password }: { email: string; username: string; password: string }) {
  return outcomeOf('Registration failed', call(register, { body: { email, username, password } }));
}

export function sendResetInstructions({ email }: { email: string }) {
  return outcomeOf('Failed to send reset instructions', call(forgotPassword, { body: { email } }));
}

export function setNewPassword({ reset_token, new_password }: { reset_token: string; new_password: string }) {
  return outcomeOf('Failed to reset password', call(resetPassword, { body: { reset_token, new_password } }));
}

export function askForUsername({ email }: { email: string }) {
  return outcomeOf('Failed to recover username', call(recoverUsername, { body: { email } }));
}

/** Ends the session on the server if it replies in time, and in this browser in any case. Reloads the page. */
export async function signOut(reload: () => void = () => window.location.reload()): Promise<void> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), SIGN_OUT_PATIENCE);
  try {
    await call(logout, { signal: patience.signal });
  } catch {
    // The server keeps the session until it expires; this browser forgets the token now.
  } finally {
    clearTimeout(timer);
  }
  endSession();
  reload();
}
