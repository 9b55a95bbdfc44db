import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

test('journeys and measurements go to every screen of the table', async () => {
  /** @type {Record<string, string[]>} */
  const { SCREENS = [], SCREENS_AND_SIGN_IN } = await import(pathToFileURL(join(ROOT, 'e2e/screens.ts')).href);
  const table = readFileSync(join(ROOT, 'web/src/app/screens.tsx'), 'utf8');
  const screens = table.match(/^ {4}load: /gmu) ?? [];
  const records = table.match(/^ {4}path: '[^']*:[^']*',$/gmu) ?? [];
  expect(screens.length).toBeGreaterThan(20);
  // And the chat in a window of its own.
  expect(SCREENS).toHaveLength(screens.length - records.length + 1);
  expect(new Set(SCREENS_AND_SIGN_IN).size).toBe(SCREENS.length + 1);
  expect(SCREENS[0]).toBe('/dashboard');
});
