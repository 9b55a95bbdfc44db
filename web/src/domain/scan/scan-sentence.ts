import { type Scan, STATUS_DETAIL_SENTENCES } from '@palisade/contract/antivirus';
import { describeBytes, formatList, formatNumber, plural } from '@palisade/contract/intl';

/** The sentence about a harmless test file, for lists and details. The file may be in an archive with unreadable parts. */
export function describeTestFile({ status_detail }: Pick<Scan, 'status_detail'>): string {
  return status_detail === null
    ? 'This is a harmless test file.'
    : 'It contains a harmless test file. We couldn’t check the rest, so don’t open it.';
}

const UNKNOWN_FILE_SENTENCE = 'Unknown file type. No threat matched.';

/**
 * The part of a file that was read: "412 of 412 files inside checked, 1.2 GB, including 3 MB of unknown data". A file without members has no count.
 * Raw bytes have no known format; a file of only raw bytes has an unknown type. Empty if the coverage is unknown, which the status `pending` already explains.
 */
export function describeCoverage({ coverage, size, scan_status }: Scan): string | undefined {
  if (size === 0) return 'This file is empty.';
  if (!coverage) return undefined;
  const { members_total, members_scanned, bytes_scanned, encrypted, bytes_raw } = coverage;
  const read = describeBytes(bytes_scanned);
  const unknown = describeBytes(bytes_raw);
  if (members_total === 0) {
    if (bytes_scanned === 0) return undefined;
    if (bytes_raw >= bytes_scanned) return scan_status === 'clean' ? UNKNOWN_FILE_SENTENCE : `${read} checked`;
    return bytes_raw > 0 ? `${read} checked, including ${unknown} of unknown data` : `${read} checked`;
  }
  const figures = { scanned: formatNumber(members_scanned), total: formatNumber(members_total) };
  return formatList(
    [
      plural(members_total, {
        one: `${figures.scanned} of ${figures.total} file inside checked`,
        other: `${figures.scanned} of ${figures.total} files inside checked`,
      }),
      bytes_raw > 0 ? `${read}, including ${unknown} of unknown data` : read,
      ...(encrypted > 0 ? [`${formatNumber(encrypted)} with a password`] : []),
    ],
    'plain',
  );
}

/** Details of the status: why a scan is pending, or another remark about the reading. */
export function describeDetail({ status_detail, scan_status }: Scan): string | undefined {
  if (status_detail) return STATUS_DETAIL_SENTENCES[status_detail];
  return scan_status === 'pending' ? 'We haven’t checked this whole file yet.' : undefined;
}
