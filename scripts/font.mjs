// Makes web/src/app/inter-latin.woff2 from the complete Inter font on npm: only Latin, and only the weights that the style sheets use. subset-font is downloaded by
// npm when this runs. `node scripts/font.mjs`
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './node-runtime.mjs';

const SOURCE = join(ROOT, 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
const FONT = join(ROOT, 'web/src/app/inter-latin.woff2');
const STYLES = join(ROOT, 'web/src/app/font.css');

/** The style sheet, which declares the character ranges and weights. */
const css = readFileSync(STYLES, 'utf8');
const ranges = [...css.matchAll(/U\+([0-9A-F]{4})(?:-([0-9A-F]{4}))?/gu)].map(([, from = '', to = from]) =>
  [from, to].map((hex) => Number.parseInt(hex, 16)),
);
const [, lightest, boldest] = /font-weight: (\d+) (\d+);/u.exec(css) ?? [];
const text = ranges
  .flatMap(([from = 0, to = 0]) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)))
  .join('');

const folder = mkdtempSync(join(tmpdir(), 'palisade-font-'));
try {
  execFileSync('npm', ['install', '--prefix', folder, '--no-save', 'subset-font@2.9.0'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { default: subset } = await import(pathToFileURL(join(folder, 'node_modules/subset-font/index.js')).href);
  const whole = readFileSync(SOURCE);
  const part = await subset(whole, text, {
    targetFormat: 'woff2',
    variationAxes: { wght: { min: Number(lightest), max: Number(boldest) } },
  });
  writeFileSync(FONT, part);
  console.log(`${whole.length} bytes became ${part.length}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
