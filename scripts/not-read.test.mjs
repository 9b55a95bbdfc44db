// Holds the list of what is not read: it is what the formats say of themselves.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { notRead, PAGE, withList } from './not-read.mjs';

test('the list of what is not read is that of the formats: if not, run node scripts/not-read.mjs', async () => {
  const page = readFileSync(PAGE, 'utf8');
  const list = await notRead();
  expect(list).toContain('LUKS');
  expect(withList(page, list)).toBe(page);
});
