import {
  changeArticle,
  createArticle,
  deleteArticle,
  listAllArticles,
  listArticles,
  readArticle,
  suggestArticles,
} from '@palisade/contract/help';
import { parseMarkdown } from '@palisade/contract/markdown';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { FIRST_ARTICLES } from './first-articles.ts';
import { createHelp } from './help.ts';

const app = await startTestApp();
const { call } = app;
const boss = await app.signIn('boss');
const { token } = await app.signIn();
const found = async (search: string) =>
  replyOf(await call(listArticles, { query: `?search=${encodeURIComponent(search)}` })).map(({ slug }) => slug);
const suggested = async (text: string) =>
  replyOf(await call(suggestArticles, { token, query: `?text=${encodeURIComponent(text)}` })).map(({ slug }) => slug);

describe('the help pages', () => {
  // proves: support-staff-29
  test('are there from the beginning, readable without an account, and their links lead somewhere', async () => {
    const all = replyOf(await call(listArticles, { query: '' }));
    expect(all).toHaveLength(FIRST_ARTICLES.length);
    expect(all.map(({ title }) => title)).toEqual(
      expect.arrayContaining([
        'Someone called me about my computer',
        'A file is infected: what now',
        'What Pending means',
        'I can’t sign in',
        'When a technician is on your computer',
      ]),
    );
    const slugs = new Set(all.map(({ slug }) => slug));
    for (const { slug } of all) {
      const { body } = replyOf(await call(readArticle, { query: `?slug=${slug}` }));
      expect(parseMarkdown(body).length).toBeGreaterThan(1);
      for (const [, linked = ''] of body.matchAll(/\]\(\/help\/([^)]+)\)/gu)) expect(slugs).toContain(linked);
    }
  });

  // proves: support-staff-28
  test.each([
    ['pending', 'what-pending-means'],
    ['infected file', 'a-file-is-infected'],
    ['infec', 'a-file-is-infected'],
    ['sign in', 'i-cannot-sign-in'],
    ['somebody called', 'somebody-called-me'],
    ['ransom pay', 'ransom-note'],
    ['remote control', 'technician-on-my-computer'],
    ['who moves my mouse', 'technician-on-my-computer'],
    ['bedtime', 'rules-for-a-child'],
    ['website does not open', 'block-dangerous-websites'],
  ])('are found by %j', async (search, slug) => {
    expect((await found(search)).slice(0, 3)).toContain(slug);
  });

  // proves: support-staff-28
  test.each([
    ['a man called me and wants my card number', 'somebody-called-me'],
    ['why does it say pending for my file', 'what-pending-means'],
    ['I cannot sign in any more, the code is refused', 'i-cannot-sign-in'],
    ['a man on the phone wants my card number', 'somebody-called-me'],
  ])('are suggested to who types %j', async (text, slug) => {
    expect(await suggested(text)).toContain(slug);
  });

  // proves: support-bad-input-11
  test.each([
    '"',
    "' or 1=1 --",
    'a AND (',
    '*:*',
    'NEAR(x y)',
    '-x',
    'title:x',
    '\\',
    '%',
    '🦔',
    'a & | ! b',
    ':*',
    'the and of',
  ])('take %j for words', async (search) => {
    expect(Array.isArray(await found(search))).toBe(true);
    expect(Array.isArray(await suggested(search))).toBe(true);
  });

  // proves: support-staff-27
  test('are written by administrators; a draft is visible to them alone, and search follows changes and deletions', async () => {
    const draft = {
      slug: 'our-printers',
      title: 'Our printers',
      summary: 'How to print.',
      body: 'Use the **zebrafinch** driver.',
    };
    const body = { ...draft, is_published: false };
    expect(problemOf(await call(createArticle, { token, body })).code).toBe('forbidden');
    const { id } = replyOf(await call(createArticle, { token: boss.token, body }));
    expect(problemOf(await call(createArticle, { token: boss.token, body })).code).toBe('conflict');
    expect(await found('zebrafinch')).toEqual([]);
    expect(problemOf(await call(readArticle, { query: '?slug=our-printers' })).code).toBe('not_found');
    expect(replyOf(await call(listAllArticles, { token: boss.token })).some((article) => article.id === id)).toBe(true);
    replyOf(await call(changeArticle, { token: boss.token, params: { id }, body: { ...body, is_published: true } }));
    expect(await found('zebrafinch')).toEqual(['our-printers']);
    expect(await found('zebra')).toEqual(['our-printers']);
    replyOf(
      await call(changeArticle, { token: boss.token, params: { id }, body: { ...body, is_published: true, body: 'Nothing.' } }),
    );
    expect(await found('zebrafinch')).toEqual([]);
    replyOf(await call(deleteArticle, { token: boss.token, params: { id } }));
    expect(await found('printers')).not.toContain('our-printers');
  });

  test('of the product follow a new version, unless an administrator has changed them', async () => {
    const { database } = app.app;
    const help = createHelp({
      database: database.$pickTables<'help_articles' | 'installation'>(),
      now: () => Date.now() + 60_000,
    });
    const [kept, changed] = ['strange-mail-or-link', 'ransom-note'];
    await database.updateTable('help_articles').set({ body: 'Older.' }).where('slug', '=', kept).execute();
    const all = await help.listAll();
    for (const { id, slug, title, summary } of all.filter((one) => one.slug === changed))
      await help.change(id, { slug, title, summary, body: 'Ours.', is_published: true });
    await help.seed();
    expect((await help.read(kept))?.body).toBe(FIRST_ARTICLES.find(({ slug }) => slug === kept)?.body);
    expect((await help.read(changed))?.body).toBe('Ours.');
  });
});
