import { formatNumber, plural } from '@palisade/contract/intl';
import { type Invitation, withdrawInvitation } from '@palisade/contract/invitation';
import { shownEmail } from '@palisade/contract/shown-email';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { describeDate } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { TwoLines } from '#ui/two-lines.tsx';
import { invitationsQuery } from './users.queries.ts';

/** Open invitations, folded until one is sent. `sent` is its address. */
export function Invitations({ invitations, sent }: { invitations: readonly Invitation[]; sent: string | undefined }) {
  return (
    <>
      {sent !== undefined && (
        <p className="sub" role="status">
          {`We’ve written to ${shownEmail(sent)}. Without a mail server, find the email in the outbox.`}
        </p>
      )}
      {invitations.length > 0 && (
        <details open={sent !== undefined}>
          <summary className="pointer base medium">
            {plural(invitations.length, {
              one: '1 open invitation',
              other: `${formatNumber(invitations.length)} open invitations`,
            })}
          </summary>
          <Stack as="ul" lines aria-label="Open invitations">
            {invitations.map((invitation) => (
              <InvitationRow key={invitation.id} invitation={invitation} />
            ))}
          </Stack>
        </details>
      )}
    </>
  );
}

function InvitationRow({ invitation: { id, email, role, expires_at } }: { invitation: Invitation }) {
  const withdraw = useChange({
    of: withdrawInvitation,
    mutationFn: () => call(withdrawInvitation, { body: { invitation_id: id } }),
    renews: [invitationsQuery.queryKey],
  });
  return (
    <Grid as="li" columns="tail" gap="3" align="center" className="pad-row">
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
    </Grid>
  );
}
