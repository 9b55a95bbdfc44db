import { deflateSync } from 'node:zlib';
import { docx, ole } from '#test/containers.ts';
import { noise, zip } from '#test/files.ts';
import { HARMLESS, type Packed, type Wrapper } from './wrapper.ts';

// Documents that carry files: PDF, Office, pages, and texts in other encodings.

function ascii85(bytes: Buffer): Buffer {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    const group = Buffer.concat([bytes.subarray(at, at + 4)], 4);
    let value = group.readUInt32BE();
    let digits = '';
    for (let index = 0; index < 5; index += 1, value = Math.floor(value / 85))
      digits = String.fromCharCode(33 + (value % 85)) + digits;
    text += digits.slice(0, Math.min(4, bytes.length - at) + 1);
  }
  return Buffer.from(`${text}~>`, 'latin1');
}

/** LZW as PDF has it (ISO 32000, 7.4.4), with a table that is cleared before it grows: every code has nine bits. */
function lzw(bytes: Buffer): Buffer {
  const codes = [...bytes].flatMap((byte, index) => (index % 200 === 0 ? [256, byte] : [byte]));
  codes.push(257);
  const bits = codes.map((code) => code.toString(2).padStart(9, '0')).join('');
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((piece) => Number.parseInt(piece.padEnd(8, '0'), 2)));
}

function runLength(bytes: Buffer): Buffer {
  const runs: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 128) {
    const run = bytes.subarray(at, at + 128);
    runs.push(Buffer.from([run.length - 1]), run);
  }
  return Buffer.concat([...runs, Buffer.from([128])]);
}

/** PNG's predictor "up" over rows of 16 bytes. */
function predicted(bytes: Buffer): Buffer {
  const padded = Buffer.concat([bytes], Math.ceil(bytes.length / 16) * 16);
  const rows: Buffer[] = [];
  for (let at = 0; at < padded.length; at += 16) {
    const row = Buffer.from(padded.subarray(at, at + 16));
    for (let index = 0; index < 16; index += 1)
      row[index] = ((row[index] ?? 0) - (at === 0 ? 0 : (padded[at - 16 + index] ?? 0))) & 0xff;
    rows.push(Buffer.from([2]), row);
  }
  return deflateSync(Buffer.concat(rows));
}

interface PdfLook {
  filter?: string;
  packed?: Buffer;
  /** Text behind the dictionary's own entries. */
  more?: string;
  before?: Buffer;
  /** Between the word stream and its bytes. */
  gap?: string;
  type?: string;
  length?: string;
  xref?: 'right' | 'wrong' | 'none';
  objects?: readonly string[];
}

/** A PDF of one page with an attached file, with a cross-reference table that is right unless it is asked to be otherwise. */
function pdf(inner: Packed, look: PdfLook = {}): Buffer {
  const { filter = '/FlateDecode', packed = deflateSync(inner.bytes), more = '', before = Buffer.alloc(0), gap = '\n' } = look;
  const { type = '/Type /EmbeddedFile', length = `${packed.length}`, xref = 'right', objects = [] } = look;
  const bodies: Buffer[] = [
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(${inner.name}) 5 0 R] >> >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R >>',
    '<< /Length 23 >>\nstream\nBT (A clean page) Tj ET\nendstream',
    `<< /Type /Filespec /F (${inner.name}) /UF (${inner.name}) /EF << /F 6 0 R >> >>`,
  ].map((text) => Buffer.from(text, 'latin1'));
  bodies.push(
    Buffer.concat([
      Buffer.from(`<< ${type} ${filter === '' ? '' : `/Filter ${filter}`} /Length ${length} ${more} >>\nstream${gap}`, 'latin1'),
      packed,
      Buffer.from('\nendstream'),
    ]),
    ...objects.map((text) => Buffer.from(text, 'latin1')),
  );
  const parts: Buffer[] = [before, Buffer.from('%PDF-1.5\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const places: number[] = [];
  const size = () => parts.reduce((total, part) => total + part.length, 0);
  for (const [index, body] of bodies.entries()) {
    places.push(size());
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n'));
  }
  const table_at = size();
  if (xref !== 'none') {
    const rows = places.map((place) => `${String(xref === 'wrong' ? 7 : place).padStart(10, '0')} 00000 n \n`);
    parts.push(Buffer.from(`xref\n0 ${bodies.length + 1}\n0000000000 65535 f \n${rows.join('')}`));
  }
  parts.push(
    Buffer.from(`trailer\n<< /Size ${bodies.length + 1} /Root 1 0 R >>\nstartxref\n${xref === 'right' ? table_at : 99}\n%%EOF\n`),
  );
  return Buffer.concat(parts);
}

const hex = ({ bytes }: Packed) => Buffer.from(`${bytes.toString('hex')}>`);
const PDFS: readonly [string, (inner: Packed) => Buffer][] = [
  ['pdf, not packed', (inner) => pdf(inner, { filter: '', packed: inner.bytes })],
  ['pdf, Flate', (inner) => pdf(inner)],
  ['pdf, hexadecimal', (inner) => pdf(inner, { filter: '/ASCIIHexDecode', packed: hex(inner) })],
  ['pdf, ASCII85', (inner) => pdf(inner, { filter: '/ASCII85Decode', packed: ascii85(inner.bytes) })],
  ['pdf, LZW', (inner) => pdf(inner, { filter: '/LZWDecode', packed: lzw(inner.bytes) })],
  ['pdf, run length', (inner) => pdf(inner, { filter: '/RunLengthDecode', packed: runLength(inner.bytes) })],
  [
    'pdf, chain of filters',
    (inner) =>
      pdf(inner, {
        filter: '[/ASCIIHexDecode /ASCII85Decode /FlateDecode]',
        packed: Buffer.from(`${ascii85(deflateSync(inner.bytes)).toString('hex')}>`),
      }),
  ],
  [
    'pdf, Flate twice',
    (inner) => pdf(inner, { filter: '[/FlateDecode /FlateDecode]', packed: deflateSync(deflateSync(inner.bytes)) }),
  ],
  ['pdf, filter with an escaped name', (inner) => pdf(inner, { filter: '/Fl#61te#44ecode' })],
  [
    'pdf, the word Filter escaped',
    (inner) => pdf(inner, { filter: '', packed: deflateSync(inner.bytes), more: '/F#69lter /FlateDecode' }),
  ],
  ['pdf, filter in another object', (inner) => pdf(inner, { filter: '7 0 R', objects: ['/FlateDecode'] })],
  ['pdf, filters in another object', (inner) => pdf(inner, { filter: '7 0 R', objects: ['[/FlateDecode]'] })],
  ['pdf, length in another object', (inner) => pdf(inner, { length: '7 0 R', objects: [`${deflateSync(inner.bytes).length}`] })],
  ['pdf, length too small', (inner) => pdf(inner, { length: '3' })],
  ['pdf, length too large', (inner) => pdf(inner, { length: '99999999' })],
  [
    'pdf, predictor',
    (inner) => pdf(inner, { packed: predicted(inner.bytes), more: '/DecodeParms << /Predictor 12 /Columns 16 >>' }),
  ],
  ['pdf, no type', (inner) => pdf(inner, { type: '' })],
  ['pdf, CRLF behind stream', (inner) => pdf(inner, { gap: '\r\n' })],
  ['pdf, CR behind stream', (inner) => pdf(inner, { gap: '\r' })],
  ['pdf, blanks behind stream', (inner) => pdf(inner, { gap: '  \r\n' })],
  ['pdf, late header', (inner) => pdf(inner, { before: Buffer.concat([HARMLESS, Buffer.from('\n')]) })],
  ['pdf behind noise', (inner) => pdf(inner, { before: noise(900) })],
  ['pdf without a header', (inner) => pdf(inner).subarray(15)],
  ['pdf, wrong cross-reference', (inner) => pdf(inner, { xref: 'wrong' })],
  ['pdf, no cross-reference', (inner) => pdf(inner, { xref: 'none' })],
  ['pdf, comment in the dictionary', (inner) => pdf(inner, { filter: '%/ASCIIHexDecode\n/FlateDecode' })],
];

/** Output of qpdf for a PDF with the file attached. */
function byQpdf(name: string, ...args: string[]): Wrapper {
  return {
    name,
    makes: 'file',
    ending: 'pdf',
    needs: ['qpdf'],
    wrap: (inner, { writers }) => writers.run('qpdf', [...args, 'in.pdf', 'out.pdf'], { 'in.pdf': pdf(inner) }, 'out.pdf'),
  };
}

/** An OLE 1.0 package as a stream Ole10Native has it (MS-OLEDS 2.3.6, and the packager's own fields). */
function nativePackage({ bytes, name }: Packed): Buffer {
  const text = (value: string) => Buffer.from(`${value}\0`, 'latin1');
  const number = (value: number) => {
    const field = Buffer.alloc(4);
    field.writeUInt32LE(value);
    return field;
  };
  const path = text(`C:\\Users\\anna\\${name}`);
  const body = Buffer.concat([
    Buffer.from([2, 0]),
    text(name),
    path,
    Buffer.from([0, 0, 3, 0]),
    number(path.length),
    path,
    number(bytes.length),
    bytes,
    Buffer.alloc(2),
  ]);
  return Buffer.concat([number(body.length), body]);
}

const filler = () => ({ name: 'WordDocument', content: noise(5000) });

/** An object of OLE 1.0 as RTF embeds it. */
function embedded(inner: Packed): string {
  const text = (value: string) => {
    const field = Buffer.alloc(4);
    field.writeUInt32LE(value.length + 1);
    return Buffer.concat([field, Buffer.from(`${value}\0`, 'latin1')]);
  };
  const native = nativePackage(inner);
  return Buffer.concat([Buffer.from('0105000002000000', 'hex'), text('Package'), Buffer.alloc(8), native]).toString('hex');
}

const rtf = (data: string) =>
  Buffer.from(
    `{\\rtf1\\ansi Hello.\\par {\\object\\objemb\\objw100\\objh100{\\*\\objclass Package}{\\*\\objdata ${data}}{\\result x}}}`,
    'latin1',
  );

/** A section of OneNote with one embedded file (MS-ONESTORE 2.6.13). */
function oneNote({ bytes }: Packed): Buffer {
  const head = Buffer.concat([Buffer.from('e4525c7b8cd8a74daeb15378d02996d3', 'hex')], 1024);
  const length = Buffer.alloc(8);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([
    head,
    Buffer.from('e716e3bd65261145a4c48d4d0b7a9eac', 'hex'),
    length,
    Buffer.alloc(12),
    bytes,
    Buffer.alloc((8 - (bytes.length % 8)) % 8),
    Buffer.from('22a7fb71790f0b4abb13899256426b24', 'hex'),
  ]);
}

const office = (members: readonly { name: string; content: Buffer }[]) =>
  zip([
    {
      name: '[Content_Types].xml',
      content: Buffer.from('<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'),
    },
    ...members,
  ]);

const OFFICE: readonly [string, string, (inner: Packed) => Buffer][] = [
  ['ole, a stream', 'doc', (inner) => ole([filler(), { name: 'CONTENTS', content: inner.bytes }])],
  ['ole, a small stream', 'doc', (inner) => ole([filler(), { name: 'CONTENTS', content: inner.bytes }], { mini: true })],
  [
    'ole, a package',
    'doc',
    (inner) => ole([filler(), { name: '\x01Ole10Native', content: nativePackage(inner) }], { mini: true }),
  ],
  [
    'Outlook message',
    'msg',
    (inner) =>
      ole(
        [
          { name: '__properties_version1.0', content: Buffer.alloc(32) },
          { name: '__substg1.0_37010102', content: inner.bytes },
        ],
        { mini: true },
      ),
  ],
  ['docx, an embedded file', 'docx', (inner) => docx(inner.name, inner.bytes)],
  [
    'docx, an OLE package',
    'docx',
    (inner) => docx('oleObject1.bin', ole([{ name: '\x01Ole10Native', content: nativePackage(inner) }], { mini: true })),
  ],
  [
    'docx, an altChunk',
    'docx',
    (inner) =>
      office([
        { name: 'word/document.xml', content: Buffer.from('<w:document/>') },
        { name: 'word/afchunk.bin', content: inner.bytes },
      ]),
  ],
  [
    'xlsx, an embedded file',
    'xlsx',
    (inner) =>
      office([
        { name: 'xl/workbook.xml', content: Buffer.from('<workbook/>') },
        { name: 'xl/embeddings/a.bin', content: inner.bytes },
      ]),
  ],
  [
    'odt, an object',
    'odt',
    (inner) =>
      zip([
        { name: 'mimetype', content: Buffer.from('application/vnd.oasis.opendocument.text'), method: 0 },
        { name: 'content.xml', content: Buffer.from('<office:document-content/>') },
        { name: 'Object 1', content: inner.bytes },
      ]),
  ],
  [
    'flat OPC',
    'xml',
    (inner) =>
      Buffer.from(
        `<?xml version="1.0"?><?mso-application progid="Word.Document"?><pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"><pkg:part pkg:name="/word/embeddings/a.bin"><pkg:binaryData>${inner.bytes.toString('base64').replaceAll(/(.{76})/g, '$1\r\n')}</pkg:binaryData></pkg:part></pkg:package>`,
      ),
  ],
  ['rtf, an object', 'rtf', (inner) => rtf(embedded(inner))],
  ['rtf, an object in lines', 'rtf', (inner) => rtf(embedded(inner).replaceAll(/(.{64})/g, '$1\r\n'))],
  ['rtf, an object with blanks', 'rtf', (inner) => rtf(embedded(inner).replaceAll(/(.{3})/g, '$1 \t'))],
  ['rtf, an object with words in it', 'rtf', (inner) => rtf(embedded(inner).replaceAll(/(.{40})/g, '$1\\cf0 '))],
  ['rtf, an object with groups in it', 'rtf', (inner) => rtf(embedded(inner).replaceAll(/(.{40})/g, '$1{\\*\\company abc}'))],
  ['OneNote', 'one', oneNote],
];

const data = (inner: Packed) => `data:application/octet-stream;base64,${inner.bytes.toString('base64')}`;
const page = (body: string) =>
  Buffer.from(`<!doctype html>\n<html><head><title>A page</title></head><body>\n${body}\n</body></html>\n`);
const PAGES: readonly [string, string, (inner: Packed) => Buffer][] = [
  ['page, data URI', 'html', (inner) => page(`<a href="${data(inner)}" download="${inner.name}">the file</a>`)],
  [
    'page, data URI with per cent',
    'html',
    (inner) =>
      page(
        `<a href="data:application/octet-stream,${[...inner.bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}">file</a>`,
      ),
  ],
  [
    'SVG, data URI',
    'svg',
    (inner) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${data(inner)}"/></svg>\n`),
  ],
  ['style sheet, data URI', 'css', (inner) => Buffer.from(`body { background: url("${data(inner)}"); }\n`)],
  ['script, base64', 'js', (inner) => Buffer.from(`const file = atob("${inner.bytes.toString('base64')}");\nsave(file);\n`)],
  [
    'script, base64 in pieces',
    'js',
    (inner) =>
      Buffer.from(
        `const file = atob(\n${(inner.bytes.toString('base64').match(/.{1,60}/g) ?? []).map((piece) => `  "${piece}"`).join(' +\n')}\n);\n`,
      ),
  ],
  ['script, hexadecimal', 'js', (inner) => Buffer.from(`const file = Buffer.from("${inner.bytes.toString('hex')}", "hex");\n`)],
  ['JSON, base64', 'json', (inner) => Buffer.from(JSON.stringify({ name: inner.name, content: inner.bytes.toString('base64') }))],
  [
    'calendar, base64',
    'ics',
    (inner) =>
      Buffer.from(
        `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:${inner.bytes.toString('base64').replaceAll(/(.{70})/g, '$1\r\n ')}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
      ),
  ],
  [
    'PEM',
    'pem',
    (inner) =>
      Buffer.from(
        `-----BEGIN CERTIFICATE-----\n${inner.bytes.toString('base64').replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`,
      ),
  ],
  [
    'shell script, base64',
    'sh',
    (inner) =>
      Buffer.from(`#!/bin/sh\nbase64 -d > file <<'EOF'\n${inner.bytes.toString('base64').replaceAll(/(.{76})/g, '$1\n')}\nEOF\n`),
  ],
];

/** Another encoding of a text: only the innermost wrapper can be one. */
function text(name: string, codec: string, mark = ''): Wrapper {
  return {
    name: `text, ${name}`,
    takes: ['text'],
    makes: 'file',
    ending: 'txt',
    wrap: async (inner, { writers }) =>
      Buffer.concat([Buffer.from(mark, 'hex'), await writers.python('text', inner.bytes, inner.name, { codec })]),
  };
}

function rewritten(name: string, ending: string, wrap: (content: string) => string): Wrapper {
  return {
    name: `text, ${name}`,
    takes: ['text'],
    makes: 'file',
    ending,
    wrap: (inner) => Buffer.from(wrap(inner.bytes.toString('utf8'))),
  };
}

export const TEXTS: readonly Wrapper[] = [
  text('UTF-16LE with mark', 'utf-16-le', 'fffe'),
  text('UTF-16BE with mark', 'utf-16-be', 'feff'),
  text('UTF-16LE', 'utf-16-le'),
  text('UTF-16BE', 'utf-16-be'),
  text('UTF-32LE with mark', 'utf-32-le', 'fffe0000'),
  text('UTF-32BE with mark', 'utf-32-be', '0000feff'),
  text('UTF-8 with mark', 'utf-8-sig'),
  text('UTF-7', 'utf-7'),
  rewritten('lines end in CR', 'txt', (content) => `first line\r${content}\rlast line\r`),
  rewritten('lines end in CRLF', 'txt', (content) => `first line\r\n${content}\r\nlast line\r\n`),
  rewritten('HTML entities', 'html', (content) =>
    page([...content].map((one) => `&#${one.codePointAt(0)};`).join('')).toString(),
  ),
  rewritten('HTML entities in hexadecimal', 'html', (content) =>
    page([...content].map((one) => `&#x${one.codePointAt(0)?.toString(16)};`).join('')).toString(),
  ),
  rewritten('URL escapes', 'html', (content) =>
    page(
      `<script>document.write(unescape("${[...Buffer.from(content)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}"))</script>`,
    ).toString(),
  ),
  rewritten(
    'script escapes',
    'js',
    (content) => `eval("${[...Buffer.from(content)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}");\n`,
  ),
];

/** Readers mend what these say wrongly, each in its own way. */
const FLAWED = /length too|cross-reference|without a header|noise/;

export const DOCUMENTS: readonly Wrapper[] = [
  ...PDFS.map(
    ([name, wrap]): Wrapper => ({ name, makes: 'file', ending: 'pdf', wrap, ...(FLAWED.test(name) ? { flawed: true } : {}) }),
  ),
  byQpdf('pdf, object streams', '--object-streams=generate'),
  byQpdf('pdf, linear', '--linearize'),
  byQpdf('pdf, encrypted for nobody', '--encrypt', '', 'owner', '256', '--'),
  byQpdf('pdf, encrypted for nobody, RC4', '--allow-weak-crypto', '--encrypt', '', 'owner', '128', '--'),
  ...OFFICE.map(([name, ending, wrap]): Wrapper => ({ name, makes: 'file', ending, wrap })),
  ...PAGES.map(([name, ending, wrap]): Wrapper => ({ name, makes: 'file', ending, wrap })),
];
