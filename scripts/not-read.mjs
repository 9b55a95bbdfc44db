// `node scripts/not-read.mjs` writes docs/not-read.md, the list of unsupported formats and features of the scanner, from the format definitions. A test fails if the file is out of date.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './node-runtime.mjs';

export const PAGE = join(ROOT, 'docs/not-read.md');

/** @param {readonly string[]} words */
const listed = (words) => [...new Set(words)].sort((one, other) => one.localeCompare(other, 'en')).join(', ');

/** Returns the page: unsupported formats by reason, then limits of the supported ones. */
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
  const partly = [...by_limits].map(([limits, titles]) => `- ${listed(titles)}: ${limits}`);
  return `# Unread formats

Made by \`node scripts/not-read.mjs\` from the definitions in scanner/src/formats.

Recognised and not opened, so that a file is \`pending\`: ${closed(false)}.

Encrypted as a whole: ${closed(true)}.

Read in part:

${partly.join('\n')}
`;
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, await notRead());
