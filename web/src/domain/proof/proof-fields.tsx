import type { SecondFactor } from '@palisade/contract/problem';
import type { TwoFactor } from '@palisade/contract/two-factor';
import { useState } from 'react';
import { CallError, sentenceOf } from '#api/call.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { useSession } from '#api/session.ts';
import { AccountName } from '#ui/account-name.tsx';
import { PasskeysElsewhere } from '#ui/passkeys-elsewhere.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { SecondFactorField } from '#ui/second-factor-field.tsx';
import { type ProofGiven, provePasskey } from './proof.queries.ts';

function methodsOf({ enabled, totp_since, passkeys }: TwoFactor): SecondFactor[] {
  const methods: SecondFactor[] = [];
  if (totp_since !== null) methods.push('totp');
  if (passkeys.length > 0) methods.push('passkey');
  return enabled ? [...methods, 'recovery_code'] : methods;
}

/** Proof of a person's identity: the password and, with two-factor sign-in, a second factor. */
export interface Proof {
  password: string;
  factor: ProofGiven | undefined;
}

export interface ProofForm {
  methods: readonly SecondFactor[];
  method: SecondFactor;
  password: string;
  value: string;
  /** Sentences of refused fields, by name. */
  errors: Record<string, string>;
  /** A refusal that belongs to no field. `link` is the address at which the attempt would work. */
  message: { text: string; link?: string | undefined } | undefined;
  setPassword: (password: string) => void;
  setMethod: (method: SecondFactor) => void;
  setValue: (value: string) => void;
  /** Collects the proof; undefined, with a message, if the browser gave no passkey. */
  give: () => Promise<Proof | undefined>;
  /** Shows a refusal at its field. */
  refuse: (error: unknown) => void;
  say: (text: string, link?: string) => void;
  /** Removes the messages of the previous attempt. */
  clear: () => void;
}

/** State of a form in which a person proves their identity. */
export function useProofForm(twoFactor: TwoFactor): ProofForm {
  const methods = methodsOf(twoFactor);
  const [chosen, setChosen] = useState<SecondFactor>();
  const [password, setPassword] = useState('');
  const [value, setValue] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [message, setMessage] = useState<ProofForm['message']>();
  const method = chosen ?? methods[0] ?? 'totp';

  function clear() {
    setErrors({});
    setMessage(undefined);
  }

  async function give(): Promise<Proof | undefined> {
    if (!twoFactor.enabled) return { password, factor: undefined };
    if (method === 'totp') return { password, factor: { code: value } };
    if (method === 'recovery_code') return { password, factor: { recovery_code: value } };
    const asked = await provePasskey();
    if (asked.ok) return { password, factor: { passkey: asked.answer } };
    setMessage({ text: asked.message, link: asked.origin });
    return undefined;
  }

  function refuse(error: unknown): void {
    const { code, ...fields } = fieldMessagesOf(error);
    const isFactor = error instanceof CallError && error.problem?.code === 'second_factor_refused';
    const sentence = isFactor ? sentenceOf(error) : code;
    // A passkey has no field, and without two-factor sign-in there is no second factor.
    const hasField = twoFactor.enabled && method !== 'passkey';
    const shown = sentence !== undefined && hasField ? { ...fields, [method]: sentence } : fields;
    setErrors(shown);
    if (Object.keys(shown).length === 0) setMessage({ text: sentence ?? sentenceOf(error) });
  }

  return {
    methods,
    method,
    password,
    value,
    errors,
    message,
    setPassword,
    setMethod(next) {
      setChosen(next);
      setValue('');
      clear();
    },
    setValue,
    give,
    refuse,
    say: (text, link) => setMessage({ text, link }),
    clear,
  };
}

interface ProofFieldsProps {
  form: ProofForm;
  /** Name of the password in the contract. */
  passwordName: 'password' | 'current_password';
  passwordHint?: string;
  autoFocus?: boolean;
}

/** The password and, if needed, the second factor. */
export function ProofFields({ form, passwordName, passwordHint, autoFocus }: ProofFieldsProps) {
  const email = useSession().session?.user_info.email;
  return (
    <>
      <AccountName email={email} />
      <PasswordField
        label="Your password"
        description={passwordHint}
        name={passwordName}
        autoComplete="current-password"
        autoFocus={autoFocus}
        required
        value={form.password}
        onChange={(event) => {
          form.setPassword(event.currentTarget.value);
          form.clear();
        }}
        error={form.errors[passwordName]}
      />
      {form.methods.length > 0 && (
        <SecondFactorField
          methods={form.methods}
          method={form.method}
          value={form.value}
          error={form.errors[form.method]}
          onMethod={form.setMethod}
          onChange={(value) => {
            form.setValue(value);
            form.clear();
          }}
        />
      )}
    </>
  );
}

/** Shows a refusal without a field. */
export function ProofMessage({ form: { message } }: { form: ProofForm }) {
  return <Refusal error={message}>{message?.link ? <PasskeysElsewhere origin={message.link} /> : message?.text}</Refusal>;
}
