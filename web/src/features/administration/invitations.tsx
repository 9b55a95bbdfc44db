import { INVITATION_DAYS, type Invitation, withdrawInvitation } from '@palisade/contract/invitation';
import { shownEmail } from '@palisade/contract/shown-email';
import { IconMailPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { lazyPart } from '#ui/lazy-part.tsx';
import { describeDate } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { TwoLines } from '#ui/two-lines.tsx';
import { invitationsQuery } from './users.queries.ts';

/** Dialogs import Mantine's, so it is loaded when it opens. */
const InviteDialog = lazyPart(async () => (await import('./invite-dialog.tsx')).InviteDialog);

/** Open invitations, and a button to send another. */
export function Invitations() {
  const { data: invitations } = useQuery(invitationsQuery);
  const [isOpen, setIsOpen] = useState(false);
  const [sent, setSent] = useState<string>();
  return (
    <Card
      title="Invitations"
      action={
        <Button variant="quiet" size="s" icon={IconMailPlus} aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
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
