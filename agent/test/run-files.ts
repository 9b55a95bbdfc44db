import { type BigIntStats, lstatSync, readdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { createStore } from '#agent/store.ts';
import { seenSchema } from '#scan/catch-up.ts';
import { Quarantine } from '#scan/quarantine.ts';
import { Scans } from '#scan/scans.ts';
import { everybodysFolders } from '#scan/usual-folders.ts';
import { createWatching } from '#scan/watching.ts';
import { Proc } from '#telemetry/proc.ts';
import { takeStock } from '#telemetry/stock.ts';

/** The agent's own code behind a pipe, for tests that attack it: a question a line, an answer a line, several at a time. */
const questionSchema = z.object({
  number: z.int(),
  what: z.enum(['take', 'restore', 'folders', 'stock', 'scan', 'watch', 'proc', 'hello']),
  id: z.string().default(''),
  /** Latin-1: each character is a byte. */
  path: z.string().default(''),
});
type Question = z.infer<typeof questionSchema>;

const STATE = '/var/lib/agent';
const quarantine = new Quarantine(`${STATE}/quarantine`);
let seq = 0;
const found: unknown[] = [];
const scans = new Scans({
  state: STATE,
  happened: () => {},
  nextSeq: () => (seq += 1),
  isSaid: () => false,
  signatures: () => ({ rules_folder: process.argv[2] ?? '', feeds: [] }),
  log: (line) => process.stderr.write(`${line}\n`),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  say: (report) => found.push(...report.found),
});
const watching = createWatching({
  store: createStore(`${STATE}/watched-until.json`, seenSchema),
  log: () => {},
  now: Date.now,
  read: (file, lane) => scans.readNew(file, lane),
});
const proc = new Proc();

/** The entry of a walk at a path. */
function look(path: Buffer): { path: Buffer; stats: BigIntStats } | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : { path, stats };
}

/** Some plain file of a folder. */
function anyIn(folder: Buffer): ReturnType<typeof look> {
  try {
    const names = readdirSync(folder, { encoding: 'buffer' });
    const files = names.flatMap((name) => look(Buffer.concat([folder, Buffer.from('/'), name])) ?? []);
    const plain = files.filter(({ stats }) => stats.isFile());
    return plain[Math.floor(Math.random() * plain.length)];
  } catch {
    return undefined;
  }
}

async function answer({ what, id, path }: Question): Promise<Record<string, unknown>> {
  const bytes = Buffer.from(path, 'latin1');
  if (what === 'take') {
    const found_file = path.endsWith('/*') ? anyIn(bytes.subarray(0, -2)) : look(bytes);
    return found_file === undefined
      ? { ok: false, reason: 'nothing is there' }
      : await quarantine.take(id, found_file.path, found_file.stats);
  }
  if (what === 'restore') return { ...(await quarantine.restore(id)), path: undefined };
  if (what === 'folders') return { folders: await everybodysFolders() };
  if (what === 'stock') return { ...(await takeStock({ listening: async () => [], run: async () => '', now: Date.now })) };
  if (what === 'proc') return { ...(await proc.read()) };
  if (what === 'scan') return { ...(await scans.scanNow(path, () => {})) };
  if (what === 'watch' && path !== '') await watching.want([bytes], []);
  return { found: [...found], folders: watching.state().folders };
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const question = questionSchema.parse(JSON.parse(line));
  void answer(question)
    .catch((error: unknown) => ({ ok: false, error: String(error) }))
    .then((said) => process.stdout.write(`${JSON.stringify({ ...said, number: question.number })}\n`));
});
process.once('SIGTERM', () => process.exit());
