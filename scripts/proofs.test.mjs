// Checks that every claim has a proof and every tag names a claim.
import { expect, test } from 'vitest';
import { abuseClaims, allClaims, allProofs, faultsOf, isThere, proofsOf, reportOf } from './proofs.mjs';
import { faultOf } from './prose.mjs';

const sets = allClaims();
const claims = sets.flatMap((set) => set.claims);
const { proofs, faults } = allProofs();

test('every claim has a proof, and every tag a claim: if not, see CONTRIBUTING.md', () => {
  expect(proofs.length).toBeGreaterThan(400);
  expect([...faults, ...faultsOf(claims, proofs)]).toEqual([]);
});

test('claims are plain sentences', () => {
  const texts = claims.flatMap(({ says, asks, note }) => [says, asks, note]).flatMap((text) => text?.split(': ') ?? []);
  expect(texts.length).toBeGreaterThan(500);
  expect(texts.filter((text) => faultOf(text) !== undefined)).toEqual([]);
});

test('the report has a row for each claim, with what shows it', () => {
  const rows = reportOf(sets, proofs)
    .split('\n')
    .filter((line) => /^\| [a-z]+-/.test(line));
  expect(rows.map((row) => row.split(' | ')[0]?.slice(2))).toEqual(claims.map(({ id }) => id));
  expect(rows.find((row) => row.startsWith('| attack-A.1-1 '))).toContain('hostile-readers.deep.test.ts: *');
});

test('a tag counts above a test, a group, a table of cases or a named row, and nowhere else', () => {
  const tag = '// proves: a-1, a-2';
  const ids = ['a-1', 'a-2'];
  const found = (/** @type {string[]} */ ...lines) => proofsOf('x.test.ts', ['', tag, ...lines].join('\n'));
  const named = (/** @type {string} */ name) => ({ proofs: [{ ids, file: 'x.test.ts', test: name }], faults: [] });
  expect(found("test('does it', () => {")).toEqual(named('does it'));
  expect(found('// Why.', "describe('it', () => {")).toEqual(named('it'));
  expect(found('test(', "  'does it', async () => {")).toEqual(named('does it'));
  expect(found("test.skipIf(missing)('does it', () => {")).toEqual(named('does it'));
  expect(found("needing('root', can).test('does it', () => {")).toEqual(named('does it'));
  expect(found('test.each<[string, (n: number) => void]>([', "  ['a case', go],", "])('does %s', () => {")).toEqual(
    named('does %s'),
  );
  expect(found('test.each([', "  ['a case', go],", '])(', "  'does %s',")).toEqual(named('does %s'));
  expect(found("test.each(['a case'])(", "  'does %s',")).toEqual(named('does %s'));
  expect(found("  ['a case', go],")).toEqual(named('a case'));
  expect(found("hostile('a file', () => make());")).toEqual(named('a file'));
  for (const line of ["test.skip('does it', () => {", "test.todo('does it');", 'const x = 1;', '}', ''])
    expect(found(line), line).toEqual({ proofs: [], faults: [expect.stringContaining('x.test.ts:2')] });
  expect(proofsOf('x.test.ts', `${tag}\ntest('does it', () => {});`)).toEqual(named('the whole file'));
  expect(proofsOf('x.test.ts', `${tag}\nexport const x = 1;`).faults).toHaveLength(1);
});

test('a claim without proof, an unknown tag, a missing place and an id that occurs twice are faults', () => {
  const proof = { ids: ['a-1'], file: 'x.test.ts', test: 'does it' };
  expect(faultsOf([{ id: 'a-1', says: 'It does' }], [proof])).toEqual([]);
  expect(
    faultsOf(
      [
        { id: 'a-1', says: 'It does' },
        { id: 'a-2', says: 'It does more' },
      ],
      [proof],
    ),
  ).toEqual(['a-2 has no proof']);
  expect(faultsOf([], [proof])).toEqual(['x.test.ts: "does it" proves a-1, which is no claim']);
  expect(
    faultsOf(
      [
        { id: 'a-1', says: 'It does' },
        { id: 'a-1', says: 'It does' },
      ],
      [proof],
    ),
  ).toEqual(['a-1 is there twice']);
  expect(faultsOf([{ id: 'b-1', says: 'It is fast', shown_in: ['docs/measured.md: no such row'] }], [])).toEqual([
    'b-1: docs/measured.md: no such row is not there',
  ]);
  expect(faultsOf([{ id: 'c-1', asks: 'More', status: 'not met', note: 'Too much' }], [])).toEqual([]);
  expect(faultsOf([{ id: 'c-1', asks: 'More', status: 'met' }], [])).toEqual(['c-1 has no proof']);
  expect(isThere('SECURITY.md#limits') && isThere('LICENSE: Apache License')).toBe(true);
  expect(isThere('SECURITY.md#no-such') || isThere('LICENSE: words that no licence has') || isThere('nothing.ts')).toBe(false);
  expect(abuseClaims('| security-1 | an abuse | its answer |\n| other | a | b |')).toEqual([
    { id: 'security-1', says: 'an abuse: its answer' },
  ]);
});
