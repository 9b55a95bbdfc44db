import { createHash } from 'node:crypto';
import { scanEnglish } from '@palisade/contract/scan-phrases';
import type { Content } from '#scanner/reading/content.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import type { Matchers } from '#scanner/walk/examination.ts';
import { examine } from '#scanner/walk/examine.ts';
import { LEAF_SAMPLES } from './leaf-samples.ts';
import { CLOSED_FILES, ORDINARY_FILES } from './ordinary-files.ts';
import { PACKED_ARCHIVES } from './packed-archives.ts';
import { PACKED_EICAR } from './packed-eicar.ts';
import { SAVED_VALUES } from './saved-values.ts';
import { PASSWORD } from './structure-fuzz.ts';
import { maskedFiles, WRITTEN_ROWS } from './written-rows.ts';

// Verdicts of files in one line each, so that a change of the readers shows in them.

export const SEEDS = [14, 15, 16, 17, 18];

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The samples that the tests keep. */
export function samples(): [string, Buffer][] {
  const lists: [string, ReadonlyMap<string, Buffer>][] = [
    ['leaf', LEAF_SAMPLES],
    ['ordinary', ORDINARY_FILES],
    ['closed', new Map(CLOSED_FILES.map(({ name, bytes }) => [name, bytes]))],
    ['archive', PACKED_ARCHIVES],
    ['packed', PACKED_EICAR],
    ['values', SAVED_VALUES],
    ['rows', WRITTEN_ROWS],
    ['within', maskedFiles('within-others.json')],
    ['tables', maskedFiles('tables.json')],
  ];
  return lists.flatMap(([list, files]) => [...files].map(([name, bytes]): [string, Buffer] => [`${list} ${name}`, bytes]));
}

type Signatures = Pick<Matchers, 'match'>;

/** The scanner's verdict of a file, and a digest of each content that the rules saw, in their order. */
export async function verdictOf(content: Content, signatures: Signatures, folder: string): Promise<string> {
  const contents = createHash('sha256');
  let count = 0;
  const budget = new Budget(SCAN_LIMITS, content.size);
  // The machine's speed today tells nothing about the version.
  budget.checkTime = () => {};
  let found: unknown;
  try {
    const examination = await examine(
      { ...content, name: 'file' },
      {
        asks_for_names: true,
        match(bytes, onPlaces, name, is_within) {
          const line = `${name} ${bytes.length} ${sha256(bytes)} ${is_within === true}`;
          contents.update(`${line}\n`);
          count += 1;
          return signatures.match(bytes, onPlaces, name, is_within);
        },
        limits: SCAN_LIMITS,
        folder,
        password: PASSWORD,
        budget,
      },
    );
    const { threat, threat_member, media_type, unread, coverage, notes } = examination;
    const told = sha256(JSON.stringify(notes.map(({ member, phrase }) => ({ member, sentence: scanEnglish(phrase) })))).slice(
      0,
      8,
    );
    found = [threat, threat_member, media_type, unread, Object.values(coverage), notes.length, told];
  } catch (error) {
    found = `thrown ${String(error)}`;
  }
  return `${JSON.stringify(found)} ${count} ${contents.digest('hex').slice(0, 16)}`;
}
