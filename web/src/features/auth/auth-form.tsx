import { normalPassword } from '@palisade/contract/text';
import {
  type ChangeEvent,
  type FormEvent,
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useId,
  useReducer,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { type Config, refreshConfig } from '#api/config.ts';
import { type Session, type SessionNotice, startSession } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import {
  type AuthField,
  type AuthOutcome,
  askForUsername,
  createAccount,
  sendResetInstructions,
  setNewPassword,
  signIn,
} from './auth.ts';
import { AuthFields } from './auth-fields.tsx';
import { ModeLink } from './auth-mode-link.tsx';
import { AUTH_MODES, type AuthMode, addressWithoutMode, modeOfAddress } from './auth-modes.ts';
import { type AuthMessage, type AuthValues, authReducer, bad, EMPTY, firstState, good } from './auth-state.ts';
import { AuthTabs } from './auth-tabs.tsx';

const TABS: readonly { mode: AuthMode; label: string }[] = [
  { mode: 'login', label: 'Login' },
  { mode: 'register', label: 'Register' },
];

const NOTICES: Record<SessionNotice, string> = {
  session_ended: 'Your session has ended, so you were signed out. Sign in again to go on where you were.',
  signed_out_elsewhere: 'You signed out in another tab.',
  account_deleted: 'Your account is deleted, with everything in it.',
};

/** Addition where mails wait for an administrator. */
const OUTBOX_HINT = 'Mails of this installation wait with its administrator: ask them for it.';

/** Next step after registering. In public exposure an email that has an account already is answered alike: the mail says which it is. */
function nextOf(config: Config | undefined): string {
  if (config?.exposure !== 'public') return 'Please login with your credentials.';
  if (config.reset_delivery !== 'outbox') return 'Check your email for what comes next, then login.';
  return config.administrator === 'named_email'
    ? 'No mail server is set, so your code waits on the server: "npm run outbox" prints it there. Then login.'
    : 'Your mail waits with the administrator: ask them for it, then login.';
}

/** Text of Register and Sign In while there is no administrator. */
const FIRST_ACCOUNT: Record<Config['administrator'], string | undefined> = {
  there: undefined,
  first_account: 'Nobody has an account here yet. The first one becomes the administrator’s: make it yours.',
  first_account_on_machine:
    'Nobody has an account here yet. The first one becomes the administrator’s, so it is made on the machine that the server runs on. To have it made from here, whoever runs the server sets EXPOSURE, PUBLIC_URL and ADMIN_EMAILS, and starts it again.',
  named_email:
    'There is no administrator yet. Register with one of the addresses in ADMIN_EMAILS: a code is written to it, and entering the code after you sign in makes you an administrator.',
};

/** Browsers take passkeys at a page with a name, and not at a bare address (WebAuthn level 3, sections 5.1.3 and 5.1.6). */
const TAKES_PASSKEYS = () => 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/u.test(window.location.hostname);
const OFFERS_PASSKEYS = TAKES_PASSKEYS() && 'isConditionalMediationAvailable' in PublicKeyCredential;

/** Loaded by who is refused alone. */
const RefusedMessage = lazy(async () => ({ default: (await import('./refused-message.tsx')).RefusedMessage }));

/** Long enough to be read: the specification has a message between signing in and being in. */
const MESSAGE_PAUSE = 500;

interface AuthFormProps {
  notice: SessionNotice | undefined;
  config: Config | undefined;
  prepare: () => Promise<unknown>;
}

export function AuthForm({ notice, config, prepare }: AuthFormProps) {
  const [asked] = useState(() => modeOfAddress(window.location.search));
  const [state, dispatch] = useReducer(authReducer, asked, firstState);
  const { mode, values, fieldMessages, message, busy, refusal } = state;
  const [secondStep, setSecondStep] = useState<ReactNode>();
  const form = useRef<HTMLFormElement>(null);
  const withdraw = useRef<() => void>(undefined);
  const panelId = useId();
  const { title, line, submit: submitLabel } = AUTH_MODES[mode];
  const isTab = TABS.some((tab) => tab.mode === mode);
  const refused = refusal?.mode === mode && refusal.email === values.email && refusal;
  const isOutbox = config?.reset_delivery === 'outbox';

  const first = config?.administrator.startsWith('first_account') ?? false;
  // Without an account sign-in is impossible. A person who has begun to type stays in place.
  useEffect(() => {
    if (first) dispatch({ kind: 'first_opened' });
  }, [first]);

  useEffect(() => {
    if (asked !== undefined) window.history.replaceState(window.history.state, '', addressWithoutMode(window.location));
  }, [asked]);

  function change(field: AuthField) {
    return ({ currentTarget: { value } }: ChangeEvent<HTMLInputElement>) => dispatch({ kind: 'typed', field, value });
  }

  function tell(next: AuthMessage) {
    dispatch({ kind: 'told', message: next });
  }

  /** Passkeys are offered from when the email is to be filled in, until another way is taken. */
  function offerPasskeys() {
    if (!OFFERS_PASSKEYS || mode !== 'login' || withdraw.current) return;
    let isOver = false;
    let end = () => {};
    withdraw.current = () => {
      isOver = true;
      end();
    };
    import('./passkey-autofill.ts').then(({ beginAutofill }) => {
      if (isOver) return;
      end = beginAutofill({
        onSignedIn: (session) => void enter(session),
        onRefused(sentence) {
          withdrawOffer();
          tell(bad(sentence));
        },
      });
    }, withdrawOffer);
  }

  function withdrawOffer() {
    withdraw.current?.();
    withdraw.current = undefined;
  }

  useEffect(() => () => withdraw.current?.(), []);

  function changeMode(next: AuthMode) {
    withdrawOffer();
    dispatch({ kind: 'moved', mode: next });
  }

  /** Shows another mode, and gives the focus to the first field that is to be filled in: what had it is gone. */
  function moveTo(next: AuthMode, nextMessage?: AuthMessage, changes: Partial<AuthValues> = {}) {
    withdrawOffer();
    flushSync(() => dispatch({ kind: 'moved', mode: next, message: nextMessage, values: changes }));
    const inputs = [...(form.current?.querySelectorAll('input') ?? [])];
    (inputs.find((input) => input.value === '') ?? inputs[0])?.focus();
  }

  function refuse({ message: sentence, fields, retry_after }: Extract<AuthOutcome<unknown>, { ok: false }>) {
    if (retry_after !== undefined) {
      dispatch({ kind: 'held', refusal: { mode, email: values.email, until: Date.now() + retry_after * 1_000, sentence } });
      // The button that had the focus takes none now.
      form.current?.querySelector('input')?.focus();
      return;
    }
    dispatch({ kind: 'refused', text: sentence, fields });
    const first = Object.keys(fields)[0];
    if (first) form.current?.querySelector<HTMLInputElement>(`[name="${CSS.escape(first)}"]`)?.focus();
  }

  async function enter(session: Session) {
    tell(good('Login successful! Redirecting...'));
    await Promise.all([prepare().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, MESSAGE_PAUSE))]);
    startSession(session);
  }

  async function submitLogin() {
    // Fetched while the server checks the password.
    void prepare().catch(() => undefined);
    const outcome = await signIn(values);
    if (outcome.ok) return enter(outcome.reply);
    const { challenge, methods } = outcome;
    if (challenge === undefined || methods === undefined) return refuse(outcome);
    const { SecondStep } = await import('./second-step.tsx');
    const leave = (sentence?: string) => {
      setSecondStep(undefined);
      moveTo('login', sentence === undefined ? undefined : bad(sentence), { password: '' });
    };
    setSecondStep(<SecondStep challenge={challenge} methods={methods} onSignedIn={enter} onLeave={leave} />);
  }

  async function submitPasskey() {
    withdrawOffer();
    dispatch({ kind: 'tried', by: 'passkey' });
    try {
      void prepare().catch(() => undefined);
      const { signInWithPasskey } = await import('./passkey-sign-in.ts');
      const outcome = await signInWithPasskey();
      if (outcome.ok) return await enter(outcome.answer);
      tell(bad(outcome.message, outcome.origin));
    } catch (error) {
      console.error(error);
      tell(bad('Operation failed'));
    } finally {
      dispatch({ kind: 'ended' });
    }
  }

  async function submitRegistration() {
    if (normalPassword(values.password) !== normalPassword(values.confirm)) return tell(bad('Passwords do not match'));
    const outcome = await createAccount(values);
    if (!outcome.ok) return refuse(outcome);
    const { email } = values;
    moveTo('login', good(`Registration successful! ${nextOf(config)}`), { ...EMPTY, email });
    void refreshConfig();
  }

  async function submitForgotten() {
    const outcome = await sendResetInstructions(values);
    if (!outcome.ok) return refuse(outcome);
    const { reset_token, expires_in, detail } = outcome.reply;
    if (detail !== undefined) return moveTo('reset-password', bad(detail), { reset_token: '', new_password: '' });
    moveTo(
      'reset-password',
      good(
        reset_token === null
          ? 'Reset instructions sent successfully. Check your email for the reset token.'
          : `Reset instructions sent successfully. Your reset token: ${reset_token} (valid for ${Math.round(expires_in / 60)} minutes)`,
      ),
      { reset_token: reset_token ?? '', new_password: '' },
    );
  }

  async function submitReset() {
    const outcome = await setNewPassword(values);
    if (!outcome.ok) return refuse(outcome);
    const cleared = { password: '', reset_token: '', new_password: '' };
    moveTo('login', good('Password reset successful! You can now login with your new password.'), cleared);
  }

  async function submitRecovery() {
    const outcome = await askForUsername(values);
    if (!outcome.ok) return refuse(outcome);
    const { username, detail } = outcome.reply;
    if (detail !== undefined) return tell(bad(detail));
    if (username === null) {
      const where = isOutbox ? OUTBOX_HINT : 'If an account has this email, its username is on its way there.';
      return moveTo('login', good(`Username recovery successful! ${where}`));
    }
    moveTo('login', good(`Username recovery successful! Your username is: ${username}`), { username });
  }

  function endRefusal() {
    dispatch({ kind: 'hold_ended' });
  }

  const SUBMITS: Record<AuthMode, () => Promise<void>> = {
    login: submitLogin,
    register: submitRegistration,
    'forgot-password': submitForgotten,
    'reset-password': submitReset,
    'recover-username': submitRecovery,
  };

  async function submit(event: FormEvent) {
    event.preventDefault();
    withdrawOffer();
    dispatch({ kind: 'tried', by: 'form' });
    try {
      await SUBMITS[mode]();
    } catch (error) {
      console.error(error);
      tell(bad('Operation failed'));
    } finally {
      dispatch({ kind: 'ended' });
    }
  }

  /** The browser's messages are at each field, and not in a bubble at the first. */
  function showWrong(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const wrong = [...event.currentTarget.querySelectorAll<HTMLInputElement>('input:invalid')];
    refuse({ ok: false, message: '', fields: Object.fromEntries(wrong.map((input) => [input.name, input.validationMessage])) });
  }

  if (secondStep) return secondStep;
  return (
    <>
      <header className="auth-form__heading">
        <h1>{title}</h1>
        <p className="sub">{line}</p>
        {mode === 'reset-password' && isOutbox && <p className="sub">{OUTBOX_HINT}</p>}
      </header>
      {notice && <p className="auth-form__notice">{NOTICES[notice]}</p>}
      {isTab && config && FIRST_ACCOUNT[config.administrator] && (
        <p className="auth-form__notice">{FIRST_ACCOUNT[config.administrator]}</p>
      )}
      {isTab && <AuthTabs tabs={TABS} mode={mode} panelId={panelId} onChange={changeMode} />}
      <div id={panelId} {...(isTab && { role: 'tabpanel', 'aria-labelledby': `${panelId}-${mode}` })}>
        <form
          ref={form}
          className="auth-form"
          onSubmit={submit}
          onInvalid={showWrong}
          onFocus={({ target }) => target.getAttribute('name') === 'email' && offerPasskeys()}
        >
          <AuthFields mode={mode} values={values} messages={fieldMessages} onChange={change} />
          {mode === 'login' && (
            <div className="auth-form__links">
              <ModeLink mode="forgot-password" onChoose={moveTo}>
                Forgot Password?
              </ModeLink>
              <ModeLink mode="recover-username" onChoose={moveTo}>
                Forgot Username?
              </ModeLink>
            </div>
          )}
          <div className="auth-form__submit">
            <div role="status" className="auth-form__message" data-tone={refused ? 'bad' : message?.tone}>
              {refused ? (
                <Suspense fallback={refused.sentence}>
                  <RefusedMessage sentence={refused.sentence} until={refused.until} onEnd={endRefusal} />
                </Suspense>
              ) : (
                message?.text
              )}
              {message?.elsewhere && (
                <>
                  {' '}
                  <a href={message.elsewhere}>{message.elsewhere}</a>
                </>
              )}
            </div>
            <Button type="submit" size="l" loading={busy === 'form'} disabled={Boolean(refused)}>
              {submitLabel}
            </Button>
            {mode === 'login' && TAKES_PASSKEYS() && (
              <Button variant="quiet" size="l" loading={busy === 'passkey'} onClick={submitPasskey}>
                Use a passkey
              </Button>
            )}
          </div>
          {!isTab && (
            <div className="auth-form__back">
              <ModeLink mode="login" onChoose={moveTo}>
                Back to Login
              </ModeLink>
            </div>
          )}
        </form>
      </div>
    </>
  );
}
