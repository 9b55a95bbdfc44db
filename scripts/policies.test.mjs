import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

/** A role that is compared where a policy should be asked (contract/src/may.ts): each such place decides anew what a role may, and a new role is forgotten in one of them. */
const COMPARED = /\brole\s*[!=]==?\s*'/u;

/** Files that compare roles all the same, and why. */
const REASONS = new Map([
  ['contract/src/may.ts', 'the policies themselves'],
  [
    'server/src/features/auth/required-factor.ts',
    'REQUIRE_TWO_FACTOR=staff asks it of all who are no customers, a role that comes as well',
  ],
  ['server/src/features/scam-check/scam-check.ts', 'the role of an organisation in a message'],
  ['web/src/app/first.ts', 'a stored role, which nothing has checked yet, chooses what is asked early'],
  ['web/src/features/administration/user-table.tsx', 'the colour of a badge'],
]);

/** @param {string} folder */
function sources(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/u.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

test('a role is compared by the policies of the contract alone', () => {
  const files = ['contract/src', 'server/src', 'agent/src', 'web/src'].flatMap(sources);
  expect(files.length).toBeGreaterThan(300);
  const comparing = files.filter((file) => COMPARED.test(readFileSync(file, 'utf8'))).map((file) => relative(ROOT, file));
  expect(comparing.filter((file) => !REASONS.has(file))).toEqual([]);
});

test.each(["role === 'admin'", "user.role !== 'support'", "me.role == 'customer'"])('%s is such a comparison', (text) => {
  expect(COMPARED.test(text)).toBe(true);
});
