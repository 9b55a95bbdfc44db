import { type Scan, STATUS_DETAIL_SENTENCES } from '@palisade/contract/antivirus';
import { describeBytes } from './bytes.ts';

const count = new Intl.NumberFormat('en');

/**
 * How much of a file was read: "412 of 412 members read, 1.2 GB, 3 MB of it as raw bytes of no known format". A file without members is one that was read
 * as it is.
 * Nothing when nothing is known of it: `pending` says so already.
 */
export function describeCoverage({ coverage, size }: Scan): string | undefined {
  if (size === 0) return 'The file is empty.';
  if (!coverage) return undefined;
  const { members_total, members_scanned, bytes_scanned, encrypted, bytes_raw } = coverage;
  const raw = bytes_raw > 0 ? `, ${describeBytes(bytes_raw)} of it as raw bytes of no known format` : '';
  const bytes = `${describeBytes(bytes_scanned)}${members_total === 0 ? ' read' : ''}${raw}`;
  if (members_total === 0) return bytes_scanned > 0 ? bytes : undefined;
  const locked = encrypted > 0 ? `, ${count.format(encrypted)} encrypted` : '';
  return `${count.format(members_scanned)} of ${count.format(members_total)} members read, ${bytes}${locked}`;
}

/** What is to be known beside the status: why a record is pending, or what was not ordinary about reading it. */
export function describeDetail({ status_detail, scan_status }: Scan): string | undefined {
  if (status_detail) return STATUS_DETAIL_SENTENCES[status_detail];
  return scan_status === 'pending' ? 'It was not fully read yet.' : undefined;
}
