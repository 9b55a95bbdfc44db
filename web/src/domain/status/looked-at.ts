import { formatNumber, plural } from '@palisade/contract/intl';
import type { Status } from '@palisade/contract/status';

/** The numbers of files, rules and devices that the status is based on, in one line. Empty if all are 0. */
export function describeLookedAt({ files_read, files_unread, rules, devices }: Status['looked_at']): string {
  const files = files_read + files_unread;
  const figures: [number, { one: string; other: string }][] = [
    [files, { one: '1 file scanned', other: `${formatNumber(files)} files scanned` }],
    [files_unread, { one: '1 pending', other: `${formatNumber(files_unread)} pending` }],
    [rules, { one: '1 firewall rule', other: `${formatNumber(rules)} firewall rules` }],
    [devices, { one: '1 device', other: `${formatNumber(devices)} devices` }],
  ];
  return figures.flatMap(([count, words]) => (count === 0 ? [] : [plural(count, words)])).join(' · ');
}
