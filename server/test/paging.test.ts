import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));
/** The one place that reads page by page. */
const PAGING = 'platform/batches.ts';
/** A loop without a list that it goes through: it ends by what it finds. */
const OPEN_LOOP = /^( *)(?:for \([^)]*;[^)]*;[^\n]*\) \{|while \([^\n]*\) \{|do \{)\n([\s\S]*?)^\1\}/gm;
/** A page of the database: rows up to a limit, which are then awaited. */
const PAGE = /\.limit\([A-Z_a-z.]+\)/;

/** Loops of a source text that read the database page by page. */
function ownPagings(text: string): string[] {
  return [...text.matchAll(OPEN_LOOP)].flatMap(([loop, , body = '']) =>
    PAGE.test(body) && body.includes('await') && !body.includes('inPages(') ? [loop.split('\n', 1)[0]?.trim() ?? ''] : [],
  );
}

test('a long list is read by inPages alone, which gives way to the event loop', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== PAGING,
  );
  const found = files.flatMap((name) => ownPagings(readFileSync(join(SOURCE, name), 'utf8')).map((loop) => `${name}: ${loop}`));
  expect(found).toEqual([]);
  expect(files.length).toBeGreaterThan(100);
});

test.each(['for (let after = 0; ; ) {', 'for (;;) {', 'for (let full = true; full; ) {', 'while (more) {', 'do {'])(
  'a loop of its own is found: %s',
  (head) => {
    const text = `async function read() {\n  ${head}\n    const rows = await database.selectFrom('scans').limit(AT_ONCE).execute();\n  }\n}\n`;
    expect(ownPagings(text)).toEqual([head]);
    expect(ownPagings(text.replace('.limit(AT_ONCE)', ''))).toEqual([]);
  },
);
