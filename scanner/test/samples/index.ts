import { Chance } from '#test/chance.ts';
import { zip } from '#test/files.ts';
import { ARCHIVE_SAMPLES } from './archives.ts';
import { CARRIERS } from './carriers.ts';
import { MAIL_SAMPLES } from './mails.ts';
import { OFFICE_SAMPLES } from './office.ts';
import { PDF_SAMPLES } from './pdf.ts';
import { PIECES } from './pieces.ts';
import type { Packed, Sample } from './sample.ts';
import { TEXT_SAMPLES } from './texts.ts';

export const SAMPLES: readonly Sample[] = [
  ...ARCHIVE_SAMPLES,
  ...MAIL_SAMPLES,
  ...PDF_SAMPLES,
  ...OFFICE_SAMPLES,
  ...CARRIERS,
  ...PIECES,
  ...TEXT_SAMPLES,
];

/** A file in a sample, within a zip where the sample takes archives alone; undefined where it does not fit. */
export function wrapped(sample: Sample, inner: Packed): Buffer | undefined {
  const chance = new Chance(1);
  if (sample.takes === undefined || sample.takes.includes(inner.kind)) return sample.wrap(inner, chance);
  if (!sample.takes.includes('archive')) return undefined;
  return sample.wrap({ bytes: zip([{ name: inner.name, content: inner.bytes }]), name: 'a.zip', kind: 'archive' }, chance);
}

/** The containers in which files are sent most. */
const COMMON: ReadonlySet<string> = new Set([
  ...['zip, deflated', 'zip, not packed', 'zip behind a program', 'zip without its directory', 'zip with a path upwards'],
  ...['zip in a zip', 'tar', 'tar in gzip', 'gzip, all its fields', 'cab, stored', 'ar of one file', 'cpio of one file'],
  ...[
    'mail, base64 in one line',
    'mail, uuencode in its body',
    'mailbox',
    'docx, an embedded file',
    'ole, a stream',
    'pdf, Flate',
  ],
]);

/** A content in each of them, by their names. */
export function containersOf(content: Buffer): Map<string, Buffer> {
  const inner: Packed = { bytes: content, name: 'eicar.com', kind: 'file' };
  const chosen = SAMPLES.filter(({ name }) => COMMON.has(name));
  return new Map(chosen.map((sample) => [sample.name, sample.wrap(inner, new Chance(1))]));
}
