import { TextInput } from '@mantine/core';
import { isSameEmail } from '@palisade/contract/email';
import { formatNumber, plural } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import { type AdminUser, deleteUser } from '@palisade/contract/users';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, sentenceOf } from '#api/call.ts';
import { twoFactorQuery } from '#domain/proof/proof.queries.ts';
import { ProofFields, ProofMessage } from '#domain/proof/proof-fields.tsx';
import { useProved } from '#domain/proof/use-proved.ts';
import { Button } from '#ui/button.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { Stack } from '#ui/layout.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { AUDIT_KEY } from './users.queries.ts';

/** Data that is deleted with an account, most important first. */
const GOES = [
  'their scans, and every file in quarantine',
  'their firewall rules, alerts, devices and remote sessions',
  'their conversation with support',
  'their plan, without refund or return',
];

interface DeleteUserProps {
  user: AdminUser;
  onDeleted: () => void;
  onKeep: () => void;
}

/** The form that deletes another person's account. The administrator must confirm their own identity first. */
export function DeleteUser(props: DeleteUserProps) {
  const { data: twoFactor, error, refetch } = useQuery(twoFactorQuery);
  if (twoFactor) return <DeleteForm {...props} twoFactor={twoFactor} />;
  if (!error) return <LoadingRows label="Loading two-factor sign-in" />;
  return <ErrorNotice title="Two-factor sign-in could not be read" sentence={sentenceOf(error)} onRetry={() => void refetch()} />;
}

function DeleteForm({ user, onDeleted, onKeep, twoFactor }: DeleteUserProps & { twoFactor: Parameters<typeof useProved>[0] }) {
  const { id, email, sessions } = user;
  const [confirmation, setConfirmation] = useState('');
  const { proof, form } = useProved(
    twoFactor,
    ({ password, factor }) => call(deleteUser, { body: { user_id: id, password, confirmation, ...factor } }),
    onDeleted,
    { of: deleteUser, renews: [AUDIT_KEY] },
  );
  const isTyped = isSameEmail(confirmation, email);
  return (
    <Form {...form} gap="4" aria-label={`Delete the account of ${shownEmail(email)}`}>
      <Stack gap="3" className="surface-sunken pad-m base break">
        <p>This cannot be undone. All of this is deleted at once:</p>
        <ul className="disc">
          {GOES.map((thing) => (
            <li key={thing}>{thing}</li>
          ))}
        </ul>
        <p>
          {sessions === 0
            ? 'They are not signed in anywhere.'
            : plural(sessions, {
                one: 'They are signed out at once (1 session).',
                other: `They are signed out at once (${formatNumber(sessions)} sessions).`,
              })}{' '}
          If email is set up, they get one last email. To keep the account for later, disable it instead.
        </p>
      </Stack>
      <TextInput
        label={`Type ${shownEmail(email)} to confirm`}
        name="confirmation"
        size="md"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        autoFocus
        required
        withAsterisk={false}
        value={confirmation}
        onChange={(event) => setConfirmation(event.currentTarget.value)}
        error={proof.errors['confirmation']}
      />
      <ProofFields form={proof} passwordName="password" passwordHint="To be sure that it is you." />
      <ProofMessage form={proof} />
      <div className="modal-window__actions">
        <Button variant="quiet" onClick={onKeep}>
          Keep the account
        </Button>
        <Submit variant="danger" disabled={!isTyped || proof.password === ''}>
          Delete for good
        </Submit>
      </div>
    </Form>
  );
}
