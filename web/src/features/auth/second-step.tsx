import type { SecondFactor } from '@palisade/contract/problem';
import { loginSecondStep, type PasskeyAssertion, requestSecondStepPasskey } from '@palisade/contract/two-factor';
import { useEffect, useRef, useState } from 'react';
import { CallError, call, sentenceOf } from '#api/call.ts';
import { askForPasskey } from '#api/passkey.ts';
import type { Session } from '#api/session.ts';
import { Form, Submit } from '#ui/form.tsx';
import { PasskeysElsewhere } from '#ui/passkeys-elsewhere.tsx';
import { SecondFactorField } from '#ui/second-factor-field.tsx';

const LINES: Record<SecondFactor, string> = {
  totp: 'Enter the current code from your authenticator app.',
  passkey: 'Use your passkey to continue.',
  recovery_code: 'Enter one of your recovery codes.',
};

interface SecondStepProps {
  challenge: string;
  methods: readonly SecondFactor[];
  onSignedIn: (session: Session) => Promise<void>;
  /** Returns to email and password; `sentence` is the reason if the person did not choose it. */
  onLeave: (sentence?: string) => void;
}

/** The second step of signing in, after a correct password. */
export function SecondStep({ challenge, methods, onSignedIn, onLeave }: SecondStepProps) {
  const [method, setMethod] = useState<SecondFactor>(methods[0] ?? 'recovery_code');
  const [value, setValue] = useState('');
  const [message, setMessage] = useState('');
  const [elsewhere, setElsewhere] = useState<string>();
  const [progress, setProgress] = useState<'asking' | 'done'>();
  const form = useRef<HTMLFormElement>(null);

  // The focused element is unmounted; a changed method also focuses its field.
  useEffect(() => {
    const target = form.current?.querySelector<HTMLElement>(method === 'passkey' ? '[type="submit"]' : 'input');
    target?.focus();
  }, [method]);

  function choose(next: SecondFactor) {
    setMethod(next);
    setValue('');
    setMessage('');
    setElsewhere(undefined);
  }

  async function proofOf(): Promise<{ code: string } | { recovery_code: string } | { passkey: PasskeyAssertion } | undefined> {
    if (method === 'totp') return { code: value };
    if (method === 'recovery_code') return { recovery_code: value };
    const asked = await askForPasskey(await call(requestSecondStepPasskey, { body: { challenge } }));
    if (asked.ok) return { passkey: asked.answer };
    setMessage(asked.message);
    setElsewhere(asked.origin);
    return undefined;
  }

  async function submit() {
    setProgress('asking');
    setMessage('');
    setElsewhere(undefined);
    try {
      const proof = await proofOf();
      if (proof === undefined) return setProgress(undefined);
      const session = await call(loginSecondStep, { body: { challenge, ...proof } });
      setProgress('done');
      setMessage('Login successful! Redirecting...');
      await onSignedIn(session);
    } catch (error) {
      setProgress(undefined);
      if (!(error instanceof CallError)) console.error(error);
      if (error instanceof CallError && error.problem?.code === 'sign_in_expired') return onLeave(error.sentence);
      setMessage(sentenceOf(error));
      form.current?.querySelector('input')?.select();
    }
  }

  return (
    <>
      <header className="auth-form__heading">
        <h1>One more step</h1>
        <p className="sub">{LINES[method]}</p>
      </header>
      <Form ref={form} className="auth-form" error={message} busy={progress !== undefined} onSubmit={() => void submit()}>
        <SecondFactorField
          methods={methods}
          method={method}
          value={value}
          error={undefined}
          onMethod={choose}
          onChange={setValue}
        />
        <div className="auth-form__submit">
          <div role="status" className="auth-form__message" data-tone={progress === 'done' ? 'good' : 'bad'}>
            {elsewhere ? <PasskeysElsewhere origin={elsewhere} /> : message}
          </div>
          <Submit size="l">{method === 'passkey' ? 'Use My Passkey' : 'Continue'}</Submit>
        </div>
        <div className="auth-form__links">
          <button type="button" className="link-button" onClick={() => onLeave()}>
            Back to sign in
          </button>
        </div>
      </Form>
    </>
  );
}
