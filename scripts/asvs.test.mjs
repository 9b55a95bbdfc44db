// Checks the list of OWASP ASVS 5.0.0: every requirement of levels 1 and 2 is there once with a status; proofs are checked in proofs.test.mjs. Checks the links of SECURITY.md, too.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ASVS_LEVELS } from './asvs-levels.mjs';
import { ASVS } from './claims/asvs.mjs';
import { ROOT } from './node-runtime.mjs';
import { isThere } from './proofs.mjs';

const STATUSES = ['met', 'not met', 'does not apply'];
const security = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');

/** The faults of a requirement, as sentences. @param {import('./proofs.mjs').Claim} claim */
function wrongIn({ id, asks = '', status = '', note = '' }) {
  const faults = [];
  if (!ASVS_LEVELS.has(id.replace('asvs-', ''))) faults.push('is of another level, or of none');
  if (asks.trim() === '' || asks.split(' ').length > 12) faults.push('asks in no words, or in more than a dozen');
  if (!STATUSES.includes(status)) faults.push(`is "${status}"`);
  if (status !== 'met' && note.trim() === '') faults.push('has no reason');
  return faults.map((fault) => `${id} ${fault}`);
}

/** Links of a text that lead nowhere, or to a file without the words that follow in italics. @param {string} markdown */
function deadLinks(markdown) {
  return [...markdown.matchAll(/\[[^\]]+\]\(([^)#:]+)\)(?:: \*([^*]+)\*)?/g)]
    .map(([, path = '', words]) => (words === undefined ? path : `${path}: ${words}`))
    .filter((place) => !isThere(place));
}

describe('the requirements of ASVS', () => {
  test('are each of both levels once, in order', () => {
    expect(ASVS_LEVELS.size).toBe(253);
    expect(ASVS.map(({ id }) => id.replace('asvs-', ''))).toEqual([...ASVS_LEVELS.keys()].sort(byNumber));
  });

  test('have a status, and a reason where they are not met', () => {
    expect(ASVS.flatMap(wrongIn)).toEqual([]);
  });

  test('are counted in SECURITY.md', () => {
    const [met, notMet, no] = STATUSES.map((status) => ASVS.filter((claim) => claim.status === status).length);
    expect(security).toContain(`253 requirements: ${met} met, ${notMet} not met, ${no} do not apply.`);
  });
});

test('SECURITY.md links to what is there', () => {
  expect(deadLinks(security)).toEqual([]);
});

describe('the check bites', () => {
  const good = { id: 'asvs-1.1.1', asks: 'Decode once', status: 'met' };

  test.each([
    [{ ...good, id: 'asvs-1.2.999' }, 'is of another level'],
    [{ ...good, asks: 'a '.repeat(13).trim() }, 'more than a dozen'],
    [{ ...good, status: 'almost', note: 'because' }, 'is "almost"'],
    [{ ...good, status: 'not met', note: ' ' }, 'has no reason'],
  ])('on %j', (claim, fault) => {
    expect(wrongIn(good)).toEqual([]);
    expect(wrongIn(claim)).toEqual([expect.stringContaining(fault)]);
  });

  test('on links to what is not there', () => {
    expect(deadLinks('[x](SECURITY.md), [y](nothing.ts), [z](LICENSE): *words that no licence has*')).toHaveLength(2);
  });
});

/** @param {string} a @param {string} b */
function byNumber(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
