import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { compileRules } from '#scanner/rules/rules.ts';
import { examine } from '#scanner/walk/examine.ts';
import { RECIPES } from './reader-recipes.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

// Reads files by their recipes as an engine process does, with the rules of the pack, and reports the cost of each. The parent watches, and ends it.

const orderSchema = z.object({
  reader: z.string(),
  numbers: z.array(z.int()),
  bytes: z.int(),
  folder: z.string(),
  time_ms: z.int().optional(),
});

/** Memory of the process, and its maximum since the last question. Bytes. */
function memory(): { now: number; peak: number } {
  const status = readFileSync('/proc/self/status', 'latin1');
  const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? Number.NaN);
  const found = { now: kib('VmRSS') * 1024, peak: kib('VmHWM') * 1024 };
  // Sets VmHWM back (proc(5), clear_refs).
  writeFileSync('/proc/self/clear_refs', '5');
  return found;
}

const rules = await compileRules(join(SIGNATURES_FOLDER, 'rules'));
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => {
  const { reader, numbers, bytes: size, folder, time_ms = SCAN_LIMITS.time_ms } = orderSchema.parse(message);
  void (async () => {
    const bytes = RECIPES[reader]?.(numbers, size) ?? Buffer.alloc(0);
    globalThis.gc?.();
    memory();
    const limits = { ...SCAN_LIMITS, time_ms };
    const budget = new Budget(limits, bytes.length);
    const began = process.cpuUsage();
    const parts = { match: rules.match, limits, folder: join(folder, `unpacked-${process.pid}`), budget };
    const { unread, media_type } = await examine({ bytes, size: bytes.length, name: 'file' }, parts);
    const { user, system } = process.cpuUsage(began);
    const { peak } = memory();
    globalThis.gc?.();
    process.send?.({
      ms: (user + system) / 1000,
      size: bytes.length,
      work: budget.work,
      unread,
      media_type,
      peak,
      now: memory().now,
    });
  })();
});
globalThis.gc?.();
process.send?.({ idle: memory().now });
