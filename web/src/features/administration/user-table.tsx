import { formatNumber, formatPercent, plural } from '@palisade/contract/intl';
import { may } from '@palisade/contract/may';
import { shownEmail } from '@palisade/contract/shown-email';
import type { AdminUser } from '@palisade/contract/users';
import { IconBan, IconMailQuestion } from '@tabler/icons-react';
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
  { key: 'security', label: 'Security', cell: (user) => <Security user={user} />, onCard: 'line' },
  { key: 'last_seen', label: 'Last seen', cell: (user) => <LastSeen user={user} />, isFigure: true },
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
          {/* Most people are customers, so only other roles are shown. */}
          {may.useDesk(user) && <Badge tone="note">{ROLE_LABELS[user.role]}</Badge>}
          <StateBadge user={user} />
        </>
      }
      line={<bdi>{shownEmail(user.email)}</bdi>}
    />
  );
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
    !isEnabled && (
      <Badge tone="attention" icon={IconBan}>
        Disabled
      </Badge>
    )
  );
}

/** The reason why a person needs attention, or their last known state, with the score. */
function Security({ user: { state, security_score, serious_alerts, has_silent_device, two_factor } }: { user: AdminUser }) {
  const isInDanger = serious_alerts > 0 || state === 'danger';
  const reasons = [...(two_factor ? [] : ['No two-factor']), ...(has_silent_device ? ['Silent device'] : [])];
  return (
    <Row gap="2" rowGap="0">
      {!(state === 'attention' && reasons.length > 0) && <StatusBadge state={isInDanger ? 'danger' : (state ?? 'unknown')} />}
      {serious_alerts > 0 && (
        <span className="small muted">
          {plural(serious_alerts, { one: '1 serious alert', other: `${formatNumber(serious_alerts)} serious alerts` })}
        </span>
      )}
      {reasons.map((reason) => (
        <Badge key={reason} tone="attention">
          {reason}
        </Badge>
      ))}
      {security_score !== null && security_score < 100 && (
        <span className="small muted num">{formatPercent(security_score / 100)}</span>
      )}
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
