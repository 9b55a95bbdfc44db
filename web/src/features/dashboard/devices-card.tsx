import type { DashboardDevices } from '@palisade/contract/dashboard';
import { formatNumber, plural } from '@palisade/contract/intl';
import { IconDevices } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Row } from '#ui/layout.tsx';

/** A line about the person's computers with a link to them; without a computer, a link to add one. */
export function DevicesCard({ devices }: { devices: DashboardDevices | null }) {
  return (
    <Row to="/devices" as={Link} wrap={false} gap="3" className="card hover-line ink unlined">
      <IconDevices className="fixed accent" size={24} stroke={1.7} aria-hidden="true" />
      <span>
        <b>{devices === null ? 'Connect a computer' : 'Devices'}</b>
        <span className="sub block">
          {devices === null
            ? 'Linux computers with Palisade apply your firewall rules.'
            : `${formatNumber(devices.online)} of ${formatNumber(devices.count)} online. ${blockedWords(devices)}`}
        </span>
      </span>
    </Row>
  );
}

function blockedWords({ blocked_last_hour, blocked_total }: DashboardDevices): string {
  if (blocked_total === 0) return 'Nothing was blocked yet.';
  return plural(blocked_total, {
    one: `1 packet blocked, ${formatNumber(blocked_last_hour)} of them in the last hour.`,
    other: `${formatNumber(blocked_total)} packets blocked, ${formatNumber(blocked_last_hour)} of them in the last hour.`,
  });
}
