// Holds that a date, a choice and a form are alike on every screen, and that all screens write in one way: dates are written by one file, selects are drawn by two components,
// a write goes through `useChange`, and what has been read is changed by `changeList`.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './node-runtime.mjs';

/** Forms of text, each with the only place that writes it. `intl.test.mjs` holds that no file has formatters of its own. */
const HOMES = [
  { what: /\bformat(?:Date|Relative)\(/u, homes: ['ui/moment.tsx'] },
  { what: /<(?:select|NativeSelect|Select)\b/u, homes: ['ui/choice.tsx', 'ui/list-filters.tsx'] },
  // The sign-in page has one of its own: it is a reducer, and comes before any other screen.
  { what: /<form\b/u, homes: ['ui/form.tsx', 'features/auth/auth-form.tsx'] },
  { what: /\buseMutation\b/u, homes: ['api/change.ts'] },
  // A key may belong to an input method, which each browser tells in its own way.
  { what: /\btype="email"/u, homes: ['ui/email-field.tsx'] },
  { what: /'(?:Enter|Escape)'|\bisComposing\b|\bkeyCode\b/u, homes: ['ui/pressed.ts'] },
  { what: /\b(?:setQuer(?:y|ies)Data|cancelQueries)\b/u, homes: ['api/change-list.ts'] },
];

/** @param {string} name @param {string} source */
function strays(name, source) {
  return HOMES.filter(({ what, homes }) => what.test(source) && !homes.includes(name)).map(({ what }) => `${name}: ${what}`);
}

// proves: product-2.8-8
test('dates are written by one file, selects drawn by two components, forms are Form, Enter means one thing, all writes are useChange, and lists are changed by changeList', () => {
  const folder = join(ROOT, 'web/src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/u.test(name) && !name.includes('.test.'),
  );
  expect(sources.length).toBeGreaterThan(150);
  expect(sources.flatMap((name) => strays(name, readFileSync(join(folder, name), 'utf8')))).toEqual([]);
  // A form that occurs nowhere would check nothing.
  for (const { what, homes } of HOMES) {
    for (const home of homes) expect(readFileSync(join(folder, home), 'utf8'), home).toMatch(what);
  }
});

test('queries are in domain/ and features/, which know the records, and not in ui/ or api/', () => {
  const folder = join(ROOT, 'web/src');
  const knowing = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /^(?:ui|api)\/.*(?<!\.test)\.tsx?$/u.test(name) && /\bqueryKey: \[/u.test(readFileSync(join(folder, name), 'utf8')),
  );
  expect(knowing).toEqual([]);
});

test('a form with a password names its account to password managers', () => {
  const folder = join(ROOT, 'web/src');
  const nameless = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    if (!/(?<!\.test)\.tsx$/u.test(name)) return false;
    const source = readFileSync(join(folder, name), 'utf8');
    return /autoComplete="(?:current|new)-password"/u.test(source) && !source.includes('<AccountName ');
  });
  // The page of an invitation learns the email with the answer.
  expect(nameless).toEqual(['features/auth/invitation-page.tsx']);
});

test('the check bites', () => {
  expect(strays('ui/new.tsx', "formatDate('day', at, { time_zone })")).toHaveLength(1);
  expect(strays('features/a/b.tsx', '<select aria-label="x">')).toHaveLength(1);
  expect(strays('features/a/b.tsx', '<form onSubmit={submit}>')).toHaveLength(1);
  expect(strays('features/a/b.tsx', "if (event.key === 'Enter') send();")).toHaveLength(1);
  expect(strays('features/a/b.tsx', 'useMutation({ mutationFn })')).toHaveLength(1);
  expect(strays('features/a/b.tsx', 'queries.setQueryData(key, rows)')).toHaveLength(1);
  expect(strays('features/a/b.tsx', 'describeDate(iso)')).toEqual([]);
});
