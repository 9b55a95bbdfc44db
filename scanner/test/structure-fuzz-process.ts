import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { examine } from '#scanner/walk/examine.ts';
import { EICAR } from './files.ts';
import { mutant, PASSWORD, seeds } from './structure-fuzz.ts';

// Reads bent files, one after the other, as an engine process does, and reports the cost of each. The parent watches, and ends it.

const orderSchema = z.object({
  seed: z.int(),
  from: z.int(),
  to: z.int(),
  step: z.int(),
  folder: z.string(),
  reads_seeds: z.boolean(),
});
const EICAR_FOUND = [
  { rule: 'EICAR', threat: 'EICAR', description: 'EICAR', severity: 'high', reference: null, verdict: 'infected' },
] as const;
const PAGE_BYTES = 4096;

/** Memory of the process, and its maximum since the last question. Bytes. */
function memory(): { now: number; peak: number } {
  const status = readFileSync('/proc/self/status', 'latin1');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  const found = { now: kib('VmRSS') * 1024, peak: kib('VmHWM') * 1024 };
  // Sets VmHWM back (proc(5), clear_refs).
  writeFileSync('/proc/self/clear_refs', '5');
  return found;
}

async function read(bytes: Buffer, folder: string) {
  const path = join(folder, `upload-${process.pid}`);
  writeFileSync(path, bytes);
  return await examine(
    { path, size: bytes.length, name: 'file' },
    {
      match: (piece) => (piece.includes(EICAR) ? [...EICAR_FOUND] : []),
      limits: SCAN_LIMITS,
      folder: join(folder, `unpacked-${process.pid}`),
      password: PASSWORD,
    },
  );
}

process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  const order = orderSchema.parse(message);
  void (async () => {
    const all = await seeds();
    const missed: string[] = [];
    for (const [name, bytes] of order.reads_seeds ? all : [])
      if ((await read(bytes, order.folder)).threat === null) missed.push(name);
    const { now: idle } = memory();
    process.send?.({ kind: 'ready', idle: idle + PAGE_BYTES, missed });
    for (let index = order.from; index < order.to; index += order.step) {
      const { name, bytes } = mutant(all, order.seed, index);
      process.send?.({ kind: 'begun', index });
      const began = performance.now();
      let verdict: string;
      try {
        const { threat, unread } = await read(bytes, order.folder);
        verdict = threat !== null ? 'infected' : unread.length > 0 ? `pending ${unread.join(' ')}` : 'clean';
      } catch (error) {
        verdict = `thrown ${error instanceof Error ? error.stack : String(error)}`;
      }
      if (verdict === 'clean') writeFileSync(join(order.folder, `clean-${index}`), bytes);
      process.send?.({ kind: 'read', index, name, verdict, ms: performance.now() - began, size: bytes.length, ...memory() });
    }
    process.send?.({ kind: 'done' });
  })();
});
