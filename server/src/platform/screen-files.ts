import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

export const SCREEN_FILES = 'screen-files.json';

const listSchema = z.record(z.string(), z.array(z.string()));

function tagOf(file: string): string {
  return file.endsWith('.css')
    ? `<link rel="preload" as="style" crossorigin href="${file}">`
    : `<link rel="modulepreload" crossorigin href="${file}">`;
}

/**
 * Reads the files of each screen from the list of the build (web/first-files.ts), and returns their tags for the page at a path: the browser fetches them with the files of
 * the entry instead of after them. The sign-in screen at `/` needs none, and a build before the list has none.
 */
export function readScreenTags(folder: string): (url: string) => string {
  let listed: z.infer<typeof listSchema>;
  try {
    listed = listSchema.parse(JSON.parse(readFileSync(join(folder, SCREEN_FILES), 'utf8')));
  } catch {
    return () => '';
  }
  const tags = new Map(Object.entries(listed).map(([path, files]) => [path, files.map(tagOf).join('')]));
  return (url) => {
    const path = url.split(/[?#]/u, 1)[0] ?? '';
    return tags.get(path) ?? tags.get(path.replace(/^\/help\/[^/]+$/u, '/help/:slug')) ?? '';
  };
}
