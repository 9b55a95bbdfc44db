import { type Article, type ArticleSummary, type ArticleWritten, SUGGESTIONS_MAXIMUM } from '@palisade/contract/help';
import { plainText } from '@palisade/contract/markdown';
import { type Kysely, type Selectable, SqliteAdapter, sql } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import { indexed, indexedWords, nameOrderOf } from '#platform/folded-text.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { claimFact, type InstallationTables, readFact } from '#platform/installation.ts';
import { Problem } from '#platform/problem.ts';
import { FIRST_ARTICLES } from './first-articles.ts';
import { refuse } from './help.refusals.ts';
import type { HelpTables } from './help.tables.ts';

type Row = Selectable<HelpTables['help_articles']>;

/** Help pages that administrators write, found by their words. */
export interface Help {
  /** Published articles: those with the search words, the best first; all by title if there are none. */
  list(search: string): Promise<ArticleSummary[]>;
  /** Articles that may answer a text while it is typed, the best first. */
  suggest(text: string): Promise<ArticleSummary[]>;
  /** A published one. */
  read(slug: string): Promise<Article | undefined>;
  titleOf(slug: string): Promise<string | undefined>;
  listAll(): Promise<Article[]>;
  find(id: string): Promise<Row | undefined>;
  /** @throws Problem `conflict` for an address that another one has. */
  create(written: ArticleWritten): Promise<Article>;
  change(id: string, written: ArticleWritten): Promise<Article>;
  remove(id: string): Promise<void>;
  /** Writes the product's own articles, once per installation. Those that no administrator has changed are updated to a new version's text. */
  seed(): Promise<void>;
}

/** Each is written once: an article that administrators deleted stays deleted. New versions add theirs to existing installations. */
const SEEDED = [
  { fact: 'help_seeded', articles: FIRST_ARTICLES },
  {
    fact: 'help_seeded_urgent',
    articles: FIRST_ARTICLES.filter(({ slug }) => slug === 'someone-signed-in' || slug === 'lost-phone'),
  },
  { fact: 'help_seeded_paid', articles: FIRST_ARTICLES.filter(({ slug }) => slug === 'i-paid') },
  { fact: 'help_seeded_scam_check', articles: FIRST_ARTICLES.filter(({ slug }) => slug === 'is-this-real') },
  {
    fact: 'help_seeded_household',
    articles: FIRST_ARTICLES.filter(({ slug }) => slug === 'block-dangerous-websites' || slug === 'rules-for-a-child'),
  },
];
/** An article written within this many ms after the fact was not changed by an administrator. */
const SEEDING_MS = 1_000;
const FOUND_MAXIMUM = 50;
/** Words of a query that are looked up. */
const WORDS_MAXIMUM = 20;
/** Stop words: common words that say nothing about the subject. */
const EMPTY_WORDS = new Set(
  'a about am an and any are as at be been but by can could did do does for from had has have how i if in is it its me my no not of on or our she he so that the their them they this to up us was we were what when which who why will with you your'.split(
    ' ',
  ),
);

/** The words of a text: only letters and digits, so that none is an operator of a search query. */
function wordsOf(text: string): string[] {
  const words = indexed(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words.filter((word) => word.length > 1 && !EMPTY_WORDS.has(word)))].slice(0, WORDS_MAXIMUM);
}

function summaryOf({ id, slug, title, summary, is_published, updated_at }: Omit<Row, 'body' | 'words'>): ArticleSummary {
  return { id, slug, title, summary, is_published: is_published === 1, updated_at };
}

function articleOf(row: Row): Article {
  return { ...summaryOf(row), body: row.body };
}

/** Updates articles that no administrator has changed since they were seeded to this version's text. */
async function renew(pages: Kysely<HelpTables>, articles: typeof FIRST_ARTICLES, seeded_at: string): Promise<void> {
  const seeded = await pages
    .selectFrom('help_articles')
    .select(['id', 'slug', 'body', 'updated_at'])
    .where(
      'slug',
      'in',
      articles.map(({ slug }) => slug),
    )
    .execute();
  for (const { id, slug, body, updated_at } of seeded) {
    const article = articles.find((one) => one.slug === slug && one.body !== body);
    if (article === undefined || !(Date.parse(updated_at) - Date.parse(seeded_at) < SEEDING_MS)) continue;
    const words = indexedWords({ ...article, words: plainText(article.body) });
    await pages
      .updateTable('help_articles')
      .set({ ...article, words })
      .where('id', '=', id)
      .execute();
  }
}

export function createHelp({ database, now }: { database: Kysely<HelpTables & InstallationTables>; now: () => number }): Help {
  const isSqlite = database.getExecutor().adapter instanceof SqliteAdapter;
  const articles = database.$pickTables<'help_articles'>();
  const at = () => new Date(now()).toISOString();
  const columns = ['id', 'slug', 'title', 'summary', 'is_published', 'updated_at'] as const;

  /** Published articles with the words, the best first: with any of them, or with all and the last one as a prefix, as in a text being typed. */
  async function find(words: readonly string[], any: boolean, most: number): Promise<ArticleSummary[]> {
    if (words.length === 0) return [];
    if (isSqlite) {
      const terms = words.map((word, place) => `"${word}"${!any && place === words.length - 1 ? '*' : ''}`);
      const { rows } = await sql<Omit<Row, 'body' | 'words'>>`
        select article.id, article.slug, article.title, article.summary, article.is_published, article.updated_at
        from help_index join help_articles article on article.number = help_index.rowid
        where help_index match ${terms.join(any ? ' OR ' : ' AND ')} and article.is_published = 1
        order by bm25(help_index, 8, 4, 1), article.title limit ${most}`.execute(database);
      return rows.map(summaryOf);
    }
    const terms = words.map((word, place) => `'${word}'${!any && place === words.length - 1 ? ':*' : ''}`);
    const query = sql`to_tsquery('english', ${terms.join(any ? ' | ' : ' & ')})`;
    // Ranked by each word separately, as in bm25: the rank of "all words" values their distances more than a match in the title.
    const each = sql`to_tsquery('english', ${terms.join(' | ')})`;
    const { rows } = await sql<Omit<Row, 'body' | 'words'>>`
      select id, slug, title, summary, is_published, updated_at from help_articles
      where found_by @@ ${query} and is_published = 1
      order by ts_rank('{0, 0.125, 0.5, 1}', found_by, ${each}) desc, title limit ${most}`.execute(database);
    return rows.map(summaryOf);
  }

  async function unlessTaken<T>(slug: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isUniqueViolation(error, 'slug')) throw error;
      throw refuse('help_page.address_taken', { slug });
    }
  }

  const valuesOf = ({ is_published, ...written }: ArticleWritten) => ({
    ...written,
    is_published: is_published ? 1 : 0,
    words: indexedWords({ ...written, words: plainText(written.body) }),
    updated_at: at(),
  });

  const published = (slug: string) => articles.selectFrom('help_articles').where('slug', '=', slug).where('is_published', '=', 1);

  return {
    async list(search) {
      const words = wordsOf(search);
      if (search.trim() === '') {
        const rows = await articles
          .selectFrom('help_articles')
          .select(columns)
          .where('is_published', '=', 1)
          .orderBy(nameOrderOf('title'))
          .execute();
        return rows.map(summaryOf);
      }
      const exact = await find(words, false, FOUND_MAXIMUM);
      return exact.length > 0 ? exact : await find(words, true, FOUND_MAXIMUM);
    },

    suggest: (text) => find(wordsOf(text), true, SUGGESTIONS_MAXIMUM),

    async read(slug) {
      const row = await published(slug).selectAll().executeTakeFirst();
      return row && articleOf(row);
    },

    titleOf: async (slug) => (await published(slug).select('title').executeTakeFirst())?.title,

    async listAll() {
      return (await articles.selectFrom('help_articles').selectAll().orderBy(nameOrderOf('title')).execute()).map(articleOf);
    },

    find: (id) => articles.selectFrom('help_articles').selectAll().where('id', '=', id).executeTakeFirst(),

    async create(written) {
      const row = await unlessTaken(written.slug, () =>
        articles
          .insertInto('help_articles')
          .values({ id: newId(), ...valuesOf(written) })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return articleOf(row);
    },

    async change(id, written) {
      const row = await unlessTaken(written.slug, () =>
        articles.updateTable('help_articles').set(valuesOf(written)).where('id', '=', id).returningAll().executeTakeFirst(),
      );
      if (row === undefined) throw new Problem('not_found');
      return articleOf(row);
    },

    async remove(id) {
      await articles.deleteFrom('help_articles').where('id', '=', id).execute();
    },

    async seed() {
      await inTransaction(database, async (transaction) => {
        const facts = transaction.$pickTables<'installation'>();
        const pages = transaction.$pickTables<'help_articles'>();
        for (const { fact, articles } of SEEDED) {
          if (await claimFact(facts, fact, at())) {
            const rows = articles.map((article) => ({ id: newId(), ...valuesOf({ ...article, is_published: true }) }));
            const insert = pages.insertInto('help_articles').values(rows);
            await insert.onConflict((conflict) => conflict.column('slug').doNothing()).execute();
          } else await renew(pages, articles, (await readFact(facts, fact)) ?? '');
        }
      });
    },
  };
}
