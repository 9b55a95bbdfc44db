import type { Scan } from '@palisade/contract/antivirus';

/** Number of engines that have read a file, in words; blank for none. Which they were is in the details of the scan. */
export function describeEngines({ engines }: Pick<Scan, 'engines'>): string {
  if (engines.length === 0) return '';
  return engines.length === 1 ? 'one scanner' : `${engines.length} scanners`;
}
