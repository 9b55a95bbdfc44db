import { useForm } from '@mantine/form';
import { PASSWORD_LENGTH } from '@palisade/contract/auth';
import type { TwoFactor } from '@palisade/contract/two-factor';
import { useState } from 'react';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { useSession } from '#api/session.ts';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { PasswordStrength } from '#ui/password-strength.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useChangePassword } from './account.queries.ts';
import { OwnActivity } from './own-activity.tsx';
import { PushPart } from './push-part.tsx';
import { SignedInSessions } from './signed-in-sessions.tsx';
import type { TwoFactorTask } from './two-factor.queries.ts';
import { TwoFactorPart } from './two-factor-part.tsx';
import { TwoFactorSteps } from './two-factor-steps.tsx';
import './account-dialogs.css';

export function SecurityDialog({ onClose }: { onClose: () => void }) {
  const [task, setTask] = useState<{ task: TwoFactorTask; twoFactor: TwoFactor }>();
  const [told, setTold] = useState<string>();
  const [confirmedUntil, setConfirmedUntil] = useState(0);
  return (
    <ModalWindow title="Security Preferences" onClose={onClose}>
      {task ? (
        <TwoFactorSteps
          {...task}
          isConfirmed={Date.now() < confirmedUntil}
          onConfirmed={(seconds) => setConfirmedUntil(Date.now() + seconds * 1_000)}
          onLeave={(sentence) => {
            setTask(undefined);
            setTold(sentence);
          }}
        />
      ) : (
        <>
          <TwoFactorPart told={told} onTask={(next, twoFactor) => setTask({ task: next, twoFactor })} />
          <PasswordForm />
          <PushPart />
          <SignedInSessions />
          <OwnActivity />
        </>
      )}
    </ModalWindow>
  );
}

function PasswordForm() {
  const change = useChangePassword();
  const person = useSession().session?.user_info;
  const form = useForm({ initialValues: { current_password: '', new_password: '' } });

  function submit(values: typeof form.values) {
    change.mutate(values, {
      onSuccess: () => form.reset(),
      onError: (error) => form.setErrors(fieldMessagesOf(error)),
    });
  }

  const isSaid = Object.keys(form.errors).length > 0;
  return (
    <DialogPart title="Change password">
      <Form className="account-form" error={change.error} busy={change.isPending} onSubmit={form.onSubmit(submit)}>
        <PasswordField
          label="Current Password"
          name="current_password"
          autoComplete="current-password"
          required
          {...form.getInputProps('current_password')}
        />
        <PasswordField
          label="New Password"
          name="new_password"
          description={`At least ${PASSWORD_LENGTH.minimum} characters. Every other sign-in to your account ends.`}
          autoComplete="new-password"
          required
          {...form.getInputProps('new_password')}
        />
        <PasswordStrength password={form.values.new_password} person={person} />
        <div className="account-form__end">
          <p role="status" className="account-form__done">
            {change.isSuccess && !form.isDirty() && 'Password changed. Everybody else is signed out.'}
          </p>
          <Submit>Change Password</Submit>
        </div>
        {!isSaid && <Refusal error={change.error} />}
      </Form>
    </DialogPart>
  );
}
