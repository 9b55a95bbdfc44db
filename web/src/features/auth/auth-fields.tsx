import { TextInput } from '@mantine/core';
import { PASSWORD_LENGTH } from '@palisade/contract/auth';
import type { ChangeEvent } from 'react';
import { AccountName } from '#ui/account-name.tsx';
import { EmailField } from '#ui/email-field.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import type { AuthField, FieldMessages } from './auth.ts';
import type { AuthMode } from './auth-modes.ts';

// Loaded when a person types a new password, so that the first visit does not load it.
const PasswordStrength = lazyPart(async () => (await import('#ui/password-strength.tsx')).PasswordStrength);

const NEW_PASSWORD_HINT = `At least ${PASSWORD_LENGTH.minimum} characters. Longer is stronger.`;

interface AuthFieldsProps {
  mode: AuthMode;
  values: Record<AuthField, string>;
  messages: FieldMessages;
  onChange: (field: AuthField) => (event: ChangeEvent<HTMLInputElement>) => void;
}

export function AuthFields({ mode, values, messages, onChange }: AuthFieldsProps) {
  const field = (name: AuthField) => ({
    name,
    required: true,
    value: values[name],
    onChange: onChange(name),
    error: messages[name],
  });
  return (
    <>
      {mode !== 'reset-password' && (
        <EmailField {...field('email')} label="Email" autoComplete={mode === 'login' ? 'username webauthn' : 'username'} />
      )}
      {mode === 'register' && (
        <TextInput {...field('username')} label="Username" autoComplete="nickname" withAsterisk={false} size="md" />
      )}
      {(mode === 'login' || mode === 'register') && (
        <PasswordField
          key={mode}
          {...field('password')}
          label="Password"
          description={mode === 'register' ? NEW_PASSWORD_HINT : undefined}
          autoComplete={mode === 'login' ? 'current-password' : 'new-password'}
        />
      )}
      {mode === 'register' && values.password !== '' && <PasswordStrength password={values.password} person={values} />}
      {mode === 'register' && <PasswordField {...field('confirm')} label="Confirm Password" autoComplete="new-password" />}
      {mode === 'reset-password' && (
        <>
          <AccountName email={values.email} />
          <TextInput
            {...field('reset_token')}
            label="Reset Token"
            description="The code you got."
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            withAsterisk={false}
            size="md"
          />
          <PasswordField
            {...field('new_password')}
            label="New Password"
            description={NEW_PASSWORD_HINT}
            autoComplete="new-password"
          />
          {values.new_password !== '' && <PasswordStrength password={values.new_password} />}
        </>
      )}
    </>
  );
}
