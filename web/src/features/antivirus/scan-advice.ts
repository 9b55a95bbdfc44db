import type { StatusDetail } from '@palisade/contract/antivirus';
import type { ScanDetail } from '@palisade/contract/quarantine';
import { describeTestFile } from '#domain/scan/scan-sentence.ts';
import { describeDate } from '#ui/moment.tsx';

const OF_LOCKED = 'Open it only if you expected it and know the sender. Attackers use passwords to get past scanners.';

/** Advice for a file that was not fully checked, by reason, most important sentence first. */
const OF_DETAIL: Record<StatusDetail, readonly string[]> = {
  queued: ['Wait for the result. It appears here.', 'Don’t open the file before then.'],
  engine_down: ['Wait for the result. We’ll scan it when the scanner is back.', 'Don’t open the file before then.'],
  engine_failed: [
    'Don’t open it. Few ordinary files make a scanner fail, so it may be made to get past one.',
    'If you need it, ask the sender for another format and upload that.',
  ],
  time_limit: ['Don’t open it unless you trust its source.', 'If it’s an archive, unpack it and upload the parts you need.'],
  encrypted: [OF_LOCKED, 'To use it, remove its password or unpack it. Then upload the contents.'],
  too_large: ['Don’t open it unless you trust its source.', 'Unpack it and upload the parts you need.'],
  depth: [
    'Don’t open it unless you know why it’s packed like this. Few people pack archives this deep.',
    'Unpack the outer archives and upload the contents.',
  ],
  too_many_members: [
    'Don’t open it unless you trust its source.',
    'Pack the parts you need into smaller archives and upload those.',
  ],
  bomb: [
    'Delete it. It’s probably made to crash the computer that opens it.',
    'If someone sent it, call them and ask if they did.',
  ],
  unsupported: [
    'Don’t open it unless you trust its source.',
    'Ask for a ZIP archive, or unpack it with the program that made it and upload the contents.',
  ],
  damaged: [
    'Download it again and upload the new copy.',
    'If the new copy is damaged too, don’t open it. Some files are damaged to get past scanners.',
  ],
  unexplained: [
    'Don’t open it unless you trust its source and know why it has hidden data.',
    'If someone sent it, ask them for the original file.',
  ],
  expired: ['Upload it again to scan it.', 'Don’t open the file before then.'],
};

const OF_OPEN: readonly string[] = [
  'Don’t open the file. Search your device for its name, often in Downloads. Delete it and empty the trash.',
];

const OF_INFECTED: readonly string[] = [
  'If you already opened it, disconnect that device. Change your passwords from another device.',
  'If someone sent it, call them. They may not know.',
];

const OF_TEST_FILE: readonly string[] = ['This file only tests scanners. Delete it when you’re done testing.'];

const OF_CLEAN: readonly string[] = [
  'You can open it.',
  'Scanners can miss new threats. If you didn’t expect this file, ask the sender first.',
];

/** The result in one short sentence. */
export function describeAnswer(scan: ScanDetail): string {
  if (scan.scan_status === 'clean') return scan.size === 0 ? 'This file is empty.' : 'No threats found.';
  if (scan.scan_status === 'infected') {
    if (scan.is_test_file) return scan.status_detail === null ? describeTestFile(scan) : 'It contains a harmless test file.';
    return scan.infection?.state === 'closed' ? 'This file was dangerous.' : 'This file is dangerous.';
  }
  if (scan.status_detail === 'queued') return 'This file is waiting to be scanned.';
  if (scan.status_detail === 'engine_down') return 'This file is waiting for the scanner.';
  if (scan.status_detail === 'engine_failed') return 'The scanner failed on this file.';
  return 'We couldn’t check this whole file.';
}

/** Next steps, most important first. */
export function adviceOf(scan: ScanDetail): readonly string[] {
  if (scan.scan_status === 'infected') {
    if (scan.is_test_file) return scan.status_detail === null ? OF_TEST_FILE : OF_DETAIL[scan.status_detail];
    return scan.infection?.state === 'closed' ? OF_INFECTED : [...OF_OPEN, ...OF_INFECTED];
  }
  if (scan.scan_status === 'clean') return OF_CLEAN;
  if (takesPassword(scan)) return [OF_LOCKED, 'To use it, enter its password below and wait for the result.'];
  return scan.status_detail === null ? OF_DETAIL.engine_down : OF_DETAIL[scan.status_detail];
}

/** State of the uploaded copy. */
export function describeFate(scan: ScanDetail): string {
  if (scan.device !== undefined) return `Palisade checked it on ${scan.device.device_name}. We have no copy of it.`;
  const until = scan.kept_until === null ? undefined : describeDate(scan.kept_until);
  const is_unread = scan.status_detail === 'queued' || scan.status_detail === 'engine_down';
  if (scan.kept === 'waiting' && !is_unread)
    return 'We’ll quarantine our copy when there’s room. Until then, no one can download it.';
  if (scan.kept === 'waiting') return 'We’ll keep our copy until it’s scanned.';
  if (scan.kept === 'no') return 'We’ve deleted our copy. Your original is unchanged.';
  if (scan.scan_status === 'infected')
    return until === undefined
      ? 'Our copy is quarantined. No program can open it there.'
      : `Our copy is quarantined until ${until}. No program can open it there.`;
  if (scan.scan_status === 'clean')
    return until === undefined
      ? 'Our copy is still quarantined. You can download it.'
      : `Our copy is still quarantined. You can download it until ${until}.`;
  return until === undefined ? 'Our copy is quarantined.' : `Our copy is quarantined until ${until}.`;
}

/** Media types that the scanner cannot decrypt even with the password. */
const STAY_LOCKED: readonly (string | null)[] = ['application/pdf', 'application/x-ole-storage'];

/** Whether a password allows the scanner to read the file. */
export function takesPassword({ scan_status, status_detail, kept, media_type }: ScanDetail): boolean {
  return scan_status === 'pending' && status_detail === 'encrypted' && kept === 'sealed' && !STAY_LOCKED.includes(media_type);
}

/** The administrators' decision on a reported finding; undefined without a report. */
export function describeReport({ report }: ScanDetail): string | undefined {
  switch (report?.status) {
    case 'open':
      return 'You reported a false alarm. An administrator will review it.';
    case 'confirmed':
      return 'An administrator reviewed it and agrees: this is a false alarm.';
    case 'rejected':
      return 'An administrator reviewed it: the file is dangerous.';
    case undefined:
      return undefined;
  }
}
