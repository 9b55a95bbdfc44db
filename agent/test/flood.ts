import { closeSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

// A local user who floods their own watched folder: `node flood.ts renames|folders|files|sparse FOLDER SECONDS`.
const [kind = '', folder = '', seconds = '30'] = process.argv.slice(2);
const until = performance.now() + Number(seconds) * 1_000;
const at = (name: string) => join(folder, name);
let count = 0;

const FLOODS: Record<string, () => void> = {
  renames() {
    renameSync(at('a'), at('b'));
    renameSync(at('b'), at('a'));
  },
  folders() {
    const name = at(`d${count % 3_000}`);
    mkdirSync(name, { recursive: true });
    writeFileSync(join(name, `${count}`), `${count}`);
    rmSync(name, { recursive: true, force: true });
  },
  files() {
    writeFileSync(at(`f${count % 20_000}`), `harmless ${count}`);
  },
  sparse() {
    if (count >= 12) return;
    const file = openSync(at(`sparse${count}`), 'w');
    ftruncateSync(file, 2 * 1024 ** 3 - 1);
    writeSync(file, 'x', 1024 ** 3);
    closeSync(file);
  },
};
const flood = FLOODS[kind];
if (flood === undefined) throw new Error(`no such flood: ${kind}`);
writeFileSync(at('a'), 'harmless');
process.stdout.write('ready\n');
for (; performance.now() < until; count += 1) {
  flood();
  // The work is done: the files exist.
  if (kind === 'sparse' && count >= 12) break;
}
