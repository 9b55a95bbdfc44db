// `node scripts/decisions.mjs`: gives each decision that has none the status "in force", and writes docs/decisions/README.md anew. A test fails where that changes something.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './node-runtime.mjs';

const FOLDER = join(ROOT, 'docs/decisions');
const STATUS = /^Status: (.+)\.$/m;

/** The decisions in their order: what each file is to be, and its line of the index. */
export function decisions() {
  return readdirSync(FOLDER)
    .filter((name) => /^\d{4}-.*\.md$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      const [title = '', ...rest] = text.split('\n');
      const whole = STATUS.test(text) ? text : [title, '', 'Status: in force.', ...rest].join('\n');
      const words = title.replace(/^# (?:\d+[.:]?|00\d\d:?)\s*/, '');
      const status = STATUS.exec(whole)?.[1] ?? '';
      return { name, text, whole, status, line: `| ${Number(name.slice(0, 4))} | [${words}](${name}) | ${status} |` };
    });
}

/** What the index is to be. */
export function indexOf(/** @type {ReturnType<typeof decisions>} */ all) {
  return `# Decisions

What was decided, and why. A decision is not edited later, but for its status: what changes one is a new one, which the status names.
Made by \`node scripts/decisions.mjs\`.

| number | decision | status |
| --- | --- | --- |
${all.map(({ line }) => line).join('\n')}
`;
}

export const INDEX = join(FOLDER, 'README.md');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { name, text, whole } of decisions()) if (whole !== text) writeFileSync(join(FOLDER, name), whole);
  writeFileSync(INDEX, indexOf(decisions()));
}
