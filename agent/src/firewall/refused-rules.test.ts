import { expect, test } from 'vitest';
import { findRefusedRules } from './refused-rules.ts';

const rules = Array.from({ length: 13 }, (_, index) => ({ rule: { id: `rule ${index}` } }));
const refusing =
  (...bad: number[]) =>
  async (some: readonly { rule: { id: string } }[]) =>
    some
      .map(({ rule: { id } }) => id)
      .filter((id) => bad.some((index) => id === `rule ${index}`))
      .map((id) => `no ${id}`)[0];

test.each([[[0]], [[12]], [[6]], [[3, 4]], [[1, 7, 11]]])('each refused rule is named with its own message: %j', async (bad) => {
  const expected = bad.map((index) => ({ rule_id: `rule ${index}`, message: `no rule ${index}` }));
  expect((await findRefusedRules(rules, refusing(...bad))).toSorted((a, b) => a.message.localeCompare(b.message))).toEqual(
    expected.toSorted((a, b) => a.message.localeCompare(b.message)),
  );
});

test('none is named if the kernel takes all of them', async () => {
  expect(await findRefusedRules(rules, refusing())).toEqual([]);
});

test('a table that is refused without rules names none of them', async () => {
  const found = await findRefusedRules(rules, async () => 'the kernel has no nf_tables');
  expect(found).toEqual([{ rule_id: null, message: 'the kernel has no nf_tables' }]);
});

test('rules that are refused only together name one of them', async () => {
  const found = await findRefusedRules(rules, async (some) => (some.length === rules.length ? 'too many' : undefined));
  expect(found).toHaveLength(1);
  expect(found[0]?.message).toBe('too many');
});

test('five are named at most', async () => {
  expect(await findRefusedRules(rules, refusing(0, 1, 2, 3, 4, 5, 6))).toHaveLength(5);
});
