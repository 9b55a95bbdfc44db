import { useForm } from '@mantine/form';
import { COMMON_PASSWORD_ADVICE, PASSWORD_LENGTH } from '@palisade/contract/auth';
import { fieldMessagesOf } from '#api/field-messages.ts';
import { useSession } from '#api/session.ts';
import { AccountName } from '#ui/account-name.tsx';
import { DialogPart } from '#ui/dialog-part.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Row } from '#ui/layout.tsx';
import { PasswordField } from '#ui/password-field.tsx';
import { PasswordStrength } from '#ui/password-strength.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { useChangePassword } from './account.queries.ts';

/** Changes the person's own password. `isFirst`: the dialog opened for it, so its first field has the focus. */
export function PasswordForm({ isFirst = false }: { isFirst?: boolean }) {
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
      <Form gap="4" error={change.error} busy={change.isPending} onSubmit={form.onSubmit(submit)}>
        <AccountName email={person?.email} />
        <PasswordField
          label="Current Password"
          name="current_password"
          autoComplete="current-password"
          required
          data-autofocus={isFirst || undefined}
          {...form.getInputProps('current_password')}
        />
        <PasswordField
          label="New Password"
          name="new_password"
          description={`At least ${PASSWORD_LENGTH.minimum} characters. You’ll be signed out everywhere else.`}
          autoComplete="new-password"
          required
          {...form.getInputProps('new_password')}
        />
        <PasswordStrength password={form.values.new_password} person={person} />
        <Row gap="4" rowGap="2" justify="end">
          <p role="status" className="grow shrink base medium accent off-empty">
            {change.isSuccess && !form.isDirty() && 'Password changed. You’re signed out everywhere else.'}
            {change.data?.common_password && !form.isDirty() && ` ${COMMON_PASSWORD_ADVICE}`}
          </p>
          <Submit>Change Password</Submit>
        </Row>
        {!isSaid && <Refusal error={change.error} />}
      </Form>
    </DialogPart>
  );
}
