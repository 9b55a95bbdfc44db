import { useMediaQuery } from '@mantine/hooks';
import type { AdminUser } from '@palisade/contract/users';
import { IconBan, IconCheck } from '@tabler/icons-react';
import { useSession } from '#api/session.ts';
import { ROLE_LABELS } from '#ui/activity-words.ts';
import { Button } from '#ui/button.tsx';
import { describeDate, Moment, useMinute } from '#ui/moment.tsx';

/** Below this width a table of seven columns is cramped, and its rows are cards. */
const NARROW = '(max-width: 1100px)';

interface UserTableProps {
  users: readonly AdminUser[];
  onOpen: (user: AdminUser) => void;
}

export function UserTable(props: UserTableProps) {
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  return isNarrow ? <Cards {...props} /> : <Table {...props} />;
}

function Table({ users, onOpen }: UserTableProps) {
  const now = useMinute();
  return (
    <table className="admin-table" aria-label="People">
      <thead>
        <tr>
          <th scope="col">Person</th>
          <th scope="col">Role</th>
          <th scope="col">Account</th>
          <th scope="col">Two-factor</th>
          <th scope="col">Last sign-in</th>
          <th scope="col">Sessions</th>
          <th scope="col">Member since</th>
          <th scope="col">
            <span className="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {users.map((user) => (
          <tr key={user.id}>
            <td>
              <Who user={user} />
            </td>
            <td>
              <RoleBadge user={user} />
            </td>
            <td>
              <StateBadge user={user} />
            </td>
            <td>{user.two_factor ? 'On' : 'Off'}</td>
            <td className="num">
              <LastSignIn user={user} now={now} />
            </td>
            <td className="num">{user.sessions}</td>
            <td className="num">{describeDate(user.created_at)}</td>
            <td>
              <OpenButton user={user} onOpen={onOpen} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cards({ users, onOpen }: UserTableProps) {
  const now = useMinute();
  return (
    <ul className="admin-cards" aria-label="People">
      {users.map((user) => (
        <li key={user.id} className="admin-card">
          <div className="admin-card__head">
            <Who user={user} />
            <StateBadge user={user} />
          </div>
          <dl className="admin-card__facts num">
            <div>
              <dt>Role</dt>
              <dd>
                <RoleBadge user={user} />
              </dd>
            </div>
            <div>
              <dt>Sessions</dt>
              <dd>{user.sessions}</dd>
            </div>
            <div>
              <dt>Two-factor</dt>
              <dd>{user.two_factor ? 'On' : 'Off'}</dd>
            </div>
            <div>
              <dt>Last sign-in</dt>
              <dd>
                <LastSignIn user={user} now={now} />
              </dd>
            </div>
            <div>
              <dt>Member since</dt>
              <dd>{describeDate(user.created_at)}</dd>
            </div>
          </dl>
          <OpenButton user={user} onOpen={onOpen} />
        </li>
      ))}
    </ul>
  );
}

function Who({ user }: { user: AdminUser }) {
  const own = useSession().session?.user_info.id;
  return (
    <span className="admin-who">
      <span>
        <bdi>{user.username}</bdi>
        {user.id === own && <span className="admin-badge">You</span>}
      </span>
      <bdi>{user.email}</bdi>
    </span>
  );
}

function RoleBadge({ user: { role } }: { user: AdminUser }) {
  return (
    <span className="admin-badge" data-role={role}>
      {ROLE_LABELS[role]}
    </span>
  );
}

/** Whether the account may be signed in to. */
export function StateBadge({ user: { disabled_at } }: { user: Pick<AdminUser, 'disabled_at'> }) {
  const Icon = disabled_at === null ? IconCheck : IconBan;
  return (
    <span className="admin-state" data-disabled={disabled_at !== null}>
      <Icon size={14} stroke={2} aria-hidden="true" />
      {disabled_at === null ? 'Enabled' : 'Disabled'}
    </span>
  );
}

function LastSignIn({ user: { last_signed_in_at }, now }: { user: AdminUser; now: number }) {
  return last_signed_in_at === null ? 'Never' : <Moment iso={last_signed_in_at} now={now} />;
}

function OpenButton({ user, onOpen }: { user: AdminUser; onOpen: (user: AdminUser) => void }) {
  return (
    <Button variant="quiet" size="s" onClick={() => onOpen(user)}>
      Manage <span className="visually-hidden">{user.email}</span>
    </Button>
  );
}
