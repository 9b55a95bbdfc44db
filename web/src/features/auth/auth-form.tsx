import { useId, useRef } from 'react';
import type { Config } from '#api/config.ts';
import type { SessionNotice } from '#api/session.ts';
import { Button } from '#ui/button.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { AuthFields } from './auth-fields.tsx';
import { ModeLink } from './auth-mode-link.tsx';
import { AUTH_MODES, type AuthMode, lineOf } from './auth-modes.ts';
import type { AuthMessage, Refusal } from './auth-state.ts';
import { AuthTabs } from './auth-tabs.tsx';
import { useAuthForm } from './use-auth-form.tsx';
import { takesPasskeys } from './use-passkey-offer.ts';

const TABS: readonly { mode: AuthMode; label: string }[] = [
  { mode: 'login', label: 'Login' },
  { mode: 'register', label: 'Register' },
];

const NOTICES: Record<SessionNotice, string> = {
  session_ended: 'Your session ended. Sign in again to continue.',
  signed_out_elsewhere: 'You signed out in another tab.',
  account_deleted: 'Your account and all its data are deleted.',
};

/** Loaded until an administrator exists. */
const FirstAccount = lazyPart(async () => (await import('./first-account.tsx')).FirstAccount);
/** Loaded when an attempt is refused. */
const RefusedMessage = lazyPart(async () => (await import('./refused-message.tsx')).RefusedMessage);
/** Loaded when passkeys need another address. */
const PasskeysElsewhere = lazyPart(async () => (await import('#ui/passkeys-elsewhere.tsx')).PasskeysElsewhere);

interface AuthFormProps {
  notice: SessionNotice | undefined;
  config: Config | undefined;
  prepare: () => Promise<unknown>;
}

export function AuthForm({ notice, config, prepare }: AuthFormProps) {
  const form = useRef<HTMLFormElement>(null);
  const panelId = useId();
  const { state, secondStep, dispatch, changeMode, moveTo, submit, submitPasskey, offerPasskeys } = useAuthForm({
    config,
    prepare,
    form,
  });
  const { mode, values, fieldMessages, message, busy, refusal } = state;
  const isTab = TABS.some((tab) => tab.mode === mode);
  const refused = refusal?.mode === mode && refusal.email === values.email ? refusal : undefined;

  if (secondStep) return secondStep;
  return (
    <>
      <Heading mode={mode} isTab={isTab} config={config} notice={notice} />
      {isTab && <AuthTabs tabs={TABS} mode={mode} panelId={panelId} onChange={changeMode} />}
      <div id={panelId} {...(isTab && { role: 'tabpanel', 'aria-labelledby': `${panelId}-${mode}` })}>
        <form
          ref={form}
          className="auth-form"
          noValidate
          onSubmit={submit}
          onFocus={({ target }) => mode === 'login' && target.getAttribute('name') === 'email' && offerPasskeys()}
        >
          <AuthFields
            mode={mode}
            values={values}
            messages={fieldMessages}
            onChange={(field) =>
              ({ currentTarget }) =>
                dispatch({ kind: 'typed', field, value: currentTarget.value })
              }
          />
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
            <Answer message={message} refusal={refused} onEnd={() => dispatch({ kind: 'hold_ended' })} />
            <Button type="submit" size="l" loading={busy === 'form'} disabled={Boolean(refused)}>
              {AUTH_MODES[mode].submit}
            </Button>
            {mode === 'login' && takesPasskeys() && (
              <Button variant="quiet" size="l" loading={busy === 'passkey'} onClick={submitPasskey}>
                Use a passkey
              </Button>
            )}
          </div>
          {!isTab && (
            <div className="auth-form__links">
              {mode === 'forgot-password' && (
                <ModeLink mode="reset-password" onChoose={moveTo}>
                  I have a code
                </ModeLink>
              )}
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

interface HeadingProps {
  mode: AuthMode;
  isTab: boolean;
  config: Config | undefined;
  notice: SessionNotice | undefined;
}

function Heading({ mode, isTab, config, notice }: HeadingProps) {
  const administrator = config?.administrator ?? 'there';
  return (
    <>
      <header className="auth-form__heading">
        <h1>{AUTH_MODES[mode].title}</h1>
        <p className="sub">{lineOf(mode, config)}</p>
      </header>
      {notice && <p className="auth-form__notice">{NOTICES[notice]}</p>}
      {isTab && administrator !== 'there' && administrator !== 'first_account' && <FirstAccount administrator={administrator} />}
    </>
  );
}

interface AnswerProps {
  message: AuthMessage | undefined;
  refusal: Refusal | undefined;
  /** Called when the time of the refusal is over. */
  onEnd: () => void;
}

/** Message of the form, above its button. */
function Answer({ message, refusal, onEnd }: AnswerProps) {
  return (
    <div role="status" className="auth-form__message" data-tone={refusal ? 'bad' : message?.tone}>
      {refusal ? (
        <RefusedMessage meanwhile={refusal.sentence} sentence={refusal.sentence} until={refusal.until} onEnd={onEnd} />
      ) : message?.elsewhere ? (
        <PasskeysElsewhere origin={message.elsewhere} meanwhile={message.text} />
      ) : (
        message?.text
      )}
    </div>
  );
}
