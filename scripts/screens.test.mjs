import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

/** @param {string} file @param {RegExp} what */
function found(file, what) {
  return [...readFileSync(join(ROOT, file), 'utf8').matchAll(what)].map(([, path = '']) => path);
}

test('journeys and measurements go to every screen that the router has', () => {
  // A screen for each record, and what is drawn for every other path, have no path of their own.
  const routes = found('web/src/app/router.tsx', /\bpath: '([^':*]+)'/gu).map((path) => `/${path}`);
  expect(routes.length).toBeGreaterThan(20);
  expect(found('e2e/screens.ts', /^ {2}'(\/[^']+)',$/gmu).toSorted()).toEqual(routes.toSorted());
});
