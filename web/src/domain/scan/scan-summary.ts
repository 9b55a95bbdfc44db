import type { Scan } from '@palisade/contract/antivirus';
import { formatNumber, plural } from '@palisade/contract/intl';

/** Number of engines that have read a file, in words; empty for none. The details of the scan name them. */
export function describeEngines({ engines }: Pick<Scan, 'engines'>): string {
  if (engines.length === 0) return '';
  return plural(engines.length, { one: '1 scanner', other: `${formatNumber(engines.length)} scanners` });
}
