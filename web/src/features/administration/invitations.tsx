import { TextInput } from '@mantine/core';
import {
  INVITATION_DAYS,
  type Invitation,
  invitePerson,
  listInvitations,
  withdrawInvitation,
} from '@palisade/contract/invitation';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconMailPlus } from '@tabler/icons-react';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { messageAt } from '#api/field-messages.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Choice } from '#ui/choice.tsx';
import { Form, Submit } from '#ui/form.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { describeDate } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { TwoLines } from '#ui/two-lines.tsx';
import { AUDIT_KEY } from './users.queries.ts';

const ROLES = ['customer', 'support'] as const;

const invitationsQuery = queryOptions({
  // Below the people: a change of them reads it anew.
  queryKey: ['users', 'invitations'],
  queryFn: ({ signal }) => call(listInvitations, { query: {}, signal }),
});

/** Invitations by email: the open ones, and the way to send another. */
export function Invitations() {
  const { data: invitations } = useQuery(invitationsQuery);
  const [isOpen, setIsOpen] = useState(false);
  const [sent, setSent] = useState<string>();
  return (
    <Card
      title="Invitations"
      action={
        <Button
          variant="quiet"
          size="s"
          icon={<IconMailPlus size={16} stroke={1.7} aria-hidden="true" />}
          aria-haspopup="dialog"
          onClick={() => setIsOpen(true)}
        >
          Invite someone
        </Button>
      }
    >
      <p className="sub" role="status">
        {sent === undefined
          ? `Send a link to create an account. It lasts ${INVITATION_DAYS} days.`
          : `We’ve written to ${shownEmail(sent)}. Without a mail server, find the email in the outbox.`}
      </p>
      {invitations && invitations.length > 0 && (
        <ul className="admin-sessions admin-invitations" aria-label="Open invitations">
          {invitations.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} />
          ))}
        </ul>
      )}
      {isOpen && (
        <InviteDialog
          onClose={() => setIsOpen(false)}
          onSent={(email) => {
            setSent(email);
            setIsOpen(false);
          }}
        />
      )}
    </Card>
  );
}

function InvitationRow({ invitation: { id, email, role, expires_at } }: { invitation: Invitation }) {
  const withdraw = useChange({
    of: withdrawInvitation,
    mutationFn: () => call(withdrawInvitation, { body: { invitation_id: id } }),
    renews: [invitationsQuery.queryKey],
  });
  return (
    <li>
      <TwoLines name={<bdi>{shownEmail(email)}</bdi>} line={`${ROLE_LABELS[role]}, link ends ${describeDate(expires_at)}`} />
      <Button
        variant="quiet"
        size="s"
        loading={withdraw.isPending}
        aria-label={`Withdraw the invitation of ${shownEmail(email)}`}
        onClick={() => withdraw.mutate(undefined)}
      >
        Withdraw
      </Button>
      <Refusal error={withdraw.error} />
    </li>
  );
}

function InviteDialog({ onClose, onSent }: { onClose: () => void; onSent: (email: string) => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]>('customer');
  const invite = useChange({
    of: invitePerson,
    mutationFn: () => call(invitePerson, { body: { email, role } }),
    renews: [invitationsQuery.queryKey, AUDIT_KEY],
    onSuccess: (invitation) => onSent(invitation.email),
  });
  return (
    <ModalWindow title="Invite someone" onClose={onClose}>
      <Form
        className="admin-invite"
        error={invite.error}
        busy={invite.isPending}
        onSubmit={() => invite.mutate(undefined)}
        onEdit={invite.reset}
      >
        <TextInput
          label="Email"
          name="email"
          type="email"
          autoComplete="off"
          size="md"
          required
          data-autofocus
          withAsterisk={false}
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
