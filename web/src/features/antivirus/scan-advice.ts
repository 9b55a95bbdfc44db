import type { StatusDetail } from '@palisade/contract/antivirus';
import type { ScanDetail } from '@palisade/contract/quarantine';
import { describeDate } from '#ui/moment.tsx';

const OF_LOCKED = 'Do not open it unless you expected it and know who sent it: a password is a common way to get past scanners.';

/** Advice for a file that was not read to its end, by the reason. The first sentence is the one that matters. */
const OF_DETAIL: Record<StatusDetail, readonly string[]> = {
  queued: ['There is nothing to do: the answer appears here by itself.', 'Do not open the file before it does.'],
  engine_down: [
    'There is nothing to do: the file is read as soon as the engine is back.',
    'Do not open the file before it was read.',
  ],
  engine_failed: [
    'Do not open it. Hardly any ordinary file makes the scanner fail: it may be made to get past scanners.',
    'If you need it, ask whoever sent it for another copy in another format, and upload that.',
  ],
  time_limit: [
    'Do not open it unless you know where it comes from.',
    'If it is an archive, unpack it and upload the parts that you need: smaller files are read within the time.',
  ],
  encrypted: [
    OF_LOCKED,
    'If you must use it, take the password off or unpack it, upload what was inside, and wait for the answer.',
  ],
  too_large: ['Do not open it unless you know where it comes from.', 'Unpack it and upload the parts that you need, one by one.'],
  depth: [
    'Do not open it unless you know why it is packed like this: hardly anybody packs archives so deep for a good reason.',
    'Unpack the outer archives and upload what is inside.',
  ],
  too_many_members: [
    'Do not open it unless you know where it comes from.',
    'Pack what you need into smaller archives and upload those.',
  ],
  bomb: [
    'Delete it. Ordinary files do not look like this; it was most likely made to overwhelm whoever opens it.',
    'If somebody sent it to you, ask them in another way whether they did.',
  ],
  unsupported: [
    'Do not open it unless you know where it comes from.',
    'Ask for it as a zip archive, or unpack it with the program that made it and upload what is inside.',
  ],
  damaged: [
    'Download it again, or ask for it again, and upload the new copy.',
    'If that one is damaged too, do not open it: some files are broken on purpose to get past scanners.',
  ],
  unexplained: [
    'Do not open it unless you know where it comes from and why it holds more than it shows.',
    'If somebody sent it to you, ask them for the file as it was before it was packed.',
  ],
  expired: ['Upload it again to have it read.', 'Do not open the file before it was read.'],
};

const OF_INFECTED: readonly string[] = [
  'Do not open the file. Delete it where it came from, and empty the recycle bin.',
  'If you opened it already, take that device off the network and change your passwords from another one.',
  'If somebody sent it to you, tell them in another way: they may not know.',
];

const OF_TEST_FILE: readonly string[] = [
  'There is nothing to worry about: this file was made to test scanners, and does nothing.',
  'Delete it when you have finished testing.',
];

const OF_CLEAN: readonly string[] = [
  'You can use it.',
  'No scanner knows everything: if you did not expect this file, ask whoever sent it before you open it.',
];

/** The answer in one short sentence. */
export function describeAnswer(scan: ScanDetail): string {
  if (scan.scan_status === 'clean') return scan.size === 0 ? 'The file is empty.' : 'Nothing harmful was found.';
  if (scan.scan_status === 'infected') {
    return scan.is_test_file ? 'This is a harmless test file.' : 'This file is harmful.';
  }
  if (scan.status_detail === 'queued') return 'This file waits for its turn.';
  if (scan.status_detail === 'engine_down') return 'This file waits for the scanning engine.';
  if (scan.status_detail === 'engine_failed') return 'The scanner failed on this file.';
  return 'This file was not fully read.';
}

/** Next steps, the most important first. */
export function adviceOf(scan: ScanDetail): readonly string[] {
  if (scan.scan_status === 'infected') return scan.is_test_file ? OF_TEST_FILE : OF_INFECTED;
  if (scan.scan_status === 'clean') return OF_CLEAN;
  if (takesPassword(scan)) return [OF_LOCKED, 'If you must use it, give its password below, and wait for the answer.'];
  return scan.status_detail === null ? OF_DETAIL.engine_down : OF_DETAIL[scan.status_detail];
}

/** State of the uploaded copy. */
export function describeFate(scan: ScanDetail): string {
  const until = scan.kept_until === null ? '' : ` until ${describeDate(scan.kept_until)}`;
  const is_unread = scan.status_detail === 'queued' || scan.status_detail === 'engine_down';
  if (scan.kept === 'waiting' && !is_unread)
    return 'The uploaded copy is given to nobody, and is locked away as soon as the server has room for it.';
  if (scan.kept === 'waiting') return 'The uploaded copy is kept until it was read.';
  if (scan.kept === 'no') return 'The uploaded copy is not kept. The original is still where you took it from.';
  if (scan.scan_status === 'infected')
    return `The uploaded copy is locked away in quarantine${until}, where nothing can open it.`;
  if (scan.scan_status === 'clean') return `The uploaded copy is still in quarantine: you can get it back${until}.`;
  return `The uploaded copy is kept sealed${until}.`;
}

/** Kinds of files whose encryption the scanner cannot undo even with the password. */
const STAY_LOCKED: readonly (string | null)[] = ['application/pdf', 'application/x-ole-storage'];

/** Whether a password would help. */
export function takesPassword({ scan_status, status_detail, kept, media_type }: ScanDetail): boolean {
  return scan_status === 'pending' && status_detail === 'encrypted' && kept === 'sealed' && !STAY_LOCKED.includes(media_type);
}

/** The administrators' decision on a reported finding; undefined without a report. */
export function describeReport({ report }: ScanDetail): string | undefined {
  switch (report?.status) {
    case 'open':
      return 'You reported this as a false alarm. An administrator will look at it.';
    case 'confirmed':
      return 'An administrator looked at it and agrees: this is a false alarm.';
    case 'rejected':
      return 'An administrator looked at it: the finding is right.';
    case undefined:
      return undefined;
  }
}
