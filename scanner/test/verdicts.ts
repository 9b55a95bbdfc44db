import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scanEnglish } from '@palisade/contract/scan-phrases';
import type { Content } from '#scanner/reading/content.ts';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { loadSignatures } from '#scanner/rules/signature-set.ts';
import { examine } from '#scanner/walk/examine.ts';
import { generate, livePayloads, usableWrappers } from './grammar/generated-files.ts';
import { openWriters } from './grammar/writers.ts';
import { LEAF_SAMPLES } from './leaf-samples.ts';
import { CLOSED_FILES, ORDINARY_FILES } from './ordinary-files.ts';
import { PACKED_ARCHIVES } from './packed-archives.ts';
import { PACKED_EICAR } from './packed-eicar.ts';
import { SAVED_VALUES } from './saved-values.ts';

import { SIGNATURES_FOLDER } from './signatures-folder.ts';
import { mutant, PASSWORD, seeds } from './structure-fuzz.ts';
import { maskedFiles, WRITTEN_ROWS } from './written-rows.ts';

// Compares two versions of the scanner: writes one line for each file with everything that the scanner says of it, so that `diff` shows what a change of the
// readers changed.
//
//   node test/verdicts.ts make FOLDER [files per seed]   writes the generated files and the samples, and a list of files of this system
//   node test/verdicts.ts read FOLDER [1/2]              prints a line for each of them, or for one share of them
//   node test/verdicts.ts list FILE                      prints each content of one file that the rules see

const RULES_FOLDER = join(SIGNATURES_FOLDER, 'rules');
export const SEEDS = [14, 15, 16, 17, 18];
const FILES_PER_SEED = 1500;
/** Larger files of the system take their time and show nothing more. Bytes. */
const SYSTEM_BYTES_MAXIMUM = 4 * 1024 ** 2;
const SYSTEM_FILES = 20_000;
const SYSTEM_FOLDERS = ['/usr/share', '/usr/lib', '/usr/bin'];
const SYSTEM_LIST = 'system.txt';

function sha256(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The files of a folder and of those in it. Links are not followed. */
function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile() && statSync(path).size <= SYSTEM_BYTES_MAXIMUM) yield path;
  }
}

/** Files of the system in an order that has nothing to do with their folders, so that the first ones are of all kinds. */
function systemFiles(): string[] {
  return SYSTEM_FOLDERS.flatMap((folder) => [...filesIn(folder)])
    .map((path) => ({ path, order: sha256(path) }))
    .sort((one, other) => (one.order < other.order ? -1 : 1))
    .slice(0, SYSTEM_FILES)
    .map(({ path }) => path);
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

async function make(folder: string, files_per_seed: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, bytes: Buffer) =>
    writeFileSync(join(folder, name.replaceAll(/[^\w.,+=-]/g, '_').slice(0, 200)), bytes);
  for (const [name, bytes] of samples()) write(`sample ${name}`, bytes);
  const originals = await seeds();
  for (const [name, bytes] of originals) write(`original ${name}`, bytes);
  for (const seed of SEEDS) {
    for (let index = 0; index < files_per_seed; index += 1) {
      const { name, bytes } = mutant(originals, seed, index);
      write(`mutant ${seed} ${index} ${name}`, bytes);
    }
  }
  const rules = await loadSignatures({ rules_folder: RULES_FOLDER, feeds: [] });
  const payloads = await livePayloads(rules);
  const { usable } = usableWrappers();
  const writers = openWriters();
  for (const seed of SEEDS) {
    // The first ones are each kind of file alone, the same for each seed but for their payload.
    const count = seed === SEEDS[0] ? usable.length + files_per_seed / 5 : files_per_seed / 5;
    const from = seed === SEEDS[0] ? 0 : usable.length;
    for (let index = from; index < from + count; index += 1) {
      try {
        const { bytes, chain } = await generate({ seed, index, payloads }, usable, writers);
        write(`generated ${seed} ${index} ${chain.join('+')}`, bytes);
      } catch (error) {
        process.stderr.write(`not written: ${seed} ${index} ${String(error)}\n`);
      }
    }
  }
  writers.close();
  writeFileSync(join(folder, SYSTEM_LIST), systemFiles().join('\n'));
}

type Signatures = Pick<Awaited<ReturnType<typeof loadSignatures>>, 'match'>;

/** The scanner's verdict of a file, and a digest of each content that the rules saw, in their order. */
export async function verdictOf(
  content: Content,
  signatures: Signatures,
  folder: string,
  onContent: (line: string) => void = () => {},
): Promise<string> {
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
          onContent(line);
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

const fileAt = (path: string): Content => ({ path, size: statSync(path).size });

async function read(folder: string, share: string): Promise<void> {
  const signatures = await loadSignatures({ rules_folder: RULES_FOLDER, feeds: [] });
  const own = readdirSync(folder).filter((name) => name !== SYSTEM_LIST);
  const paths = [...own.sort().map((name) => join(folder, name)), ...readFileSync(join(folder, SYSTEM_LIST), 'utf8').split('\n')];
  const [number = 1, of = 1] = share.split('/').map(Number);
  const work = mkdtempSync(join(tmpdir(), 'palisade-verdicts-'));
  for (const [index, path] of paths.entries()) {
    if (index % of !== number - 1) continue;
    const line = await verdictOf(fileAt(path), signatures, join(work, 'unpacked'));
    process.stdout.write(`${path} ${line}\n`);
  }
  rmSync(work, { recursive: true, force: true });
}

async function list(path: string): Promise<void> {
  const signatures = await loadSignatures({ rules_folder: RULES_FOLDER, feeds: [] });
  const work = mkdtempSync(join(tmpdir(), 'palisade-verdicts-'));
  const line = await verdictOf(fileAt(path), signatures, join(work, 'unpacked'), (content) =>
    process.stdout.write(`${content}\n`),
  );
  process.stdout.write(`${line}\n`);
  rmSync(work, { recursive: true, force: true });
}

if (process.argv[1] === import.meta.filename) {
  const [, , command, target = '', option] = process.argv;
  if (command === 'system') writeFileSync(join(target, SYSTEM_LIST), systemFiles().join('\n'));
  else if (command === 'make') await make(target, Number(option ?? FILES_PER_SEED));
  else if (command === 'read') await read(target, option ?? '1/1');
  else if (command === 'list') await list(target);
}
