import { expect, test } from 'vitest';
import { Chance } from '#test/chance.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';

const SEED = 47;
const RUNS = 12;

const NAMED: Readonly<Record<string, string>> = { '+': '&plus;', '/': '&sol;', '=': '&equals;' };
const reference = (letter: string, chance: Chance) => {
  const code = letter.charCodeAt(0);
  return chance.of([
    `&#${code};`,
    `&#x${code.toString(16)};`,
    `&#X${code.toString(16).padStart(4, '0').toUpperCase()};`,
    `&#0${code};`,
    NAMED[letter] ?? letter,
  ]);
};
const BLANKS = ['&#10;', '&#x0a;', '&Tab;', '&NewLine;', '&#13;&#10;', '&#9;', '&#32;', '&#x20;', '\n', '&nbsp;'];
const MARKUP = ['<!-- -->', '<!---->', '<b></b>', '<br>', '<span class="x">', '</span>', '<wbr/>', '<!-- a > b -->'];

/** Letters with markup between them, and some of them written as references. */
function interrupted(letters: string, between: readonly string[], chance: Chance): string {
  const width = chance.of([1, 3, 4, 20, 61]);
  let text = '';
  for (const [index, letter] of [...letters].entries()) {
    if (index % width === 0 && index > 0) text += chance.of(between);
    text += chance.below(9) === 0 ? reference(letter, chance) : letter;
  }
  return text;
}

const PAGES: Readonly<Record<string, (letters: string, chance: Chance) => string>> = {
  'an attribute of HTML': (letters, chance) =>
    `<!doctype html>\n<p>Your file:</p> <a download="a.zip" href="data:application/zip;base64,${interrupted(letters, BLANKS, chance)}">Download</a>\n`,
  'an attribute of SVG': (letters, chance) =>
    `<svg xmlns="http://www.w3.org/2000/svg"><a xlink:href='data:application/octet-stream;base64,${interrupted(letters, BLANKS, chance)}'><text>x</text></a></svg>`,
  'an element of HTML': (letters, chance) =>
    `<html><head><title>x</title></head><body><ul><li>Home</li><li>About</li></ul><pre id="d">${interrupted(letters, [...MARKUP, ...BLANKS], chance)}</pre><script>save(atob(d.textContent))</script></body></html>`,
  'an element of XML': (letters, chance) =>
    `<?xml version="1.0"?>\n<files><name>a.zip</name><data>${interrupted(letters, ['&#10;', '&#x9;', '<!-- -->', '\n'], chance)}</data></files>\n`,
  'a mail of HTML': (letters, chance) =>
    `From: a@example.com\r\nTo: b@example.com\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<a href="data:application/zip;base64,${interrupted(letters, [...BLANKS, '\r\n'], chance)}">file</a>\r\n`,
};
const FILES = {
  'a text': EICAR,
  'an archive': zip([
    { name: 'eicar.com', content: EICAR },
    { name: 'b', content: noise(700) },
  ]),
};
const KINDS = Object.entries(PAGES).flatMap(([page, write]) =>
  Object.entries(FILES).map(([file, bytes]) => [file, page, write, bytes] as const),
);

test.each(KINDS)('base64 of %s that markup interrupts is found in %s', async (_, __, write, bytes) => {
  const chance = new Chance(SEED);
  const missed: string[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const page = write(bytes.toString('base64'), chance);
    if ((await examined(Buffer.from(page, 'latin1'))).threat === null) missed.push(page);
  }
  expect(missed).toEqual([]);
});

test('words with markup between them are no base64', async () => {
  const page = `<html><body>${'<p>Dear<b>Maria</b>thankYou<i>for</i>your&nbsp;invitation</p><td>12</td><td>AbC</td>'.repeat(400)}</body></html>`;
  expect(await examined(Buffer.from(page))).toMatchObject({ threat: null, unread: [], coverage: { members_total: 0 } });
});
