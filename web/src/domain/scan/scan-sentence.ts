import { type Scan, STATUS_DETAIL_SENTENCES } from '@palisade/contract/antivirus';
import { describeBytes } from '#ui/bytes.ts';

/** The same in lists and in the detail. */
export const TEST_FILE_SENTENCE = 'No action needed. This is a harmless test file.';

const count = new Intl.NumberFormat('en');

/**
 * The part of a file that was read: "412 of 412 files inside checked, 1.2 GB, including 3 MB of unknown data". A file without members is one that was read as it is; raw
 * bytes are those of no known format.
 * Empty when it is unknown: `pending` says so already.
 */
export function describeCoverage({ coverage, size }: Scan): string | undefined {
  if (size === 0) return 'This file is empty.';
  if (!coverage) return undefined;
  const { members_total, members_scanned, bytes_scanned, encrypted, bytes_raw } = coverage;
  const raw = bytes_raw > 0 ? `, including ${describeBytes(bytes_raw)} of unknown data` : '';
  const bytes = `${describeBytes(bytes_scanned)}${members_total === 0 ? ' checked' : ''}${raw}`;
  if (members_total === 0) return bytes_scanned > 0 ? bytes : undefined;
  const locked = encrypted > 0 ? `, ${count.format(encrypted)} with a password` : '';
  return `${count.format(members_scanned)} of ${count.format(members_total)} ${members_total === 1 ? 'file' : 'files'} inside checked, ${bytes}${locked}`;
}

/** Facts beside the status: why a record is pending, or what was not ordinary about reading it. */
export function describeDetail({ status_detail, scan_status }: Scan): string | undefined {
  if (status_detail) return STATUS_DETAIL_SENTENCES[status_detail];
  return scan_status === 'pending' ? 'We haven’t checked this whole file yet.' : undefined;
}
