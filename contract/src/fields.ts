import { z } from 'zod';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from './constants.ts';

/** The id of a record: a UUIDv7, so ids sort by creation time. */
export const idSchema = z.uuid({ version: 'v7', error: 'This isn’t an ID.' });

/** A time in ISO 8601, in UTC with `Z`. */
export const timeSchema = z.iso
  .datetime({ error: 'Enter a UTC time, like 2026-11-20T10:00:00.000Z.' })
  .max(40, 'Enter a UTC time, like 2026-11-20T10:00:00.000Z.');

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/u;
export const hasNoControls = (text: string) => !CONTROL_CHARACTERS.test(text);
/** Whether a text is one line without control characters and lone surrogates. */
export const isOneLine = (text: string) => hasNoControls(text) && text.isWellFormed();

/** Maximum length of a text that is compared with a password, in UTF-16 units. A longer one cannot be a password. */
export const TYPED_PASSWORD_MAXIMUM = 4_096;
export const NO_PASSWORD_IS_LONGER = 'This is too long for a password.';

/** Parameters of a path with one `{id}`. */
export const idParamsSchema = z.object({ id: idSchema });

/** Header of a list's first page: the number of rows on all pages that match the filters. */
export const TOTAL_HEADER = 'x-total-count';

/** The highest number of a row: the maximum of PostgreSQL's `integer`. */
export const NUMBER_MAXIMUM = 2 ** 31 - 1;

/** Paging of a list: newest first, with the next page in the `Link` header. `cursor` is the id of the last row of the previous page. */
export const pageQuerySchema = z.object({
  limit: z.coerce
    .number({ error: 'Enter a whole number.' })
    .int('Enter a whole number.')
    .min(1, 'Choose at least 1.')
    .max(PAGE_SIZE_MAXIMUM, `Choose at most ${PAGE_SIZE_MAXIMUM}.`)
    .default(PAGE_SIZE_DEFAULT),
  cursor: idSchema.optional(),
});
export type PageQuery = z.infer<typeof pageQuerySchema>;

const SEARCH_LENGTH_MAXIMUM = 100;
/** The search words of a list. */
export const searchSchema = z
  .string()
  .trim()
  .max(SEARCH_LENGTH_MAXIMUM, `Use at most ${SEARCH_LENGTH_MAXIMUM} characters to search.`)
  .default('');
