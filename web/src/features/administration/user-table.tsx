import { shownEmail } from '@palisade/contract/shown-email';
import type { AdminUser } from '@palisade/contract/users';
import { IconBan, IconCheck, IconMailQuestion } from '@tabler/icons-react';
import { useSession } from '#api/session.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { Badge } from '#ui/badge.tsx';
import { describeDate, Moment, useMinute } from '#ui/moment.tsx';
import type { Column } from '#ui/records.tsx';
import { TwoLines } from '#ui/two-lines.tsx';

export const USER_COLUMNS: readonly Column<AdminUser>[] = [
  { key: 'person', label: 'Person', cell: (user) => <Who user={user} />, onCard: 'head' },
  { key: 'role', label: 'Role', cell: (user) => <RoleBadge user={user} />, onCard: 'line' },
  { key: 'account', label: 'Account', cell: (user) => <StateBadge user={user} />, onCard: 'state' },
  {
    key: 'two_factor',
    label: 'Two-factor',
    cell: (user) => (user.two_factor ? 'On' : 'Off'),
    cardCell: (user) => <span className="sub">{user.two_factor ? 'Two-factor on' : 'Two-factor off'}</span>,
    onCard: 'line',
  },
  { key: 'last_sign_in', label: 'Last sign-in', cell: (user) => <LastSignIn user={user} />, isFigure: true },
  { key: 'sessions', label: 'Sessions', cell: (user) => user.sessions, isFigure: true },
  { key: 'since', label: 'Member since', cell: (user) => describeDate(user.created_at), isFigure: true },
];

function Who({ user }: { user: AdminUser }) {
  const own = useSession().session?.user_info.id;
  return (
    <TwoLines
      name={
        <>
          <bdi>{user.username}</bdi>
          {user.id === own && <Badge tone="plain">You</Badge>}
        </>
      }
      line={<bdi>{shownEmail(user.email)}</bdi>}
    />
  );
}

function RoleBadge({ user: { role } }: { user: AdminUser }) {
  return <Badge tone={role === 'customer' ? 'plain' : 'note'}>{ROLE_LABELS[role]}</Badge>;
}

/** Badge for a disabled account or an unconfirmed address. */
export function StateBadge({
  user: { disabled_at, email_unproven },
}: {
  user: Pick<AdminUser, 'disabled_at' | 'email_unproven'>;
}) {
  const isEnabled = disabled_at === null;
  if (isEnabled && email_unproven)
    return (
      <Badge tone="attention" icon={IconMailQuestion}>
        Unconfirmed
      </Badge>
    );
  return (
    <Badge tone={isEnabled ? 'safe' : 'attention'} icon={isEnabled ? IconCheck : IconBan}>
      {isEnabled ? 'Enabled' : 'Disabled'}
    </Badge>
  );
}

function LastSignIn({ user: { last_signed_in_at } }: { user: AdminUser }) {
  const now = useMinute();
  return last_signed_in_at === null ? 'Never' : <Moment iso={last_signed_in_at} now={now} />;
}
