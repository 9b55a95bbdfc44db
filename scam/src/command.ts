import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import type { ScamAnswer } from '@palisade/contract/scam-check';
import { openTextReader } from './picture-text.ts';
import { ScamCheck } from './scam-check.ts';

// `npm run scam-check -- 'text'` or `-- --file letter.eml` prints the result; `--json` prints it completely. Exits with 2 for a
// dangerous input, 1 for a suspicious one.

const EXIT_CODES = { dangerous: 2, suspicious: 1, nothing_found: 0, not_checked: 3 } as const;

function written({ headline, reasons, parts, advice, checked }: ScamAnswer): string {
  const lines = [headline, ''];
  for (const { sentence, span } of reasons) lines.push(`- ${sentence}${span === null ? '' : ` [${span.text}]`}`);
  for (const link of parts.links)
    lines.push(`  ${link.shown} -> ${link.owner ?? link.host_shown}${link.brand === null ? '' : ` (${link.brand})`}`);
  lines.push('', ...advice.nothing.map(({ sentence }) => `> ${sentence}`), '');
  for (const { part, state, sentence } of checked) if (state === 'not_checked') lines.push(`not checked, ${part}: ${sentence}`);
  return `${lines.join('\n').trim()}\n`;
}

const { values, positionals } = parseArgs({
  options: { file: { type: 'string' }, json: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const pictureText = openTextReader();
const check = new ScamCheck(pictureText === undefined ? {} : { readPictureText: pictureText.read });
const text = positionals.join(' ');
if (values.file === undefined && text === '') {
  process.stderr.write("Usage: npm run scam-check -- 'text', or npm run scam-check -- --file picture.png\n");
  process.exitCode = 64;
} else {
  const answer =
    values.file === undefined
      ? await check.checkText(text)
      : await check.checkFile(basename(values.file), readFileSync(values.file));
  process.stdout.write(values.json ? `${JSON.stringify(answer, null, 2)}\n` : written(answer));
  process.exitCode = EXIT_CODES[answer.verdict];
}
check.close();
pictureText?.close();
