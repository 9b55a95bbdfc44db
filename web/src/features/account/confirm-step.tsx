import { TextInput } from '@mantine/core';
import type { SecondFactor } from '@palisade/contract/problem';
import type { TwoFactor } from '@palisade/contract/two-factor';
import { type FormEvent, useRef, useState } from 'react';
import { CallError, sentenceOf } from '#api/call.ts';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { Button } from '#ui/button.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { SecondFactorField } from '#ui/second-factor-field.tsx';
import {
  confirmWho,
  type ProofGiven,
  provePasskey,
  type TaskOutcome,
  type TwoFactorTask,
  usePerform,
} from './two-factor.queries.ts';

interface ConfirmStepProps {
  task: TwoFactorTask;
  twoFactor: TwoFactor;
  words: { title: string; sentence: string; action: string };
  /** Whether this person proved a moment ago who they are. */
  isConfirmed: boolean;
  onConfirmed: (seconds: number) => void;
  onOutcome: (outcome: Exclude<TaskOutcome, { next: 'refused' }>) => void;
  onBack: () => void;
}

function methodsOf({ enabled, totp_since, passkeys }: TwoFactor): SecondFactor[] {
  const methods: SecondFactor[] = [];
  if (totp_since !== null) methods.push('totp');
  if (passkeys.length > 0) methods.push('passkey');
  return enabled ? [...methods, 'recovery_code'] : methods;
}

/** What a passkey made here may be called; its owner can say otherwise. */
function deviceName(): string {
  const device = /iPhone|iPad|Android|Macintosh|Windows|CrOS|Linux/u.exec(navigator.userAgent)?.[0];
  const names: Record<string, string> = { Macintosh: 'Mac', Windows: 'Windows PC', CrOS: 'Chromebook', Linux: 'Linux PC' };
  return device === undefined ? 'My device' : (names[device] ?? device);
}

/** The first step of each task: what it means, who asks for it, and then it is done. */
export function ConfirmStep({ task, twoFactor, words, isConfirmed, onConfirmed, onOutcome, onBack }: ConfirmStepProps) {
  const methods = methodsOf(twoFactor);
  const [isAsked, setIsAsked] = useState(!isConfirmed);
  const [name, setName] = useState(deviceName);
  const [password, setPassword] = useState('');
  const [method, setMethod] = useState<SecondFactor>(methods[0] ?? 'totp');
  const [value, setValue] = useState('');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [message, setMessage] = useState<{ text: string; link?: string | undefined }>();
  const [busy, setBusy] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const { mutateAsync: perform } = usePerform(task);

  async function proofGiven(): Promise<ProofGiven | 'refused' | undefined> {
    if (!twoFactor.enabled) return undefined;
    if (method === 'totp') return { code: value };
    if (method === 'recovery_code') return { recovery_code: value };
    const asked = await provePasskey();
    if (asked.ok) return { passkey: asked.answer };
    setMessage({ text: asked.message, link: asked.origin });
    return 'refused';
  }

  async function go() {
    if (isAsked) {
      const proof = await proofGiven();
      if (proof === 'refused') return;
      onConfirmed(await confirmWho(password, proof));
      setIsAsked(false);
    }
    const outcome = await perform(name);
    if (outcome.next === 'refused') setMessage({ text: outcome.message, link: outcome.elsewhere });
    else onOutcome(outcome);
  }

  function refuse(error: unknown) {
    if (error instanceof CallError && error.problem?.code === 'confirmation_required') return setIsAsked(true);
    const fields = fieldMessagesOf(error);
    const isFactor = error instanceof CallError && error.problem?.code === 'second_factor_refused' && method !== 'passkey';
    const shown = isFactor
      ? { [method]: sentenceOf(error) }
      : fields['code'] === undefined
        ? fields
        : { ...fields, [method]: fields['code'] };
    setErrors(shown);
    const first = Object.keys(shown)[0];
    if (first === undefined) setMessage({ text: sentenceOf(error) });
    else form.current?.querySelector<HTMLInputElement>(`[name="${CSS.escape(first)}"]`)?.focus();
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    setMessage(undefined);
    try {
      await go();
    } catch (error) {
      if (!(error instanceof CallError)) console.error(error);
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <form ref={form} className="account-form" onSubmit={submit}>
      <p className="sub">{words.sentence}</p>
      {task.kind === 'passkey' && (
        <TextInput
          label="Name of the passkey"
          description="So that you know it again in the list."
          name="name"
          autoComplete="off"
          required
          maxLength={60}
          withAsterisk={false}
          size="md"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={errors['name']}
        />
      )}
      {isAsked && (
        <>
          <PasswordField
            label="Your password"
            description="To be sure that it is you."
            name="current_password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={errors['current_password']}
          />
          {twoFactor.enabled && (
            <SecondFactorField
              methods={methods}
              method={method}
              value={value}
              error={errors[method]}
              onMethod={(next) => {
                setMethod(next);
                setValue('');
                setErrors({});
              }}
              onChange={setValue}
            />
          )}
        </>
      )}
      {message && (
        <p role="alert" className="account-form__failed">
          {message.text}
          {message.link && (
            <>
              {' '}
              <a href={message.link}>{message.link}</a>
            </>
          )}
        </p>
      )}
      <div className="two-factor__actions">
        <Button variant="quiet" onClick={onBack}>
          Back
        </Button>
        <Button type="submit" loading={busy}>
          {words.action}
        </Button>
      </div>
    </form>
  );
}
