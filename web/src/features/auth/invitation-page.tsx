import { TextInput } from '@mantine/core';
import { COMMON_PASSWORD_ADVICE, PASSWORD_LENGTH } from '@palisade/contract/auth';
import { acceptInvitation } from '@palisade/contract/invitation';
import { shownEmail } from '@palisade/contract/shown-email';
import { useEffect, useState } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { useConfig } from '#api/config.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { BrandMark } from '#ui/brand.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import './auth-page.css';
import './invitation-page.css';

/** Target of the link in an invitation. The token is in the fragment, which browsers do not send to the server. */
export function InvitationPage() {
  const provider = useConfig()?.provider_name ?? 'Palisade';
  const [token] = useState(() => window.location.hash.slice(1));
  const [values, setValues] = useState({ username: '', password: '' });
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [made, setMade] = useState<{ email: string; common_password?: true | undefined }>();
  const email = made?.email;

  useEffect(() => {
    document.title = `Your invitation · ${provider}`;
  }, [provider]);

  async function submit() {
    setIsBusy(true);
    try {
      setMade(await call(acceptInvitation, { body: { token, ...values } }));
    } catch (refused) {
      setError(refused instanceof Error ? refused : new Error(String(refused)));
    } finally {
      setIsBusy(false);
    }
  }

  const messages = error === undefined ? {} : fieldMessagesOf(error);
  const isSaid = messages['username'] !== undefined || messages['password'] !== undefined;
  return (
    <main className="auth-page__main invitation">
      <div className="auth-page__column">
        <div className="auth-page__brand">
          <BrandMark size={44} />
        </div>
        <header className="auth-form__heading">
          <h1>{email === undefined ? `Join ${provider}` : 'Your account is ready'}</h1>
          <p className="sub">
            {email === undefined
              ? 'Choose a username and a password to create your account.'
              : `Sign in with ${shownEmail(email)} and your new password.`}
            {made?.common_password && ` ${COMMON_PASSWORD_ADVICE}`}
          </p>
        </header>
        {email === undefined ? (
          <Form
            className="auth-form"
            error={error}
            busy={isBusy}
            onSubmit={() => void submit()}
            onEdit={() => setError(undefined)}
          >
            <TextInput
              label="Username"
              name="username"
              autoComplete="nickname"
              size="md"
              required
              withAsterisk={false}
              value={values.username}
              error={messages['username']}
              onChange={(event) => setValues({ ...values, username: event.currentTarget.value })}
            />
            <PasswordField
              label="Password"
              name="password"
              description={`At least ${PASSWORD_LENGTH.minimum} characters. Longer is stronger.`}
              autoComplete="new-password"
              required
              value={values.password}
              error={messages['password']}
              onChange={(event) => setValues({ ...values, password: event.currentTarget.value })}
            />
            <div className="auth-form__submit">
              <div role="status" className="auth-form__message" data-tone="bad">
                {error !== undefined && !isSaid && (messages['token'] ?? sentenceOf(error))}
              </div>
              <Submit size="l">Create Account</Submit>
            </div>
          </Form>
        ) : (
          <a className="button" data-variant="primary" data-size="l" href="/?mode=login">
            <span className="button__label">Sign in</span>
          </a>
        )}
      </div>
    </main>
  );
}
