import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { idSchema, searchSchema, timeSchema } from './fields.ts';

export const ARTICLE_LENGTH_MAXIMUM = 20_000;
export const SUGGESTIONS_MAXIMUM = 3;
/** Maximum number of typed characters that are searched for suggestions, and the delay before the search in ms. */
export const SUGGESTED_FROM_MAXIMUM = 300;
export const SUGGESTION_PAUSE = 400;

export const slugSchema = z
  .string({ error: 'Enter an address.' })
  .trim()
  .toLowerCase()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/u, 'Use letters, digits, and single dashes, like what-pending-means.')
  .max(80, 'Use at most 80 characters for the address.');

/** An article as it appears in lists. */
export const articleSummarySchema = z.object({
  id: idSchema,
  slug: z.string(),
  title: z.string(),
  summary: z.string(),
  is_published: z.boolean(),
  updated_at: timeSchema,
});
export type ArticleSummary = z.infer<typeof articleSummarySchema>;

/** `body` is Markdown (`parseMarkdown` of markdown.ts); HTML in it is shown as text. */
export const articleSchema = articleSummarySchema.extend({ body: z.string() });
export type Article = z.infer<typeof articleSchema>;

export const listArticles = endpoint({
  method: 'GET',
  path: '/help/articles',
  summary: 'The help pages: those with the words of `search`, the best first, or all by title.',
  access: 'anyone',
  query: z.object({ search: searchSchema }),
  reply: z.array(articleSummarySchema),
});

export const readArticle = endpoint({
  method: 'GET',
  path: '/help/article',
  summary: 'One help page.',
  access: 'anyone',
  query: z.object({ slug: slugSchema }),
  reply: articleSchema,
  problems: ['not_found'],
});

export const suggestArticles = endpoint({
  method: 'GET',
  path: '/help/suggestions',
  summary: 'Help pages that may answer what somebody is typing, the best first.',
  access: 'customer',
  query: z.object({
    text: z
      .string({ error: 'Enter some words.' })
      .max(16_384, 'Enter fewer words.')
      .transform((text) => text.slice(0, SUGGESTED_FROM_MAXIMUM)),
  }),
  reply: z.array(articleSummarySchema).max(SUGGESTIONS_MAXIMUM),
});

const articleFields = z.object({
  slug: slugSchema,
  title: z
    .string({ error: 'Enter a title.' })
    .trim()
    .min(1, 'Enter a title.')
    .max(120, 'Use at most 120 characters for the title.'),
  summary: z
    .string({ error: 'Give a sentence.' })
    .trim()
    .min(1, 'Give a sentence that says what it is about.')
    .max(240, 'The sentence has at most 240 characters.'),
  body: z
    .string({ error: 'Write the article.' })
    .trim()
    .min(1, 'Write the article.')
    .max(ARTICLE_LENGTH_MAXIMUM, `Use at most ${ARTICLE_LENGTH_MAXIMUM} characters for the article.`)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'Remove the characters that aren’t text from the article.'),
  is_published: z.boolean({ error: 'Choose whether to publish it.' }),
});
export type ArticleWritten = z.output<typeof articleFields>;

export const listAllArticles = endpoint({
  method: 'GET',
  path: '/admin/help-articles',
  summary: 'All help pages, drafts too, by title.',
  access: 'admin',
  reply: z.array(articleSchema),
});

export const createArticle = endpoint({
  method: 'POST',
  path: '/admin/help-articles',
  summary: 'Write a help page.',
  access: 'admin',
  body: articleFields,
  changes_installation: 'help',
  status: 201,
  reply: articleSchema,
  problems: ['conflict'],
});

export const changeArticle = endpoint({
  method: 'PUT',
  path: '/admin/help-articles/{id}',
  summary: 'Change a help page.',
  access: 'admin',
  body: articleFields,
  changes_installation: 'help',
  reply: articleSchema,
  problems: ['conflict'],
});

export const deleteArticle = endpoint({
  method: 'DELETE',
  path: '/admin/help-articles/{id}',
  summary: 'Delete a help page.',
  access: 'admin',
  changes_installation: 'help',
});
