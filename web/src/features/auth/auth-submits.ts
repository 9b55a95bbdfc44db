import { COMMON_PASSWORD_ADVICE } from '@palisade/contract/auth';
import { normalPassword } from '@palisade/contract/text';
import { type Config, refreshConfig } from '#api/config.ts';
import type { Session } from '#api/session.ts';
import { type AuthOutcome, askForUsername, createAccount, sendResetInstructions, setNewPassword, signIn } from './auth.ts';
import { type AuthMode, CODE_BY_HAND } from './auth-modes.ts';
import { type AuthMessage, type AuthValues, bad, EMPTY, good } from './auth-state.ts';

/** Hint if emails wait in the outbox of the administrator. */
const OUTBOX_HINT = 'Ask the person who runs this installation for our email to you.';

type Refused = Extract<AuthOutcome<unknown>, { ok: false }>;
type SecondFactor = { [Key in 'challenge' | 'methods']: NonNullable<Refused[Key]> };

/** Next step after submitting a form. */
export type AuthNext =
  | { kind: 'enter'; session: Session }
  | ({ kind: 'second_factor' } & SecondFactor)
  | { kind: 'move'; mode: AuthMode; message: AuthMessage; values: Partial<AuthValues> }
  | { kind: 'tell'; message: AuthMessage }
  | { kind: 'refuse'; outcome: Refused };

const move = (mode: AuthMode, message: AuthMessage, values: Partial<AuthValues> = {}): AuthNext => ({
  kind: 'move',
  mode,
  message,
  values,
});
const refuse = (outcome: Refused): AuthNext => ({ kind: 'refuse', outcome });

/** The last sentence of a message: advice if the new password is common. */
const adviceOf = ({ common_password }: { common_password?: true | undefined }) =>
  common_password ? ` ${COMMON_PASSWORD_ADVICE}` : '';

/** Next step after registering. In public exposure an email with an existing account gets the same reply; only the sent email differs. */
function nextOf(config: Config | undefined): string {
  if (config?.exposure !== 'public') return 'Please login with your credentials.';
  if (config.reset_delivery !== 'outbox') return 'Follow the steps in our email, then login.';
  return config.administrator === 'named_email'
    ? 'Email isn’t set up. Run "palisade outbox" on the server to see your code, then login.'
    : 'Ask the person who runs this installation for our email to you, then login.';
}

async function submitLogin(values: AuthValues): Promise<AuthNext> {
  const outcome = await signIn(values);
  if (outcome.ok) return { kind: 'enter', session: outcome.reply };
  const { challenge, methods } = outcome;
  if (challenge === undefined || methods === undefined) return refuse(outcome);
  return { kind: 'second_factor', challenge, methods };
}

async function submitRegistration(values: AuthValues, config: Config | undefined): Promise<AuthNext> {
  if (normalPassword(values.password) !== normalPassword(values.confirm))
    return { kind: 'tell', message: bad('Passwords do not match') };
  const outcome = await createAccount(values);
  if (!outcome.ok) return refuse(outcome);
  void refreshConfig();
  return move('login', good(`Registration successful! ${nextOf(config)}${adviceOf(outcome.reply)}`), {
    ...EMPTY,
    email: values.email,
  });
}

async function submitForgotten(values: AuthValues, config: Config | undefined): Promise<AuthNext> {
  const outcome = await sendResetInstructions(values);
  if (!outcome.ok) return refuse(outcome);
  const { reset_token, expires_in, detail } = outcome.reply;
  if (detail !== undefined) return move('reset-password', bad(detail), { reset_token: '', new_password: '' });
  if (reset_token === null && config?.reset_delivery === 'outbox')
    return move('reset-password', good(`Request sent successfully. ${CODE_BY_HAND}`), { reset_token: '', new_password: '' });
  const where =
    reset_token === null
      ? 'Check your email for the reset token.'
      : `Your reset token: ${reset_token} (valid for ${Math.round(expires_in / 60)} minutes)`;
  const message = good(`Reset instructions sent successfully. ${where}`);
  return move('reset-password', message, { reset_token: reset_token ?? '', new_password: '' });
}

async function submitReset(values: AuthValues): Promise<AuthNext> {
  const outcome = await setNewPassword(values);
  if (!outcome.ok) return refuse(outcome);
  const cleared = { password: '', reset_token: '', new_password: '' };
  const done = `Password reset successful! You can now login with your new password.${adviceOf(outcome.reply)}`;
  return move('login', good(done), cleared);
}

async function submitRecovery(values: AuthValues, config: Config | undefined): Promise<AuthNext> {
  const outcome = await askForUsername(values);
  if (!outcome.ok) return refuse(outcome);
  const { username, detail } = outcome.reply;
  if (detail !== undefined) return { kind: 'tell', message: bad(detail) };
  if (username === null) {
    const where =
      config?.reset_delivery === 'outbox' ? OUTBOX_HINT : 'If an account uses this email, we’ve sent its username there.';
    return move('login', good(`Username recovery successful! ${where}`));
  }
  return move('login', good(`Username recovery successful! Your username is: ${username}`), { username });
}

const SUBMITS: Record<AuthMode, (values: AuthValues, config: Config | undefined) => Promise<AuthNext>> = {
  login: submitLogin,
  register: submitRegistration,
  'forgot-password': submitForgotten,
  'reset-password': submitReset,
  'recover-username': submitRecovery,
};

/** Sends the form of a mode and returns the next step. Throws errors that are not replies of the server. */
export const submitForm = (mode: AuthMode, values: AuthValues, config: Config | undefined): Promise<AuthNext> =>
  SUBMITS[mode](values, config);
