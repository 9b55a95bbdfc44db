import type { CustomerCard } from '@palisade/contract/desk';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { Moment, useMinute } from '#ui/moment.tsx';

/** The number of a person's infected files, with harmless test files counted separately; undefined if there are none. */
export function describeInfected({ infected, test_files }: CustomerCard['scans']): string | undefined {
  const parts = [
    ...(infected > 0 ? [`${formatNumber(infected)} infected`] : []),
    ...(test_files > 0 ? [plural(test_files, { one: '1 test file', other: `${formatNumber(test_files)} test files` })] : []),
  ];
  return parts.length > 0 ? formatList(parts, 'plain') : undefined;
}

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
        {status === 'pending' ? 'Waits with a code' : status.charAt(0).toUpperCase() + status.slice(1)}
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
