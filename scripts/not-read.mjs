// `node scripts/not-read.mjs`: writes the list of what the scanner does not read into docs/how-it-works.md, from the formats' own definitions. A test fails where that changes something.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './node-runtime.mjs';

export const PAGE = join(ROOT, 'docs/how-it-works.md');
const BEGIN = '<!-- What is not read of each format: made by scripts/not-read.mjs -->';
const END = '<!-- The end of that -->';

/** @param {readonly string[]} words */
const listed = (words) => [...new Set(words)].sort((one, other) => one.localeCompare(other, 'en')).join(', ');

/** The list: closed formats by the reason, then what is missing of the others. */
export async function notRead() {
  const { FORMATS } = await import(pathToFileURL(join(ROOT, 'scanner/src/formats/index.ts')).href);
  /** @type {readonly { id: string; title: string; closed?: string; limits: string | null }[]} */
  const formats = FORMATS;
  const closed = (/** @type {boolean} */ is_encrypted) =>
    listed(
      formats
        .filter((format) => format.closed !== undefined && (format.closed === 'encrypted') === is_encrypted)
        .map(({ title }) => title),
    );
  /** @type {Map<string, string[]>} */
  const by_limits = new Map();
  for (const { title, limits } of formats) if (limits !== null) by_limits.set(limits, [...(by_limits.get(limits) ?? []), title]);
  const partly = [...by_limits].map(([limits, titles]) => `  - ${listed(titles)}: ${limits}`);
  return [
    BEGIN,
    `- Recognised and not opened, so that a file is \`pending\`: ${closed(false)}.`,
    `- Encrypted as a whole: ${closed(true)}.`,
    '- Read in part:',
    ...partly,
    END,
  ].join('\n');
}

/** The page with the list in it. @param {string} page @param {string} list */
export function withList(page, list) {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < 0) throw new Error(`${PAGE} has no place for the list.`);
  return page.slice(0, from) + list + page.slice(to + END.length);
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, withList(readFileSync(PAGE, 'utf8'), await notRead()));
