import { foldText, nameOrder } from '@palisade/contract/text';
import SqliteDatabase from 'better-sqlite3';
import { type Kysely, sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { migrations } from '#migrations/all.ts';
import { freshDatabase } from '#test/harness.ts';
import { openDatabase } from './database.ts';
import { registerTextFunctions } from './folded-text.ts';
import { migrate } from './migrations.ts';
import { containing } from './page.ts';

/** Stored text, searched text, and whether it matches. The same table is tried on SQLite and PostgreSQL. */
const CASES: [string, string, boolean][] = [
  ['ÜBERSICHT.pdf', 'übersicht', true],
  ['ÜBERSICHT.pdf'.normalize('NFD'), 'übersicht', true],
  ['übersicht.pdf', 'ÜBERSICHT'.normalize('NFD'), true],
  ['ΟΔΥΣΣΕΥΣ', 'οδυσσευς', true],
  ['οδυσσεύς', 'ΟΔΥΣΣΕΎΣ', true],
  ['Straße', 'STRASSE', true],
  ['STRASSE', 'straße', true],
  ['STRAẞE', 'strasse', true],
  ['İSTANBUL', 'istanbul', true],
  ['istanbul', 'İSTANBUL', true],
  ['ISPARTA', 'ısparta', true],
  ['ДОГОВОР.docx', 'договор', true],
  ['ԵՐԵՎԱՆ', 'երեվան', true],
  ['Ꭰꭰ', 'ꭰꭰ', true],
  ['ＲＥＰＯＲＴ．ｐｄｆ', 'report.pdf', true],
  ['ﬁle', 'FILE', true],
  ['可能性', '能', true],
  ['한글.hwp'.normalize('NFD'), '한글', true],
  ['re\u00adport', 'report', true],
  ['می\u200cخواهم', 'میخواهم', true],
  ['क्\u200dष', 'क्ष', true],
  ['ǅungla', 'ǆungla', true],
  ['\u1112\u1161\u11ab글', '한글', true],
  ['ｶﾞﾗｽ', 'ガラス', true],
  ['ﻣﺮﺣﺒﺎ', 'مرحبا', true],
  ['Οδός', 'ΟΔΌΣ', true],
  ['㎏', 'KG', true],
  ['100 % sure', '%', true],
  ['report_1', '_', true],
  ['report', '%', false],
  ['report', '_', false],
  ['resumé', 'resume', false],
  ['καλημέρα', 'xyz', false],
  ["O'Brien \\ Söhne", "o'brien \\ s", true],
];

describe('the texts of a database', async () => {
  const { location, dispose } = await freshDatabase();
  const database: Kysely<Record<string, Record<string, unknown>>> = openDatabase(location);
  await migrate(database, migrations);
  afterAll(async () => {
    await database.destroy();
    await dispose();
  });

  test.each(CASES)('%j is searched for %j: %s', async (stored, typed, isFound) => {
    const { rows } = await sql<{ found: number | boolean }>`
      select ${containing(typed, ['name'])} as found from (select cast(${stored} as text) as name) as one`.execute(database);
    expect(Boolean(rows[0]?.found)).toBe(isFound);
  });

  test('are in the order of their letters, with and without accents', async () => {
    const names = 'zebra, Österreich, oslo, Ostrava, Éclair, eclair, Яблоко, яблоко 2, Ärger, banana, 可能, 😀'.split(', ');
    const values = sql.join(
      names.map((name) => sql`select cast(${name} as text) as name`),
      sql` union all `,
    );
    const { rows } = await sql<{ name: string }>`select name from (${values}) as names order by name_order(name)`.execute(
      database,
    );
    const ordered = 'Ärger, banana, eclair, Éclair, oslo, Österreich, Ostrava, zebra, Яблоко, яблоко 2, 可能, 😀';
    expect(rows.map(({ name }) => name).join(', ')).toBe(ordered);
  });

  test('are folded as they are in pages', async () => {
    for (const [stored] of CASES) {
      const { rows } = await sql<{ folded: string; place: string | Buffer }>`
        select fold_text(cast(${stored} as text)) as folded, name_order(cast(${stored} as text)) as place`.execute(database);
      expect(rows[0]?.folded).toBe(foldText(stored));
      expect(String(rows[0]?.place)).toBe(nameOrder(stored));
    }
  });
});

test('a text is folded alike the second time, and after more texts than are kept', () => {
  const database = new SqliteDatabase(':memory:');
  registerTextFunctions(database);
  const fold = database.prepare<[string], string>('select fold_text(?)').pluck();
  const long = 'Ω'.repeat(2 ** 20);
  for (const text of ['Straße', 'Straße', `${long}1`, `${long}2`, long.repeat(2), 'Straße', 'ΟΔΌΣ', 'Übergröße'])
    expect(fold.get(text)).toBe(foldText(text));
  database.close();
});
