// Measures the processor time of the scanner's readers beside another checkout of the project, file by file in turn in one process: the least of several runs each. Time on the clock says nothing on a busy machine.
// No bar, no peer program. `node bench/reader-speed.ts OTHER_CHECKOUT [RUNS]`.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { eicarContainers, zip } from './files.ts';
import { createHomeFiles } from './home-files.ts';
import { ROOT } from './server.ts';

const [other = ROOT, runs = '5'] = process.argv.slice(2);
const KIB = 1024;
const MIB = 1024 ** 2;
const folder = mkdtempSync(join(tmpdir(), 'palisade-reader-speed-'));

type Match = (bytes: Buffer) => unknown[];
type Examine = (file: { bytes: Buffer; size: number; name: string }, parts: object) => Promise<{ threat: string | null }>;
const isFunction = (value: unknown) => typeof value === 'function';
const examineSchema = z.object({ examine: z.custom<Examine>(isFunction) });
const rulesSchema = z.object({ compileRules: z.custom<(folder: string) => Promise<{ match: Match }>>(isFunction) });
const limitsSchema = z.object({ SCAN_LIMITS: z.looseObject({}) });

/** Reads a file as a checkout does; answers the threat. */
async function readerOf(root: string): Promise<(bytes: Buffer) => Promise<string | null>> {
  const load = (name: string): Promise<unknown> => import(pathToFileURL(join(root, 'scanner/src', name)).href);
  const { examine } = examineSchema.parse(await load('walk/examine.ts'));
  const { compileRules } = rulesSchema.parse(await load('rules/rules.ts'));
  const { SCAN_LIMITS: limits } = limitsSchema.parse(await load('walk/limits.ts'));
  const { match } = await compileRules(join(root, 'server/signatures/rules'));
  return async (bytes) => {
    const parts = { match, limits: { ...limits, time_ms: 600_000 }, folder: join(folder, 'unpacked') };
    return (await examine({ bytes, size: bytes.length, name: 'file' }, parts)).threat;
  };
}

/** Scripts and texts of the packages that are installed here, the same for both. */
function packageFiles(): Buffer[] {
  const files: Buffer[] = [];
  for (const name of ['zod', 'kysely', 'fastify', 'react-dom', 'vitest']) {
    const root = join(ROOT, 'node_modules', name);
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:c?js|ts|json|md)$/.test(file));
    for (const file of names.sort().slice(0, 20)) files.push(readFileSync(join(root, file)));
  }
  return files;
}

const nextHomeFile = createHomeFiles(269);
const GROUPS: readonly (readonly [string, readonly Buffer[]])[] = [
  ['random bytes, 16 MB', [randomBytes(16 * MIB)]],
  ['random bytes, 4 KB', Array.from({ length: 100 }, () => randomBytes(4 * KIB))],
  [
    'zip of 300 members of 32 KB',
    [zip(Array.from({ length: 300 }, (_, index) => ({ name: `${index}.bin`, content: randomBytes(32 * KIB) })))],
  ],
  ['EICAR in containers', [...eicarContainers().values()]],
  ['files of a home', Array.from({ length: 200 }, () => nextHomeFile().content)],
  ['files of packages', packageFiles()],
  ['gzip of the files of packages', [gzipSync(Buffer.concat(packageFiles()))]],
];

const readers = [await readerOf(ROOT), await readerOf(other)];
const rows = [];
for (const [group, files] of GROUPS) {
  const least = readers.map(() => Number.POSITIVE_INFINITY);
  const found = readers.map(() => 0);
  for (let run = 0; run <= Number(runs); run += 1) {
    for (const [index, read] of readers.entries()) {
      const began = process.cpuUsage();
      let threats = 0;
      for (const file of files) threats += (await read(file)) === null ? 0 : 1;
      const { user, system } = process.cpuUsage(began);
      found[index] = threats;
      // The first run warms up.
      if (run > 0) least[index] = Math.min(least[index] ?? 0, (user + system) / 1000);
    }
  }
  const [ours = 0, theirs = 0] = least;
  rows.push({
    group,
    'this ms': ours.toFixed(1),
    'other ms': theirs.toFixed(1),
    ratio: (ours / theirs).toFixed(3),
    found: found.join(' / '),
  });
}
console.table(rows);
rmSync(folder, { recursive: true, force: true });
