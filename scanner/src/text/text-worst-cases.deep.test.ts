import { describe, expect, test } from 'vitest';
import { brokenStringsOf } from '#scanner/formats/data/broken-strings.ts';
import { base85RunsOf } from './base85-runs.ts';
import { hexRowsOf, letterRowsOf } from './hex-rows.ts';
import { sqlStringsOf } from './sql-strings.ts';
import { fromUtf7, hasUtf7 } from './text-encoding.ts';
import { folded } from './text-folds.ts';
import { rewritten } from './text-rewrites.ts';
import { addressesOf, byteLiteralsOf, escapesOf, listsOf, runsOf, splitsOf, stringsOf, wholeOf } from './text-runs.ts';
import { tableTexts } from './text-spellings.ts';
import { rowsOf, xxRowsOf } from './uu-rows.ts';
import { xmlTexts } from './xml-texts.ts';

// Every expression that searches for hidden text, over texts that are made to be hard on it: out of one that it matches.

const BYTES = 32 * 1024;
/** Times the machine may need for a text compared with prose of the same length; without a bound it is hundreds. */
const PEER_TIMES = 100;
/** From here on its growth is measured. */
const TELLING_TIMES = 40;
const LEAST_MS = 1;
/** Twice the text may take so many times as long; of a square it is four times. */
const GROWTH = 3.5;
const TRIES = 12;

/** Examples that each of the expressions matches, by its purpose. */
const EXAMPLES: Readonly<Record<string, string>> = {
  'literals in a list': `['pow', "er", 'she\\'ll'].join('') `,
  'literals in a row': `'pow' + "er" & 'she' . "ll"\n`,
  'literals side by side': `'a' /*b*/ 'c' "d"\n`,
  'a list that is joined before': `-join ('a', 'b', "c")\n`,
  'literals in their places': `("{1}{0}" -f 'b','a')\n`,
  'a replacement': `x.replace('a', "b"); -creplace 'c','d'\n`,
  'a replacement in a literal': `replace ( "a b c" , 'a' , "aa" )\n`,
  'a replacement by an expression': `s.replace(/ab/g, 'c')\n`,
  'a literal that is turned round': `strrev("${'b'.repeat(40)}")\n`,
  'a literal over lines': `codecs.decode("""${'ab '.repeat(20)}""", 'rot_13')\n`,
  'codes of characters': 'String.fromCharCode( 65 )+String.fromCodePoint(66)\n',
  'a list of codes': 'String.fromCharCode(65, 66,67)\n',
  templates: `\`a\` + \`b\${''}c\`\n`,
  'what is added': `a = "b"; a += "c"; a .= "d";\n`,
  'what is echoed': '@echo ( abc ) >> file.txt\n',
  'what is set': '@set "ab=cd"\r\n%ab:~0,2%%ab%\r\n',
  'what is assigned': `var ab = 'cd'; x = ab + ab;\n`,
  'a here document': `cat <<-'END' > a\nabc\nEND\n`,
  'what a script reads of itself': '#!/usr/bin/perl\n__DATA__\nabc\n',
  'octal digits': '\\101\\102\\103\\104\\105\\106\\107\\110',
  'two bytes in a character': '%u4142%u4344%u4546%u4748%u4142%u4344%u4546%u4748',
  'base32 in lines': `${'ABCDEFGHIJ234567'.repeat(3)}\nABCDEF==`,
  base85: 'a85decode("<~87cURD]i,\\"Ebo80~>") filter cvx exec\n',
  'base85 that nothing names': `data = "P)h>@6aWAK2mr%IcU?TsQD{a0002Y)000R9003oaV_|YGV{dJXF!fgqP<3z&h&G7{h>9>Z(FlmsG<SB^G_O^0^>lU"\n`,
  'bytes in a string of JSON': '{"a": "PK\\u0003\\u0004\\u0014\\u0000\\u00fc abcdefghijklmnopqrstuvwxyz"}\n',
  'base85 in lines': `${'P)h>@6aWAK2mr%IcU?TsQD{a0002Y)000R9003oaV'}\n`.repeat(3),
  'base85 in an XML': '<a><b><![CDATA[9jqo^BlbD-BleB1DJ+*+F(f,q/0JhKF<GL>Cj@.4Gp$d7F!,L7@<6@)/0JDEF<G%<+EV:2F!,]]></b></a>\n',
  'quoted-printable': '=41=42=43=44=\r\n=45=46=47=48',
  uuencode: `unpack('u', 'M9V]O9"!M;W)N:6YG('1H97)E(0')\n`,
  'pairs with a mark': '41-42-43-44-45-46-47-48-49-4a-4b-4c-4d-4e-4f-50-51-52-53-54-55-56-57-58-59-5a-41-42-43-44-45-46-47\n',
  'a dump': '0000000: 4142 4344 4546 4748  ABCDEFGH\n',
  'a dump by certutil': '0000\t41 42 43 44 45 46 47 48  49 4a   ABCDEFGHIJ\r\n',
  'lines of debug': 'echo e 0100 41 42 43 44>>x\n',
  'a trace': '0000: 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50 ABCDEFGHIJKLMNOP\n',
  'a trace of letters': '0000: ABCDEFGHIJ\n000a: KLMNOP\n',
  'rows of a log': '12:34:56.789 app[12]: rx 41 42 43 44 45 46 47 48 49 4a\n',
  'memory in a debugger': '0x7fffe3c0 <a+8>:\t0x41424344\t0x45464748\t0x494a4b4c\n',
  'a drawing': '310\n4142434445464748494A4B4C4D4E4F50\n310\n51525354\n',
  'a dump of a database': `INSERT INTO a VALUES (1,_binary 'a\\0\\'bcdefghijklmnopqrstuvwxyz0123456789','it''s');\n`,
  'a dump of a database with fields': 'COPY a (b) FROM stdin;\n1\ta\\\\101bcdefghijklmnopqrstuvwxyz0123456789\n\\.\n',
  'an EPROM': ':10010000214601360121470136007EFE09D2190140\n',
  'an EPROM of Motorola': 'S11F00007C0802A6900100049421FFF07C6C1B787C8C23783C6000003863000026\n',
  'an EPROM of Tektronix': '%476F41058354F2150254041505B345C505A58353428505E2937434329377D24\n',
  'rows without a first line': 'M9V]O9"!M;W)N:6YG(\'1H97)E9V]O9"!M;W)N:6YG(\'1H97)E9V]O9"!M;W)N\n',
  'a dump by bits': '00000000: 01010111 01101111 01110010 01100100  Word\n',
  'a dump by od': '0000000 067527 071144 020163 064164 072141 067040\n',
  'rows of xxencode': `h${'+-0A9zb'.repeat(9).slice(0, 60)}\n`,
  'numbers with a letter between': `"${[...'powershell -w h -e abcdefghijklmnop'].map((letter) => letter.charCodeAt(0)).join('x')}"`,
  'a file of the registry': '"a"=hex(2):41,42,43,44,45,\\\r\n  46,47,48,49,4a\n',
  'an entity': `<!ENTITY ab "cd&ef;">&ab;<!ENTITY ef 'gh'>&ef;`,
  'a text of JIS': '\x1b(Babc\x1b(Jdef',
  'a calendar': 'ATTACH;ENCODING=BASE64:QUJDREVGR0hJSktM\r\n TU5PUFFSU1RVVldYWVphYmNkZWZn\r\n',
  'a card': 'PHOTO;ENCODING=b;TYPE=JPEG:QUJDREVG\r\n R0hJSktMTU5P\r\n',
  'a directory': 'jpegPhoto:: QUJDREVGR0hJSktM\n TU5PUFFSU1RVVldY\n',
  'comments of a batch file': '::QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph\r\nrem QUJDREVG\r\n',
  'comments of a script': '#:QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVph\n',
  'comments of a language': 'eval/*a*/(/*b*/ x) // c\n<# d #> iex     y\n',
  'an array of C': 'unsigned char x[] = {\n 0x41, 0x42,\n 67, 68 };\n',
  escapes: '\\x41\\u0042&#67;&#x44;%45&Tab;&lpar;\n',
  'names that stand for nothing': '&counterclockwisecontourintegrals',
  'blanks that are written as entities': '&#9;     &Tab;      (\n',
  'an address': `src="data:text/html;charset=utf-8;base64,QUJD REVG%41" `,
  'UTF-7': '+ADw-script+AD4-alert+ACgAJw-',
  'UTF-7 in lines': '+AEEAQgBDAEQARQBGAEcASABJAEoASwBM\n',
  'a document of XML': `<?xml version="1.0"?><a b="c&lt;${'d'.repeat(40)}">${'e&amp;'.repeat(9)}<!-- f --></a>`,
  'a section of XML': `<![CDATA[${'a < b '.repeat(9)}]]>`,
  'a table with lines in its values': `1,"a ""b"" ${'c'.repeat(40)}\nd",2\n`,
  'bytes of Python': `b'a\\x00${'\\xff'.repeat(20)}'`,
  'words that are cut by marks': `po^w^er"shell" c''at Inv\`o\`ke \n`,
  'lines that go on': 'a = "b" & _\n "c"\nx \\\ny ^\nz `\nw\n',
  casts: '[char]65+[char](66)+Chr(67)&ChrW$(&H44)\n',
};

const fitted = (piece: string, bytes: number) => piece.repeat(Math.ceil(bytes / piece.length)).slice(0, bytes);

/** Texts made from an expression's match: each of any length. */
function shapesOf(example: string): ((bytes: number) => string)[] {
  const half = Math.floor(example.length / 2);
  const quarter = Math.max(1, Math.floor(example.length / 4));
  const pieces = [
    example,
    example.slice(0, -1),
    example.slice(1),
    example.slice(0, half),
    example.slice(half),
    example.slice(0, quarter),
    example.slice(-quarter),
    `${example}\n`,
    `${example}\0`,
    `${example}\\`,
    [...example].join(' '),
    [...example].map((character) => character + character).join(''),
    [...example].reverse().join(''),
    example.replaceAll(/[ \t]+/g, ' '.repeat(60)),
    example.replaceAll(/\b/g, ' '.repeat(9)),
    example.replaceAll(/[ \t]+|\b/g, '/*x*/'),
    example.replaceAll(/\w+/g, 'A'.repeat(80)),
    example.replaceAll(/\d+/g, '7'.repeat(30)),
    example.replaceAll(/["']/g, (mark) => (mark === '"' ? "'" : '"')),
    example.replaceAll(/["']/g, (mark) => `\\${mark}`),
    example.replaceAll(/[^\w\s]/g, (mark) => mark.repeat(9)),
    example.replaceAll(/\w/g, '') || '.',
    example.replaceAll(/\W/g, '') || 'a',
    example.replaceAll(/\r?\n/g, ''),
    example.replaceAll(/./g, '$&\r\n'),
  ].filter((piece) => piece !== '');
  /** Continues to the end of the text without its closing mark. */
  const endless = ['A', '0', ' ', "'", '\\', '\n'].map((filling) => `${example.slice(0, -1)}${filling.repeat(64)}`);
  return [
    ...pieces.map((piece) => (bytes: number) => fitted(piece, bytes)),
    ...endless.map((beginning) => (bytes: number) => beginning + fitted(beginning.slice(-1), bytes - beginning.length)),
  ];
}

/** A text of which every rewriting is tried. */
const TELLING = '#!/bin/sh\n# replace rot13 reverse unpack base64 join <~ \n';

const WAYS: Readonly<Record<string, (text: Buffer) => void>> = {
  rewritten: (text) => void rewritten(text),
  folded: (text) => void folded(text),
  'runs and lists': (text) => {
    for (const runs of [
      runsOf(text),
      listsOf(text),
      splitsOf(text),
      rowsOf(text),
      xxRowsOf(text),
      escapesOf(text),
      addressesOf(text),
      stringsOf(text),
      byteLiteralsOf(text),
      wholeOf(text),
      xmlTexts(text),
      tableTexts(text),
      base85RunsOf(text, () => false),
      hexRowsOf(text),
      letterRowsOf(text),
      sqlStringsOf(text),
      brokenStringsOf(text, () => false),
    ])
      for (const _ of runs);
    if (hasUtf7(text)) fromUtf7(text);
  },
};

function timeOf(way: (text: Buffer) => void, text: Buffer): number {
  const began = performance.now();
  way(text);
  return performance.now() - began;
}

describe.each(Object.entries(WAYS))('%s', (_way, way) => {
  const textOf = (shape: (bytes: number) => string, size: number) =>
    Buffer.from((TELLING + shape(size)).slice(0, size), 'latin1');
  const prose = textOf((size) => fitted('Words of a text, and "some" in quotation marks. ', size), BYTES);
  way(prose);

  test.each(Object.entries(EXAMPLES))('takes no more for twice as much, nor far more than for prose: %s', (_, example) => {
    const shapes = shapesOf(example);
    expect(shapes.length).toBeGreaterThan(20);
    for (const [number, shape] of shapes.entries()) {
      const best = { peer: Number.POSITIVE_INFINITY, once: Number.POSITIVE_INFINITY, twice: Number.POSITIVE_INFINITY };
      let is_well = false;
      // The shortest of several: a machine that has other things to do makes some longer.
      for (let turn = 0; turn < TRIES && !is_well; turn += 1) {
        best.peer = Math.min(best.peer, timeOf(way, prose));
        best.twice = Math.min(best.twice, timeOf(way, textOf(shape, BYTES)));
        const ordinary = Math.max(LEAST_MS, best.peer);
        // A case that takes hardly more than prose tells nothing about growth.
        if (best.twice > TELLING_TIMES * ordinary) best.once = Math.min(best.once, timeOf(way, textOf(shape, BYTES / 2)));
        is_well =
          best.twice < TELLING_TIMES * ordinary || (best.twice < PEER_TIMES * ordinary && best.twice < GROWTH * best.once);
      }
      expect({ is_well, ...best, shape: is_well ? '' : `${number}: ${shape(200)}` }).toMatchObject({ is_well: true });
    }
  });
});

test('replacements that double their text end', () => {
  const text = Buffer.from(`x = "${'a'.repeat(60_000)}"${'.replace("a", "aa")'.repeat(16)}`);
  const { texts } = rewritten(text);
  expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(16 * text.length);
});

test('variables that hold escaped quotation marks, again and again, are put in', () => {
  const prose = Buffer.from(`${TELLING}${fitted('Words of a text, and "some". ', 240_000)}`);
  const text = Buffer.from(`@echo off\nset a=${"\\'".repeat(1900)}\n${'%a%'.repeat(60)}\n`);
  expect(timeOf(WAYS['rewritten'] ?? (() => {}), text)).toBeLessThan(
    PEER_TIMES * Math.max(1, timeOf(WAYS['rewritten'] ?? (() => {}), prose)),
  );
});

/** A text takes hardly more than prose of the same length; without a bound it is more than 400 times as long. */
function expectQuick(way: (bytes: Buffer) => void, hostile: Buffer): void {
  const prose = Buffer.from(`${TELLING}${fitted('Words of a text, and "some" in quotation marks. ', hostile.length)}`, 'latin1');
  way(prose);
  expect(timeOf(way, hostile)).toBeLessThan(PEER_TIMES * Math.max(LEAST_MS, timeOf(way, prose)));
}

test.each(["'", '"', "'\\''", "\\'", "'' /**/", `${"''".repeat(3000)}${'a b '.repeat(60_000)}`])(
  'quotation marks that end no literal are not searched from each of them to the end: %j',
  (piece) => {
    const text = Buffer.from(`#!/bin/sh\nx = replace\n${piece.repeat(Math.floor((256 * 1024) / piece.length))}`);
    expectQuick((bytes) => void rewritten(bytes), text);
  },
);

test.each(['<a ', '<!-- ', '<![CDATA[', '<a b="&', '&#', `<a b='&"`, '</a>text of a document, long enough to be one'])(
  'parts of XML without an end take no longer than others: %s',
  (piece) => {
    const xml = Buffer.from(`<?xml version="1.0"?>${piece.repeat(Math.ceil(1024 ** 2 / piece.length))}`);
    expectQuick((bytes) => void [...xmlTexts(bytes)], xml);
  },
);

test('strings of two pieces, each within the others, end soon', () => {
  // Each byte that could begin one does: of 500 bytes, which are neither a text nor a file.
  const hostile = Buffer.alloc(8 * 1024 ** 2, 0xff);
  for (let at = 0; at + 600 < hostile.length; at += 5) hostile.set([0x5f, 0x58, 0xf0], at);
  expectQuick((bytes) => void [...brokenStringsOf(bytes, () => false)], hostile);
});
