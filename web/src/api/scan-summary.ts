import type { Scan } from '@palisade/contract/antivirus';
import { PAGE_SIZE_DEFAULT } from '@palisade/contract/constants';

export interface ScanSummary {
  infected: number;
  clean: number;
  pending: number;
  /** The latest record of all, and the latest that an engine has finished with. */
  latest: Scan | undefined;
  latest_finished: Scan | undefined;
  /** The latest that an engine has answered to; an empty file takes none. */
  latest_examined: Scan | undefined;
  /** The list may be a page of a longer one, so its counts are at least so many. */
  is_partial: boolean;
}

/** What a list of scans, newest first, adds up to. */
export function summarizeScans(scans: readonly Scan[]): ScanSummary {
  const countOf = (status: Scan['scan_status']) => scans.filter((scan) => scan.scan_status === status).length;
  return {
    infected: countOf('infected'),
    clean: countOf('clean'),
    pending: countOf('pending'),
    latest: scans[0],
    latest_finished: scans.find((scan) => scan.scan_status !== 'pending'),
    latest_examined: scans.find((scan) => scan.engines.length > 0),
    is_partial: scans.length >= PAGE_SIZE_DEFAULT,
  };
}

/** A count of a list that may go on: "200+". */
export function describeCount(count: number, isPartial: boolean): string {
  return `${new Intl.NumberFormat('en').format(count)}${isPartial && count > 0 ? '+' : ''}`;
}

/** The engines of a record by name and version: "YARA-X 1.9 and ClamAV 1.4.6". */
export function describeEngines({ engines }: Scan): string {
  return new Intl.ListFormat('en').format(engines.map(({ name, version }) => `${name} ${version}`));
}
