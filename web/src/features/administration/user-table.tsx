import { formatNumber, formatPercent, plural } from '@palisade/contract/intl';
import { shownEmail } from '@palisade/contract/shown-email';
import type { AdminUser } from '@palisade/contract/users';
import { IconBan, IconCheck, IconMailQuestion, IconShieldExclamation } from '@tabler/icons-react';
import { useSession } from '#api/session.ts';
import { ROLE_LABELS } from '#domain/activity/activity-words.ts';
import { StatusBadge } from '#domain/status/state-badge.tsx';
import { Badge } from '#ui/badge.tsx';
import { Row } from '#ui/layout.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import type { Column } from '#ui/records.tsx';
import { TwoLines } from '#ui/two-lines.tsx';

/** `onOpen` opens a person's record. */
export const userColumns = (onOpen: (user: AdminUser) => void): readonly Column<AdminUser>[] => [
  { key: 'person', label: 'Person', cell: (user) => <Who user={user} onOpen={() => onOpen(user)} />, onCard: 'head' },
  { key: 'plan', label: 'Plan', cell: ({ plan_name }) => <bdi>{plan_name ?? 'No plan'}</bdi> },
  { key: 'security', label: 'Security', cell: (user) => <Security user={user} /> },
  { key: 'last_seen', label: 'Last seen', cell: (user) => <LastSeen user={user} />, isFigure: true },
  { key: 'two_factor', label: 'Two-factor', cell: (user) => (user.two_factor ? 'On' : 'Off') },
  { key: 'role', label: 'Role', cell: (user) => <RoleBadge user={user} />, onCard: 'line' },
  { key: 'account', label: 'Account', cell: (user) => <StateBadge user={user} />, onCard: 'state' },
];

function Who({ user, onOpen }: { user: AdminUser; onOpen: () => void }) {
  const own = useSession().session?.user_info.id;
  return (
    <TwoLines
      name={
        <>
          <button
            type="button"
            className="bare accent admin-name hover-underline bold break"
            aria-haspopup="dialog"
            onClick={onOpen}
          >
            <bdi>{user.username}</bdi>
          </button>
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

/** Serious alerts, or the last known state, then a silent device and the score. */
function Security({ user: { state, security_score, serious_alerts, has_silent_device } }: { user: AdminUser }) {
  return (
    <Row gap="2" rowGap="0">
      {serious_alerts > 0 ? (
        <Badge tone="danger" icon={IconShieldExclamation}>
          {plural(serious_alerts, { one: '1 serious alert', other: `${formatNumber(serious_alerts)} serious alerts` })}
        </Badge>
      ) : (
        <StatusBadge state={state ?? 'unknown'} />
      )}
      {has_silent_device && <Badge tone="attention">Silent device</Badge>}
      {security_score !== null && <span className="small muted num">{formatPercent(security_score / 100)}</span>}
    </Row>
  );
}

function LastSeen({ user: { last_signed_in_at, last_used_at } }: { user: AdminUser }) {
  const now = useMinute();
  // ISO times in UTC sort as text.
  const seen = [last_signed_in_at, last_used_at]
    .filter((at) => at !== null)
    .toSorted()
    .at(-1);
  return seen === undefined ? 'Never' : <Moment iso={seen} now={now} />;
}
