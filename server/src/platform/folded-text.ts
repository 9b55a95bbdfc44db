import { foldText, isPlainText, nameOrder, PLAIN_LETTERS } from '@palisade/contract/text';
import type SqliteDatabase from 'better-sqlite3';
import { expressionBuilder, type Kysely, sql } from 'kysely';

const LAST_CODE_POINT = 0x10ffff;
const IGNORABLE = /^\p{Default_Ignorable_Code_Point}$/u;

/** Maximum number of cached characters of texts and their folds: enough for ten thousand names several times over. */
const KEPT_CHARACTERS = 2 ** 21;

/** `foldText` with a cache. A search folds the same rows again at each typed letter, and folding non-ASCII text costs three times as much as a cache hit. */
function keptFolds(): (text: string) => string {
  const folds = new Map<string, string>();
  let characters = 0;
  return (text) => {
    if (isPlainText(text)) return text.toLowerCase();
    const known = folds.get(text);
    if (known !== undefined) return known;
    const folded = foldText(text);
    characters += text.length + folded.length;
    if (characters > KEPT_CHARACTERS) {
      folds.clear();
      characters = text.length + folded.length;
    }
    // A very long text is not cached.
    if (characters <= KEPT_CHARACTERS) folds.set(text, folded);
    return folded;
  };
}

/** Registers `fold_text` and `name_order` of `contract/text.ts` for the queries of one SQLite connection. No schema mentions them, so that other programs can read the file. */
export function registerTextFunctions(database: SqliteDatabase.Database): void {
  const onText = (work: (text: string) => string) => (value: unknown) => (typeof value === 'string' ? work(value) : null);
  database.function('fold_text', { deterministic: true }, onText(keptFolds()));
  database.function('name_order', { deterministic: true }, onText(nameOrder));
}

/** An ICU collation of every PostgreSQL built with ICU. */
const ICU = 'und-x-icu';

/** The characters that folding removes, as a character class of PostgreSQL's regular expressions. */
function ignorableClass(): string {
  const hex = (point: number) => `\\U${point.toString(16).padStart(8, '0')}`;
  const ranges: string[] = [];
  let begun: number | undefined;
  for (let point = 0x80; point <= LAST_CODE_POINT + 1; point += 1) {
    const is_character = point <= LAST_CODE_POINT && (point < 0xd800 || point > 0xdfff);
    const is_ignorable = is_character && IGNORABLE.test(String.fromCodePoint(point));
    if (is_ignorable) begun ??= point;
    else if (begun !== undefined) {
      ranges.push(`${hex(begun)}-${hex(point - 1)}`);
      begun = undefined;
    }
  }
  return `[${ranges.join('')}]`;
}

/**
 * Creates `fold_text` and `name_order` on PostgreSQL. Case folding uses ICU, as in this server, whatever the locale of the database; a PostgreSQL without ICU (or with
 * another encoding than UTF-8) uses its locale. `name_order` returns bytes, since texts are compared by the database's collation.
 */
export async function createTextFunctions<Tables>(database: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(database);
  const isUnicode = rows[0]?.server_encoding === 'UTF8';
  const found = await sql`select 1 from pg_collation where collname = ${ICU} and collprovider = 'i'`.execute(database);
  const icu = isUnicode && found.rows.length > 0 ? ICU : '';
  const isAscii = 'octet_length(given) = length(given)';
  const as = (text: string, collation: string) => (collation === '' ? text : `((${text}) collate "${collation}")`);
  const visible = `case when given ~ '${ignorableClass()}' then regexp_replace(given, '${ignorableClass()}', '', 'g') else given end`;
  const letters = `lower(${as(`upper(${as(`lower(${as(`normalize(${visible}, NFKD)`, icu)})`, icu)})`, icu)})`;
  const folded = `normalize(replace(normalize(replace(${letters}, 'ς', 'σ'), NFKD), E'i\\u0307', 'i'), NFKC)`;
  const make = (name: string, returns: string, body: string) =>
    sql
      .raw(
        `create or replace function ${name}(given text) returns ${returns} language sql immutable parallel safe as $body$ select ${body} $body$`,
      )
      .execute(database);
  await make('fold_letters', 'text', as(isUnicode ? folded : 'lower(given)', 'C'));
  const plain = isUnicode ? `when given ~ '^[${PLAIN_LETTERS}]*$' then ${as(`lower(${as('given', icu)})`, 'C')}` : '';
  await make(
    'fold_text',
    'text',
    `case when ${isAscii} then ${as(`lower(${as('given', 'C')})`, 'C')} ${plain} else fold_letters(given) end`,
  );
  const bare = `regexp_replace(normalize(fold_text(given), NFKD), E'[\\u0300-\\u036f]', '', 'g')`;
  const whole = `${isUnicode ? as(bare, 'C') : 'fold_text(given)'} || E'\\x01' || fold_text(given)`;
  const ascii = `${as(`lower(${as('given', 'C')})`, 'C')} || E'\\x01'`;
  const place = `case when ${isAscii} then ${ascii} else ${whole} end`;
  // A cast rather than `convert_to`, which would prevent PostgreSQL from inlining the function.
  await make('name_order', 'bytea', `cast(replace(${place}, E'\\\\', E'\\\\\\\\') as bytea)`);
}

const builder = expressionBuilder<Record<string, Record<string, string>>>();

/** A column folded as by `foldText`; '' for null. On SQLite, ASCII texts are folded without calling JavaScript (`KeptStatementCompiler`). */
export const foldedColumn = (column: string) => builder.fn<string>('fold_text', [sql`coalesce(${sql.ref(column)}, '')`]);

/** The `nameOrder` key of a column of names, for ordering and comparison: a text on SQLite, bytes on PostgreSQL. */
export const nameOrderOf = (column: string) => builder.fn<string | Buffer>('name_order', [sql.ref(column)]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
const ASCII = /^[\u0000-\u007f]*$/;
const ACCENTS = /[\u0300-\u036f]/g;

/** A text in the form that both databases index: they treat letters beyond ASCII differently. Accents are removed. */
export function indexed(text: string): string {
  return foldText(text).normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC');
}

/** Words to index besides a page's title and summary: those two as well, if they have letters that the database cannot fold. */
export function indexedWords({ title, summary, words }: Record<'title' | 'summary' | 'words', string>): string {
  return indexed([...[title, summary].filter((text) => !ASCII.test(text)), words].join(' '));
}
