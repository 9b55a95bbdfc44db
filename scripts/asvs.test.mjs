// Checks the list of OWASP ASVS 5.0.0: each requirement of levels 1 and 2 has a status, and a reason where it is not met. Proofs are checked in proofs.test.mjs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ASVS } from './claims/asvs.mjs';
import { ROOT } from './node-runtime.mjs';

const STATUSES = ['met', 'not met', 'does not apply'];

test('253 requirements are listed once, in order, each in a dozen words', () => {
  const ids = ASVS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(253);
  expect(ids).toEqual(ids.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })));
  expect(ASVS.filter(({ asks = '' }) => asks.trim() === '' || asks.split(' ').length > 12)).toEqual([]);
});

test('a requirement that is not met has its reason', () => {
  const wrong = ASVS.filter(
    ({ status = '', note = '' }) => !STATUSES.includes(status) || (status !== 'met' && note.trim() === ''),
  );
  expect(wrong).toEqual([]);
});

test('requirements are counted in SECURITY.md', () => {
  const [met, notMet, no] = STATUSES.map((status) => ASVS.filter((claim) => claim.status === status).length);
  expect(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')).toContain(
    `253 requirements: ${met} met, ${notMet} not met, ${no} do not apply.`,
  );
});
