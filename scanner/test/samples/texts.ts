import { deflateSync, gzipSync } from 'node:zlib';
import { uuencoded } from '#test/containers.ts';
import { noise, zip } from '#test/files.ts';
import { flawedOf, HARMLESS, hex, LINES, latin, little, made, type Packed, piecesOf, type Sample, TEXTS } from './sample.ts';

// Bytes that texts carry, and texts that say the same in another way: pages, scripts, listings, calendars and encodings.

const base64 = (bytes: Buffer) => bytes.toString('base64');
/** Base64 in lines, each between two texts. */
const base64Lines = (bytes: Buffer, width: number, before = '', after = '\n') =>
  piecesOf(base64(bytes), width)
    .map((row) => `${before}${row}${after}`)
    .join('');
const each = (bytes: Buffer, write: (byte: number) => string, between = '') => [...bytes].map(write).join(between);
const digits = (byte: number) => byte.toString(16).padStart(2, '0');
const percent = (bytes: Buffer) => each(bytes, (byte) => `%${digits(byte)}`);
const dataAddress = ({ bytes }: Packed) => `data:application/octet-stream;base64,${base64(bytes)}`;
const folded = (text: string, end = '\r\n', width = 74) => piecesOf(text, width).join(`${end} `);
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll("'", '&#39;');

const page = (body: string) => `<!doctype html>\n<html><head><title>A page</title></head><body>\n${body}\n</body></html>\n`;

const PAGES: readonly Sample[] = [
  made('page, data URI', 'html', (inner) => page(`<a href="${dataAddress(inner)}" download="${inner.name}">the file</a>`)),
  made('page, data URI with per cent', 'html', ({ bytes }) =>
    page(`<a href="data:application/octet-stream,${percent(bytes)}">file</a>`),
  ),
  made(
    'SVG, data URI',
    'svg',
    (inner) => `<svg xmlns="http://www.w3.org/2000/svg"><image href="${dataAddress(inner)}"/></svg>\n`,
  ),
  made('style sheet, data URI', 'css', (inner) => `body { background: url("${dataAddress(inner)}"); }\n`),
  made('calendar, base64', 'ics', ({ bytes }) => {
    const attached = folded(`ATTACH;FMTTYPE=application/zip;ENCODING=BASE64;VALUE=BINARY:${base64(bytes)}`);
    return `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n${attached}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
  }),
  made(
    'card, base64',
    'vcf',
    ({ bytes }) => `BEGIN:VCARD\r\nFN:x\r\n${folded(`PHOTO;ENCODING=b;TYPE=JPEG:${base64(bytes)}`)}\r\nEND:VCARD\r\n`,
  ),
  made('directory, base64', 'ldif', ({ bytes }) => `version: 1\ndn: cn=x\n${folded(`jpegPhoto:: ${base64(bytes)}`, '\n')}\n`),
  made('PEM', 'pem', ({ bytes }) => `-----BEGIN CERTIFICATE-----\n${base64Lines(bytes, 64)}-----END CERTIFICATE-----\n`),
  made('JSON, base64', 'json', ({ name, bytes }) => JSON.stringify({ name, content: base64(bytes) })),
];

/** A listing of digits and characters, 16 bytes a row. */
const listing = (bytes: Buffer, row: (digits: string, at: number, shown: string) => string, end = '\n') =>
  piecesOf(bytes.toString('latin1'), 16)
    .map((text, index) => row(latin(text).toString('hex'), index * 16, text.replaceAll(/[^ -~]/g, '.')) + end)
    .join('');

const SCRIPTS: readonly Sample[] = [
  made('script, base64', 'js', ({ bytes }) => `const file = atob("${base64(bytes)}");\nsave(file);\n`),
  made('script, base64 in pieces', 'js', ({ bytes }) => {
    const literals = piecesOf(base64(bytes), 60).map((piece) => `  "${piece}"`);
    return `const file = atob(\n${literals.join(' +\n')}\n);\n`;
  }),
  made('script, base64 in templates', 'js', ({ bytes }) => `const x = \`${piecesOf(base64(bytes), 20).join('` + `')}\`;`),
  made('script, hexadecimal', 'js', ({ bytes }) => `const file = Buffer.from("${bytes.toString('hex')}", "hex");\n`),
  made('shell script, base64', 'sh', ({ bytes }) => `#!/bin/sh\nbase64 -d > file <<'EOF'\n${base64Lines(bytes, 76)}EOF\n`),
  made('shell script, base64 in variables', 'sh', ({ bytes }) => {
    const parts = piecesOf(base64(bytes), 30);
    const names = parts.map((_, index) => `$a${index}`);
    return `#!/bin/sh\n${parts.map((part, index) => `a${index}="${part}"\n`).join('')}echo "${names.join('')}" | base64 -d | sh\n`;
  }),
  made('shell script, here document', 'sh', ({ bytes }) => `#!/bin/sh\ncat > file <<'END'\n${bytes.toString('latin1')}\nEND\n`, {
    takes: LINES,
  }),
  made('shell script, literal', 'sh', ({ bytes }) => `#!/bin/sh\necho '${bytes.toString('latin1')}' > file\n`, {
    takes: ['line'],
  }),
  made('shell script, base64 in comments', 'sh', ({ bytes }) => `#!/bin/sh\n${base64Lines(bytes, 60, '#:')}`),
  made('batch file, base64 in comments', 'bat', ({ bytes }) => base64Lines(bytes, 60, '::', '\r\n')),
  made(
    'batch file, base64 by echo',
    'bat',
    ({ bytes }) => `@echo off\r\n${base64Lines(bytes, 60, 'echo ', '>>a.b64\r\n')}certutil -decode a.b64 a.exe\r\n`,
  ),
  made(
    'array of C',
    'c',
    ({ bytes }) => `unsigned char x[] = {\n${each(bytes, (byte) => `0x${byte.toString(16)}`, ',\n   ')}\n};\n`,
  ),
  made('listing of xxd', 'txt', ({ bytes }) =>
    listing(
      bytes,
      (row, at, shown) => `${at.toString(16).padStart(8, '0')}: ${row.replaceAll(/(....)/g, '$1 ').padEnd(41)} ${shown}`,
    ),
  ),
  made('listing of certutil', 'txt', ({ bytes }) =>
    listing(
      bytes,
      (row, at, shown) =>
        `${at.toString(16).padStart(4, '0')}\t${piecesOf(row.slice(0, 16), 2).join(' ')}  ${piecesOf(row.slice(16), 2).join(' ')}   ${shown}`,
      '\r\n',
    ),
  ),
  made('statement of a database, digits', 'sql', ({ bytes }) => `INSERT INTO t VALUES (0x${bytes.toString('hex')}, 1);`),
  made('copy of a table', 'sql', ({ bytes }) => `COPY t (a) FROM stdin;\n\\\\x${bytes.toString('hex')}\n\\.\n`),
  made('script, base85 of a package', 'py', ({ name, bytes }) =>
    packageScript(
      zip([
        { name: 'package.bin', content: noise(40_000) },
        { name, content: bytes },
      ]),
    ),
  ),
  made('patch of git', 'patch', ({ bytes }) => gitPatch(Buffer.concat([Buffer.from([0]), bytes]))),
];

const GIT_LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';

/** Five letters for four bytes (RFC 1924). */
function base85(bytes: Buffer): string {
  let letters = '';
  for (let group = 0; group < bytes.length; group += 4) {
    const value = Buffer.concat([bytes.subarray(group, group + 4)], 4).readUInt32BE(0);
    letters += [4, 3, 2, 1, 0].map((place) => GIT_LETTERS[Math.floor(value / 85 ** place) % 85]).join('');
  }
  return letters;
}

/** A script that unpacks a package from its own text, as get-pip.py does. */
export const packageScript = (archive: Buffer, { width = 99, end = '\n' } = {}): string =>
  [
    '#!/usr/bin/env python',
    'import os.path, sys, tempfile',
    'from base64 import b85decode',
    '',
    'def main():',
    '    path = os.path.join(tempfile.mkdtemp(), "package.zip")',
    '    with open(path, "wb") as fp:',
    '        fp.write(b85decode(DATA.replace(b"\\n", b"")))',
    '    sys.path.insert(0, path)',
    '',
    'DATA = b"""',
    ...piecesOf(base85(archive), width),
    '"""',
    '',
    'if __name__ == "__main__":',
    '    main()',
    '',
  ].join(end);

/** A binary patch of git: zlib in its base85, 52 bytes a line. */
function gitPatch(bytes: Buffer): string {
  const packed = deflateSync(bytes);
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += 52) {
    const row = packed.subarray(at, at + 52);
    lines.push(String.fromCharCode(row.length > 26 ? 0x60 + row.length - 26 : 0x40 + row.length) + base85(row));
  }
  return `diff --git a/a b/a\nnew file mode 100644\nGIT binary patch\nliteral ${bytes.length}\n${lines.join('\n')}\n\nliteral 0\nHcmV?d00001\n`;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const base32 = (bytes: Buffer) =>
  piecesOf(
    each(bytes, (byte) => byte.toString(2).padStart(8, '0')),
    5,
  )
    .map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');

/** Base64 with both of its marks in it. */
const slashed = (bytes: Buffer) => base64(gzipSync(Buffer.concat([noise(900), bytes, noise(900, 7)])));

/** Encodings that the content must be long enough for. Where the gzip in them is cut into runs, a run alone is a damaged one. */
const ENCODED: readonly Sample[] = [
  made('base32 in lines', 'txt', ({ bytes }) => piecesOf(base32(bytes), 76).join('\n')),
  made('characters of two bytes', 'js', ({ bytes }) => {
    const swapped = Buffer.concat([bytes], bytes.length + (bytes.length % 2)).swap16();
    return `unescape("${piecesOf(swapped.toString('hex'), 4)
      .map((four) => `%u${four}`)
      .join('')}")`;
  }),
  made('base64 in JSON, its slashes escaped', 'json', ({ bytes }) =>
    JSON.stringify({ a: slashed(bytes) }).replaceAll('/', '\\/'),
  ),
  made('base64 in a form', 'txt', ({ bytes }) => `a=1&b=${encodeURIComponent(slashed(bytes))}&c=2`),
  made('base64 in groups of four', 'txt', ({ bytes }) => piecesOf(slashed(bytes), 4).join(' ')),
  made('base64 with blank lines between its lines', 'txt', ({ bytes }) => piecesOf(slashed(bytes), 64).join('\n\n')),
  made('numbers with a stroke between two', 'js', ({ bytes }) => `"${[...bytes].join('|')}".split("|")`),
].map((sample): Sample => ({ ...sample, takes: TEXTS }));

/** A text that is written in another way. */
const said = (name: string, ending: string, write: (text: string) => string): Sample =>
  made(`text, ${name}`, ending, ({ bytes }) => write(bytes.toString('latin1')), { takes: TEXTS });

/** A text of one line, whatever lies around it, in two halves. */
const halves = (text: string) => [text.trim().slice(0, 50), text.trim().slice(50)] as const;

/** The pieces of a text in another order, and a format that puts them right. */
function formatted(text: string): string {
  const pieces = piecesOf(text, 7);
  const format = pieces.map((_, index) => `{${pieces.length - 1 - index}}`).join('');
  return `iex ("${format}" -f ${pieces.reverse().map(quoted).join(',')})\n`;
}

const rot13 = (text: string) =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    String.fromCharCode((letter <= 'Z' ? 65 : 97) + (((letter.charCodeAt(0) & 31) + 12) % 26)),
  );

/** A text in pieces of three, as programs of Office mark them up. */
const marked = (text: string, open: string, close: string, between = '') =>
  piecesOf(text, 3)
    .map((part) => `${open}${escaped(part)}${close}`)
    .join(between);

const entities = (text: string, head: string, tag: string) => {
  const [one, other] = halves(text);
  return `${head}<!DOCTYPE ${tag} [<!ENTITY b '${escaped(one)}'><!ENTITY c '${escaped(other)}'>]>\n<${tag}>\n&b;&c;\n</${tag}>`;
};

const member = (name: string, text: string) => zip([{ name, content: Buffer.from(text) }]);

const SAID: readonly Sample[] = [
  said('lines end in CR', 'txt', (text) => `first line\r${text}\rlast line\r`),
  said('lines end in CRLF', 'txt', (text) => `first line\r\n${text}\r\nlast line\r\n`),
  said('HTML entities', 'html', (text) => page(each(latin(text), (byte) => `&#${byte};`))),
  said('HTML entities in hexadecimal', 'html', (text) => page(each(latin(text), (byte) => `&#x${byte.toString(16)};`))),
  said('URL escapes', 'html', (text) => page(`<script>document.write(unescape("${percent(latin(text))}"))</script>`)),
  said('URL escapes of some letters', 'js', (text) => `eval(decodeURIComponent("${encodeURIComponent(text)}"))`),
  said('sent of a form', 'txt', (text) => `a=1&b=${encodeURIComponent(text).replaceAll('%20', '+')}`),
  said('script escapes', 'js', (text) => `eval("${each(latin(text), (byte) => `\\x${digits(byte)}`)}");\n`),
  said('format operator', 'ps1', formatted),
  said('-join', 'ps1', (text) => `iex ((${piecesOf(text, 6).map(quoted).join(',')}) -join '')\n`),
  said('numbers as characters', 'ps1', (text) => `iex (-join ([char[]]@(${[...latin(text)].join(',')})))\n`),
  said('join of a list', 'js', (text) => `eval([${piecesOf(text, 6).map((piece) => JSON.stringify(piece))}].join(""));\n`),
  said('turned round', 'js', (text) => `eval(${JSON.stringify([...text].reverse().join(''))}.split("").reverse().join(""));\n`),
  said('literal over lines, turned by 13', 'py', (text) => `import codecs\nexec(codecs.decode('''${rot13(text)}''', 'rot13'))\n`),
  said('entities of an XML', 'xml', (text) => entities(text, '<?xml version="1.0"?>\n', 'a')),
  said('entities of an XML behind a letter', 'svg', (text) => entities(text, 'x\n', 'svg')),
  said('JIS', 'txt', (text) => piecesOf(text, 6).join('\x1b(B')),
  said(
    'program of PostScript',
    'ps',
    (text) => `%!PS\ncurrentfile /ASCII85Decode filter cvx exec\n${postScript(latin(text))}~>\n`,
  ),
  said('values of a batch file', 'bat', (text) => {
    const [one, other] = halves(text);
    return `@set a=${one}\r\n@set b=${other}\r\n%a%%b%\r\n`;
  }),
  said('values of a batch file that are set late', 'bat', (text) => {
    const [one, other] = halves(text);
    return `@echo off\r\nsetlocal enabledelayedexpansion\r\nset "a=${one}"\r\nset "b=${other}"\r\n!a!!b!\r\n`;
  }),
  said('a caret before each letter', 'bat', (text) => `@${text.trim().replaceAll(/\w/g, '^$&')}\r\n`),
  said('description of a calendar', 'ics', (text) => {
    const value = text
      .trim()
      .replaceAll(/[\\,;]/g, '\\$&')
      .replaceAll('\n', '\\n');
    return `BEGIN:VCALENDAR\r\nDESCRIPTION:${folded(value, '\r\n', 9)}\r\nEND:VCALENDAR\r\n`;
  }),
  said('RTF in groups', 'rtf', (text) => {
    const groups = piecesOf(text.trim(), 3).map((part) => `{${part.replaceAll(/[\\{}]/g, '\\$&')}}`);
    return `{\\rtf1\\ansi ${groups.join('')}}`;
  }),
  said('RTF, letters by their numbers', 'rtf', (text) => `{\\rtf1\\ansi ${each(latin(text.trim()), (byte) => `\\u${byte}?`)}}`),
  said('RTF, letters as digits', 'rtf', (text) => `{\\rtf1\\ansi ${each(latin(text.trim()), (byte) => `\\'${digits(byte)}`)}}`),
  said('literal of PHP over lines, in uuencode', 'php', (text) => {
    const rows = /begin 644 a\n([\s\S]*)\nend/.exec(uuencoded('a', latin(text)).toString('latin1'))?.[1] ?? '';
    return `<?php eval(convert_uudecode('${rows.replaceAll(/[\\']/g, '\\$&')}'));\n`;
  }),
  made(
    'document whose words stand in pieces',
    'docx',
    ({ bytes }) => {
      const run = (text: string) => marked(text, '<w:r><w:t xml:space="preserve">', '</w:t></w:r>', '<w:proofErr/>');
      const words = run(bytes.toString('latin1').trim());
      return member(
        'word/document.xml',
        `<?xml version="1.0"?><w:document><w:body><w:p>${run('Words before it.')}</w:p><w:p>${words}</w:p></w:body></w:document>`,
      );
    },
    { takes: TEXTS },
  ),
  made(
    'rich text in a cell',
    'xlsx',
    ({ bytes }) => {
      const runs = marked(bytes.toString('latin1').trim(), '<r><t xml:space="preserve">', '</t></r>');
      return member('xl/sharedStrings.xml', `<sst><si>${runs}</si></sst>`);
    },
    { takes: TEXTS },
  ),
  made('file that Linux unpacks on a disc', 'bin', ({ bytes }) => zisofs(bytes), { takes: TEXTS }),
];

const postScript = (bytes: Buffer) =>
  piecesOf(Buffer.concat([bytes, Buffer.alloc(4 - (bytes.length % 4))]).toString('hex'), 8)
    .map((group) =>
      [4, 3, 2, 1, 0]
        .map((place) => String.fromCharCode(33 + (Math.floor(Number.parseInt(group, 16) / 85 ** place) % 85)))
        .join(''),
    )
    .join('\n');

/** Two blocks of zlib, as mkzftree writes them. */
function zisofs(bytes: Buffer): Buffer {
  const filled = Buffer.concat([Buffer.alloc(32_768, HARMLESS), bytes]);
  const [one, other] = [deflateSync(filled.subarray(0, 32_768)), deflateSync(filled.subarray(32_768))];
  const places = [28, 28 + one.length, 28 + one.length + other.length].map((place) => little(place));
  return Buffer.concat([hex('37e45396c9dbd607'), little(filled.length), hex('040f0000'), ...places, one, other]);
}

export const TEXT_SAMPLES: readonly Sample[] = [...PAGES, ...SCRIPTS, ...flawedOf(ENCODED, /slashes|form|blank lines/), ...SAID];
