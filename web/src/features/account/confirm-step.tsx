import { TextInput } from '@mantine/core';
import type { TwoFactor } from '@palisade/contract/two-factor';
import { useState } from 'react';
import { CallError } from '#api/call.ts';
import { ProofFields, ProofMessage, useProofForm } from '#domain/proof/proof-fields.tsx';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { confirmWho, type TaskOutcome, type TwoFactorTask, usePerform } from './two-factor.queries.ts';

interface ConfirmStepProps {
  task: TwoFactorTask;
  twoFactor: TwoFactor;
  words: { title: string; sentence: string; action: string };
  /** Whether this person has recently confirmed their identity. */
  isConfirmed: boolean;
  onConfirmed: (seconds: number) => void;
  onOutcome: (outcome: Exclude<TaskOutcome, { next: 'refused' }>) => void;
  onBack: () => void;
}

/** Suggested name of a passkey created here; the person can change it. */
function deviceName(): string {
  const device = /iPhone|iPad|Android|Macintosh|Windows|CrOS|Linux/u.exec(navigator.userAgent)?.[0];
  const names: Record<string, string> = { Macintosh: 'Mac', Windows: 'Windows PC', CrOS: 'Chromebook', Linux: 'Linux PC' };
  return device === undefined ? 'My device' : (names[device] ?? device);
}

/** The first step of each task: explains it, asks for identity, and performs it. */
export function ConfirmStep({ task, twoFactor, words, isConfirmed, onConfirmed, onOutcome, onBack }: ConfirmStepProps) {
  const [isAsked, setIsAsked] = useState(!isConfirmed);
  const [name, setName] = useState(deviceName);
  const [busy, setBusy] = useState(false);
  const proof = useProofForm(twoFactor);
  const { mutateAsync: perform } = usePerform(task);

  async function go() {
    if (isAsked) {
      const given = await proof.give();
      if (given === undefined) return;
      onConfirmed(await confirmWho(given.password, given.factor));
      setIsAsked(false);
    }
    const outcome = await perform(name);
    if (outcome.next === 'refused') proof.say(outcome.message, outcome.elsewhere);
    else onOutcome(outcome);
  }

  function refuse(error: unknown) {
    if (error instanceof CallError && error.problem?.code === 'confirmation_required') return setIsAsked(true);
    proof.refuse(error);
  }

  async function submit() {
    setBusy(true);
    proof.clear();
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
    <Form gap="4" error={proof.errors} busy={busy} onSubmit={() => void submit()}>
      <p className="sub">{words.sentence}</p>
      {task.kind === 'passkey' && (
        <TextInput
          label="Name of the passkey"
          description="You’ll recognize it in the list."
          name="name"
          autoComplete="off"
          required
          maxLength={60}
          withAsterisk={false}
          size="md"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={proof.errors['name']}
        />
      )}
      {isAsked && (
        <ProofFields
          form={proof}
          passwordName="current_password"
          passwordHint="Enter your password to confirm it’s you."
          autoFocus
        />
      )}
      <ProofMessage form={proof} />
      <Row wrap={false} gap="3" align="stretch" justify="between" className="two-factor__actions">
        <Button variant="quiet" onClick={onBack}>
          Back
        </Button>
        <Submit>{words.action}</Submit>
      </Row>
    </Form>
  );
}
