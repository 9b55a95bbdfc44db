import type { CustomerCard } from '@palisade/contract/desk';
import { Moment, useMinute } from '#ui/moment.tsx';

/** The devices of a person, as rows of a list. */
export function DeviceRows({ devices }: Pick<CustomerCard, 'devices'>) {
  const now = useMinute();
  return devices.map(({ name, last_seen_at }) => (
    <li key={`${name} ${last_seen_at}`}>
      <bdi>{name}</bdi>
      <span>{last_seen_at === null ? 'never seen' : <Moment iso={last_seen_at} now={now} />}</span>
    </li>
  ));
}

export function RemoteSessionRows({ sessions }: { sessions: CustomerCard['remote_sessions'] }) {
  const now = useMinute();
  return sessions.map(({ status, started_at, support_agent }) => (
    <li key={started_at}>
      <span>
        {status.charAt(0).toUpperCase() + status.slice(1)}
        {support_agent !== null && (
          <>
            , <bdi>{support_agent}</bdi>
          </>
        )}
      </span>
      <span>
        <Moment iso={started_at} now={now} />
      </span>
    </li>
  ));
}
