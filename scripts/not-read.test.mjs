// Holds the page of what is not read: it says what the formats say of themselves.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { notRead, PAGE } from './not-read.mjs';

test('the page of what is not read is that of the formats: if not, run node scripts/not-read.mjs', async () => {
  const page = await notRead();
  expect(page).toContain('LUKS');
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
