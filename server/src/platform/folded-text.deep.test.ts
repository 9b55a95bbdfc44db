import { foldText, nameOrder } from '@palisade/contract/text';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { freshDatabase, isPostgres } from '#test/harness.ts';
import { openDatabase } from './database.ts';
import { createTextFunctions } from './folded-text.ts';

const AT_ONCE = 4_096;
// Code points beyond are letters of Han, tags and letters of private use, all without case.
const LAST_CODE_POINT = 0x1ffff;

if (!isPostgres())
  process.stdout.write('palisade: every letter is folded by PostgreSQL in a test that needs TEST_DATABASE_URL\n');

/** Letters and marks of Unicode 15 to 17 that have a case, an order among marks or parts. */
const NEWER: readonly [number, number][] = [
  ...([
    [0x1add, 0x1aeb],
    [0x1c89, 0x1c8a],
    [0xa7cb, 0xa7dc],
    [0xa7f1, 0xa7f1],
    [0x105c9, 0x105e4],
    [0x10d40, 0x10d8f],
  ] as const),
  ...([
    [0x10efa, 0x10eff],
    [0x11380, 0x113e2],
    [0x11f00, 0x11f59],
    [0x16100, 0x16139],
    [0x16d40, 0x16d79],
  ] as const),
  ...([
    [0x16ea0, 0x16ed3],
    [0x1ccd6, 0x1ccf9],
    [0x1e030, 0x1e06d],
    [0x1e4d0, 0x1e4f9],
    [0x1e5d0, 0x1e5ff],
  ] as const),
].map(([first, last]) => [first, last]);

// The normal forms of PostgreSQL are those of its own version of Unicode (15.0 has 14): of letters that came later it knows no parts.
test.skipIf(!isPostgres())('PostgreSQL folds and orders every letter as this server does', { timeout: 300_000 }, async () => {
  const { location, dispose } = await freshDatabase();
  const database = openDatabase<Record<string, Record<string, unknown>>>(location);
  afterAll(async () => {
    await database.destroy();
    await dispose();
  });
  await createTextFunctions(database);
  const different: string[] = [];
  for (let from = 1; from <= LAST_CODE_POINT; from += AT_ONCE) {
    const points = Array.from({ length: AT_ONCE }, (_, offset) => from + offset).filter(
      (point) => point <= LAST_CODE_POINT && (point < 0xd800 || point > 0xdfff),
    );
    if (points.length === 0) continue;
    const texts = points.flatMap((point) => [String.fromCodePoint(point), `a${String.fromCodePoint(point)}\u0301i\u0307Σ`]);
    const { rows } = await sql<{ one: string; folded: string; place: Buffer }>`
      select one, fold_text(one) as folded, name_order(one) as place from unnest(${texts}::text[]) as all_of(one)`.execute(
      database,
    );
    for (const { one, folded, place } of rows)
      if (folded !== foldText(one) || String(place) !== nameOrder(one)) different.push(one);
  }
  const points = new Set(different.map((text) => text.replace(/^a(.+)\u0301i\u0307Σ$/su, '$1').codePointAt(0) ?? 0));
  const isNew = (point: number) => NEWER.some(([first, last]) => first <= point && point <= last);
  expect([...points].filter((point) => !isNew(point)).map((point) => point.toString(16))).toEqual([]);
});
