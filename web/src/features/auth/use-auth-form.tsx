import { type FormEvent, type ReactNode, type RefObject, useEffect, useReducer, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Config } from '#api/config.ts';
import { type Session, startSession } from '#api/session.ts';
import { faultOf } from '#ui/field-fault.ts';
import type { AuthOutcome } from './auth.ts';
import { type AuthMode, addressWithoutMode, modeOfAddress } from './auth-modes.ts';
import { type AuthMessage, type AuthValues, authReducer, bad, firstState, good } from './auth-state.ts';
import { type AuthNext, submitForm } from './auth-submits.ts';
import { usePasskeyOffer } from './use-passkey-offer.ts';

/** Time to read the message that the specification requires after signing in, in ms. */
const MESSAGE_PAUSE = 500;
const SHOWN = 'input:not([hidden])';

interface AuthFormOptions {
  config: Config | undefined;
  /** Loads the next screen. */
  prepare: () => Promise<unknown>;
  form: RefObject<HTMLFormElement | null>;
}

/** State and actions of the form. `form` receives the focus. */
export function useAuthForm({ config, prepare, form }: AuthFormOptions) {
  const [asked] = useState(() => modeOfAddress(window.location.search));
  const [state, dispatch] = useReducer(authReducer, asked, firstState);
  const { mode, values } = state;
  const [secondStep, setSecondStep] = useState<ReactNode>();
  const passkeys = usePasskeyOffer({
    onSignedIn: (session) => void enter(session),
    onRefused: (sentence) => dispatch({ kind: 'told', message: bad(sentence) }),
  });

  const first = config?.administrator.startsWith('first_account') ?? false;
  // Without any account nobody can sign in, so Register opens. A person who has begun to type stays in their mode.
  useEffect(() => {
    if (first) dispatch({ kind: 'first_opened' });
  }, [first]);

  useEffect(() => {
    if (asked !== undefined) window.history.replaceState(window.history.state, '', addressWithoutMode(window.location));
  }, [asked]);

  function changeMode(next: AuthMode) {
    passkeys.withdraw();
    dispatch({ kind: 'moved', mode: next });
  }

  /** Shows another mode and focuses its first empty field, because the focused element is unmounted. */
  function moveTo(next: AuthMode, nextMessage?: AuthMessage, changes: Partial<AuthValues> = {}) {
    passkeys.withdraw();
    flushSync(() => dispatch({ kind: 'moved', mode: next, message: nextMessage, values: changes }));
    const inputs = [...(form.current?.querySelectorAll<HTMLInputElement>(SHOWN) ?? [])];
    (inputs.find((input) => input.value === '') ?? inputs[0])?.focus();
  }

  function refuse({ message: sentence, fields, retry_after }: Extract<AuthOutcome<unknown>, { ok: false }>) {
    if (retry_after !== undefined) {
      dispatch({ kind: 'held', refusal: { mode, email: values.email, until: Date.now() + retry_after * 1_000, sentence } });
      // The focused button becomes disabled.
      form.current?.querySelector<HTMLInputElement>(SHOWN)?.focus();
      return;
    }
    dispatch({ kind: 'refused', text: sentence, fields });
    const first = Object.keys(fields)[0];
    if (first) form.current?.querySelector<HTMLInputElement>(`[name="${CSS.escape(first)}"]`)?.focus();
  }

  async function enter(session: Session) {
    dispatch({ kind: 'told', message: good('Login successful! Redirecting...') });
    await Promise.all([prepare().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, MESSAGE_PAUSE))]);
    startSession(session);
  }

  async function openSecondStep({ challenge, methods }: Extract<AuthNext, { kind: 'second_factor' }>) {
    const { SecondStep } = await import('./second-step.tsx');
    const leave = (sentence?: string) => {
      setSecondStep(undefined);
      moveTo('login', sentence === undefined ? undefined : bad(sentence), { password: '' });
    };
    setSecondStep(<SecondStep challenge={challenge} methods={methods} onSignedIn={enter} onLeave={leave} />);
  }

  async function goOn(next: AuthNext): Promise<void> {
    switch (next.kind) {
      case 'enter':
        return await enter(next.session);
      case 'second_factor':
        return await openSecondStep(next);
      case 'move':
        moveTo(next.mode, next.message, next.values);
        return;
      case 'tell':
        dispatch({ kind: 'told', message: next.message });
        return;
      case 'refuse':
        refuse(next.outcome);
        return;
    }
  }

  /** Tries one way of signing in. An unexpected error is shown as one sentence. */
  async function attempt(by: 'form' | 'passkey', send: () => Promise<AuthNext>) {
    passkeys.withdraw();
    dispatch({ kind: 'tried', by });
    try {
      await goOn(await send());
    } catch (error) {
      console.error(error);
      dispatch({ kind: 'told', message: bad('Operation failed') });
    } finally {
      dispatch({ kind: 'ended' });
    }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const inputs = [...event.currentTarget.querySelectorAll('input')];
    const fields: Record<string, string | undefined> = {};
    for (const input of inputs) {
      const fault = faultOf(input);
      if (fault !== undefined) fields[input.name] = fault;
    }
    if (Object.keys(fields).length > 0) return refuse({ ok: false, message: '', fields });
    void attempt('form', () => {
      // Loads the next screen while the server checks the password.
      if (mode === 'login') void prepare().catch(() => undefined);
      return submitForm(mode, values, config);
    });
  }

  function submitPasskey() {
    void attempt('passkey', async () => {
      void prepare().catch(() => undefined);
      const { signInWithPasskey } = await import('./passkey-sign-in.ts');
      const outcome = await signInWithPasskey();
      if (outcome.ok) return { kind: 'enter', session: outcome.answer };
      return { kind: 'tell', message: bad(outcome.message, outcome.origin) };
    });
  }

  return { state, secondStep, dispatch, changeMode, moveTo, submit, submitPasskey, offerPasskeys: passkeys.offer };
}
