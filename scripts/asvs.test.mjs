// Holds docs/asvs.md and SECURITY.md: every requirement of OWASP ASVS 5.0.0 at levels 1 and 2 has one row with a status, and what the rows and the text point at is there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ASVS_LEVELS } from './asvs-levels.mjs';
import { ROOT } from './node-runtime.mjs';

const STATUSES = ['met', 'not met', 'does not apply'];
const text = readFileSync(join(ROOT, 'docs/asvs.md'), 'utf8');
const security = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
const rows = [...text.matchAll(/^\| (\d+\.\d+\.\d+) \| (\d) \| (.*?) \| (.*?) \| (.*) \|$/gm)].map(
  ([, id = '', level = '', asks = '', status = '', why = '']) => ({ id, level: Number(level), asks, status, why }),
);

/** Links to files, with the words of the file that stand behind them in italics. @param {string} markdown */
function links(markdown) {
  return [...markdown.matchAll(/\[[^\]]+\]\(([^)#]+)\)(?:: \*([^*]+)\*)?/g)].map(([, path = '', words]) => ({ path, words }));
}

/** What is wrong with a row, as sentences. @param {{ id: string, level: number, asks: string, status: string, why: string }} row */
function faultsOf({ id, level, asks, status, why }) {
  const faults = [];
  if (ASVS_LEVELS.get(id) !== level) faults.push('is of another level, or of none');
  if (asks.split(' ').length > 12) faults.push('asks in more than a dozen words');
  if (!STATUSES.includes(status)) faults.push(`is "${status}"`);
  if (why.trim() === '') faults.push('has no reason');
  if (status === 'met' && links(why).length === 0) faults.push('is met by nothing that can be looked at');
  return faults.map((fault) => `${id} ${fault}`);
}

/** Links of a document in `folder` that lead nowhere, or to a file without the words. @param {string} markdown @param {string} folder */
function deadLinks(markdown, folder) {
  return links(markdown).filter(({ path, words }) => {
    const file = join(ROOT, folder, path);
    return !existsSync(file) || (words !== undefined && !readFileSync(file, 'utf8').includes(words));
  });
}

describe('docs/asvs.md and SECURITY.md', () => {
  test('has each requirement of both levels once', () => {
    expect(ASVS_LEVELS.size).toBe(253);
    expect(rows.map(({ id }) => id)).toEqual([...ASVS_LEVELS.keys()].sort(byNumber));
  });

  test('has a status for each, and for what is met something to look at', () => {
    expect(rows.flatMap(faultsOf)).toEqual([]);
  });

  test('link to files that are there and say what they say of them', () => {
    expect(links(text).length + links(security).length).toBeGreaterThan(150);
    expect(deadLinks(text, 'docs')).toEqual([]);
    expect(deadLinks(security, '')).toEqual([]);
  });

  test('counts right', () => {
    const [met, notMet, no] = STATUSES.map((status) => rows.filter((row) => row.status === status).length);
    expect(text).toContain(`253 requirements: ${met} met, ${notMet} not met, ${no} do not apply.`);
  });
});

describe('the check bites', () => {
  const good = { id: '1.1.1', level: 2, asks: 'Decode once', status: 'met', why: '[x](SECURITY.md)' };

  test.each([
    [{ ...good, id: '1.2.10', level: 3 }, 'is of another level'],
    [{ ...good, level: 1 }, 'is of another level'],
    [{ ...good, asks: 'a '.repeat(13).trim() }, 'more than a dozen'],
    [{ ...good, status: 'almost' }, 'is "almost"'],
    [{ ...good, status: 'not met', why: ' ' }, 'has no reason'],
    [{ ...good, why: 'We thought of it' }, 'met by nothing'],
    [{ ...good, why: '[Sessions](#sessions) in this file' }, 'met by nothing'],
  ])('on %j', (row, fault) => {
    expect(faultsOf(good)).toEqual([]);
    expect(faultsOf(row)).toEqual([expect.stringContaining(fault)]);
  });

  test('on links to what is not there', () => {
    expect(deadLinks('[x](SECURITY.md), [y](nothing.ts), [z](LICENSE): *words that no licence has*', '')).toHaveLength(2);
  });
});

/** @param {string} a @param {string} b */
function byNumber(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
