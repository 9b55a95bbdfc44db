import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { compileRules } from '#scanner/rules/rules.ts';
import { examine } from '#scanner/walk/examine.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { generate, harmlessPayloads, livePayloads, type Payload, usableWrappers } from './generated-files.ts';
import { findProgram, openWriters } from './writers.ts';

// This scanner's readers beside independent ones, on files of the grammar: a file that another program unpacks must be found here, or reported as unread.

const answerSchema = z.object({ path: z.string(), found: z.string().nullable() });

interface Compared {
  index: number;
  chain: readonly string[];
  payload: string;
  /** `infected`, `clean`, or `pending` with its reasons. */
  verdict: string;
  /** The independent program that took the payload out; null where none did, undefined where none was asked. */
  opened: string | null | undefined;
  flawed: boolean;
}

interface WrapperCount {
  files: number;
  read: number;
  pending: number;
  /** Why it was pending, with counts. */
  why: Record<string, number>;
  /** Clean here, and another program takes the payload out. */
  silently_missed: number;
  /** Clean here, and no other program takes it out either. */
  opened_by_nobody: number;
}

export interface Comparison {
  files: number;
  infected: number;
  pending: number;
  /** The same with a harmless payload. Flawed ones may be pending: only the others are checked for that. */
  harmless: { files: number; clean: number; pending_though_opened: string[]; infected: string[] };
  silently_missed: string[];
  missing_programs: string[];
  /** By the outermost wrapper. */
  wrappers: Record<string, WrapperCount>;
  /** Number of files that an independent program opened. */
  asked: number;
  opened: number;
}

interface Question {
  path: string;
  payload: Payload;
}

/** Asks the independent programs; answers how they took the payload out, by path. */
async function ask(questions: readonly Question[]): Promise<Map<string, string | null>> {
  const answers = new Map<string, string | null>();
  if (questions.length === 0) return answers;
  const child = spawn(findProgram('python3') ?? 'python3', [join(import.meta.dirname, 'independent-opener.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  for (const { path, payload } of questions)
    child.stdin.write(`${JSON.stringify({ path, payload: payload.bytes.toString('base64'), alone: payload.alone })}\n`);
  child.stdin.end();
  for await (const line of createInterface({ input: child.stdout })) {
    const { path, found } = answerSchema.parse(JSON.parse(line));
    answers.set(path, found);
  }
  if (answers.size !== questions.length) throw new Error('The independent programs did not answer for every file.');
  return answers;
}

const titleOf = ({ index, chain, payload, verdict, opened }: Compared) =>
  `${index}: ${payload} in ${chain.join(' in ')}: ${verdict}; opened by ${opened ?? 'nobody'}`;

/** Generates files, reads them, and asks other programs about those that came out clean (of the harmless ones: about those that did not). */
export async function compareReaders(options: {
  seed: number;
  count: number;
  harmless_count: number;
  ask_all?: boolean;
  keep?: string | undefined;
  onProgress?: (done: number) => void;
}): Promise<Comparison> {
  const { seed, count, harmless_count, ask_all = false, keep, onProgress } = options;
  const rules = await compileRules(join(SIGNATURES_FOLDER, 'rules'));
  const live = await livePayloads(rules);
  const { usable, missing } = usableWrappers();
  const folder = mkdtempSync(join(tmpdir(), 'palisade-compare-'));
  const writers = openWriters();
  try {
    const readOne = async (index: number, payloads: readonly Payload[], prefix: string) => {
      const file = await generate({ seed, index, payloads }, usable, writers);
      const path = join(folder, `${prefix}-${index}`);
      writeFileSync(path, file.bytes);
      const { threat, unread } = await examine(
        { path, size: file.bytes.length, name: file.name },
        { match: (bytes, onPlaces) => rules.match(bytes, onPlaces), limits: SCAN_LIMITS, folder: join(folder, 'unpacked') },
      );
      const verdict = threat !== null ? 'infected' : unread.length > 0 ? `pending ${unread.join(' ')}` : 'clean';
      const compared: Compared = {
        index,
        chain: file.chain,
        payload: file.payload.name,
        verdict,
        opened: undefined,
        flawed: file.flawed,
      };
      return { path, payload: file.payload, compared };
    };
    const readAll = async (
      files: number,
      payloads: readonly Payload[],
      prefix: string,
      isAsked: (verdict: string) => boolean,
    ) => {
      const all: Awaited<ReturnType<typeof readOne>>[] = [];
      for (let index = 0; index < files; index += 1) {
        const one = await readOne(index, payloads, prefix);
        all.push(one);
        if (!isAsked(one.compared.verdict)) rmSync(one.path);
        onProgress?.(all.length);
      }
      const asked = all.filter(({ compared }) => isAsked(compared.verdict));
      const answers = await ask(asked);
      for (const { path, compared } of asked) compared.opened = answers.get(path);
      return all;
    };
    const found = await readAll(count, live, 'live', (verdict) => ask_all || verdict === 'clean');
    const harmless = await readAll(harmless_count, harmlessPayloads(live), 'harmless', (verdict) => verdict !== 'clean');

    const isOpened = ({ opened }: Compared) => typeof opened === 'string';
    const missed = found.filter(({ compared }) => compared.verdict === 'clean' && isOpened(compared));
    if (keep !== undefined) {
      mkdirSync(keep, { recursive: true });
      for (const { path, compared } of missed) copyFileSync(path, join(keep, `${compared.index}`));
    }
    const wrappers: Record<string, WrapperCount> = {};
    for (const { compared } of found) {
      const outermost = compared.chain.at(-1) ?? 'nothing';
      const row = wrappers[outermost] ?? { files: 0, read: 0, pending: 0, why: {}, silently_missed: 0, opened_by_nobody: 0 };
      wrappers[outermost] = row;
      row.files += 1;
      const [word, ...why] = compared.verdict.split(' ');
      if (word === 'infected') row.read += 1;
      else if (word === 'pending') {
        row.pending += 1;
        for (const detail of why) row.why[detail] = (row.why[detail] ?? 0) + 1;
      } else if (isOpened(compared)) row.silently_missed += 1;
      else row.opened_by_nobody += 1;
    }
    const asked = found.filter(({ compared }) => compared.opened !== undefined);
    return {
      files: found.length,
      infected: found.filter(({ compared }) => compared.verdict === 'infected').length,
      pending: found.filter(({ compared }) => compared.verdict.startsWith('pending')).length,
      harmless: {
        files: harmless.length,
        clean: harmless.filter(({ compared }) => compared.verdict === 'clean').length,
        pending_though_opened: harmless
          .filter(({ compared }) => compared.verdict.startsWith('pending') && isOpened(compared) && !compared.flawed)
          .map(({ compared }) => titleOf(compared)),
        infected: harmless.filter(({ compared }) => compared.verdict === 'infected').map(({ compared }) => titleOf(compared)),
      },
      silently_missed: missed.map(({ compared }) => titleOf(compared)),
      missing_programs: missing,
      wrappers: Object.fromEntries(Object.entries(wrappers).sort(([one], [other]) => one.localeCompare(other))),
      asked: asked.length,
      opened: asked.filter(({ compared }) => isOpened(compared)).length,
    };
  } finally {
    writers.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
