import { INVITATION_DAYS, invitePerson } from '@palisade/contract/invitation';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { messageAt } from '#api/field-messages.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { mailServerQuery } from '#domain/overview/mail-server.ts';
import { Button } from '#ui/button.tsx';
import { Choice } from '#ui/choice.tsx';
import { EmailField } from '#ui/email-field.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { AUDIT_KEY, invitationsQuery } from './users.queries.ts';

const ROLES = ['customer', 'support'] as const;

export function InviteDialog({ onClose, onSent }: { onClose: () => void; onSent: (email: string) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]>('customer');
  const { data: mailServer } = useQuery(mailServerQuery);
  const invite = useChange({
    of: invitePerson,
    mutationFn: () => call(invitePerson, { body: { email, role } }),
    renews: [invitationsQuery.queryKey, AUDIT_KEY],
    onSuccess: (invitation) => onSent(invitation.email),
  });
  return (
    <ModalWindow title="Invite someone" onClose={onClose}>
      <Form gap="4" error={invite.error} busy={invite.isPending} onSubmit={() => invite.mutate(undefined)} onEdit={invite.reset}>
        <EmailField
          label="Email"
          name="email"
          autoComplete="off"
          required
          data-autofocus
          value={email}
          error={messageAt('email', invite.error)}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Choice
          label="Role"
          size="md"
          data={ROLES.map((value) => ({ value, label: ROLE_LABELS[value] }))}
          value={role}
          onChange={(event) => setRole(ROLES.find((value) => value === event.currentTarget.value) ?? 'customer')}
        />
        <p className="sub">
          <Sentence
            text={`The link works for ${INVITATION_DAYS} days. People can also register at {address}.`}
            parts={{ address: <code>{`${window.location.origin}/?mode=register`}</code> }}
          />
        </p>
        {mailServer?.is_connected === false && (
          <p className="sub">No email goes out. After you invite someone, pass the email on from the outbox.</p>
        )}
        {messageAt('email', invite.error) === undefined && <Refusal error={invite.error} />}
        <div className="modal-window__actions">
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Submit>Send invitation</Submit>
        </div>
      </Form>
    </ModalWindow>
  );
}
