import { deflateSync } from 'node:zlib';
import { noise } from '#test/files.ts';
import { flawedOf, HARMLESS, LINES, latin, made, type Packed, type Sample } from './sample.ts';

// PDFs with an attached file, and with scripts.

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

/** PNG's predictors 0 to 4 (PNG, 9.2), a row each in turn. */
function predicted(bytes: Buffer, columns: number): Buffer {
  const rows: Buffer[] = [];
  let before = Buffer.alloc(columns);
  for (let at = 0, kind = 0; at < bytes.length; at += columns, kind = (kind + 1) % 5) {
    const row = Buffer.concat([bytes.subarray(at, at + columns)], columns);
    const coded = row.map((byte, index) => {
      const [left = 0, up = 0, corner = 0] = [row[index - 1], before[index], before[index - 1]];
      const estimate = left + up - corner;
      const [nearest = 0] = [left, up, corner].sort((one, other) => Math.abs(estimate - one) - Math.abs(estimate - other));
      return byte - ([0, left, up, (left + up) >> 1, nearest][kind] ?? 0);
    });
    rows.push(Buffer.from([kind]), Buffer.from(coded));
    before = row;
  }
  return Buffer.concat(rows);
}

/** TIFF's predictor: each byte as its difference from the one before. */
const differences = (bytes: Buffer) => Buffer.from(bytes.map((byte, index) => byte - (bytes[index - 1] ?? 0)));

export interface PdfLook {
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
  /** Objects in place of the one that names the file. */
  names?: readonly string[];
}

/** A PDF of one page with an attached file, with a cross-reference table that is right unless it is asked to be otherwise. */
export function pdfWith(inner: Packed, look: PdfLook = {}): Buffer {
  const { filter = '/FlateDecode', packed = deflateSync(inner.bytes), more = '', before = Buffer.alloc(0), gap = '\n' } = look;
  const { type = '/Type /EmbeddedFile', length = `${packed.length}`, xref = 'right', objects = [], names } = look;
  const bodies: Buffer[] = [
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [(${inner.name}) 5 0 R] >> >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R >>',
    '<< /Length 23 >>\nstream\nBT (A clean page) Tj ET\nendstream',
    names?.join('\n') ?? `<< /Type /Filespec /F (${inner.name}) /UF (${inner.name}) /EF << /F 6 0 R >> >>`,
  ].map((text) => latin(text));
  bodies.push(
    Buffer.concat([
      Buffer.from(`<< ${type} ${filter === '' ? '' : `/Filter ${filter}`} /Length ${length} ${more} >>\nstream${gap}`, 'latin1'),
      packed,
      Buffer.from('\nendstream'),
    ]),
    ...objects.map((text) => latin(text)),
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

/** A PDF of these objects, as small as readers take it. */
export const pdfOf = (body: string) => latin(`%PDF-1.5\n${body}\ntrailer\n<</Root 1 0 R>>\n%%EOF\n`);

const PDFS: readonly Sample[] = [
  made('pdf, not packed', 'pdf', (inner) => pdfWith(inner, { filter: '', packed: inner.bytes })),
  made('pdf, Flate', 'pdf', (inner) => pdfWith(inner)),
  made('pdf, hexadecimal', 'pdf', (inner) =>
    pdfWith(inner, { filter: '/ASCIIHexDecode', packed: latin(`${inner.bytes.toString('hex')}>`) }),
  ),
  made('pdf, ASCII85', 'pdf', (inner) => pdfWith(inner, { filter: '/ASCII85Decode', packed: ascii85(inner.bytes) })),
  made('pdf, LZW', 'pdf', (inner) => pdfWith(inner, { filter: '/LZWDecode', packed: lzw(inner.bytes) })),
  made('pdf, run length', 'pdf', (inner) => pdfWith(inner, { filter: '/RunLengthDecode', packed: runLength(inner.bytes) })),
  made('pdf, chain of filters', 'pdf', (inner) =>
    pdfWith(inner, {
      filter: '[/ASCIIHexDecode /ASCII85Decode /FlateDecode]',
      packed: Buffer.from(`${ascii85(deflateSync(inner.bytes)).toString('hex')}>`),
    }),
  ),
  made('pdf, Flate twice', 'pdf', (inner) =>
    pdfWith(inner, { filter: '[/FlateDecode /FlateDecode]', packed: deflateSync(deflateSync(inner.bytes)) }),
  ),
  made('pdf, filter with an escaped name', 'pdf', (inner) => pdfWith(inner, { filter: '/Fl#61te#44ecode' })),
  made('pdf, the word Filter escaped', 'pdf', (inner) =>
    pdfWith(inner, { filter: '', packed: deflateSync(inner.bytes), more: '/F#69lter /FlateDecode' }),
  ),
  made('pdf, filter in another object', 'pdf', (inner) => pdfWith(inner, { filter: '7 0 R', objects: ['/FlateDecode'] })),
  made('pdf, filters in another object', 'pdf', (inner) => pdfWith(inner, { filter: '7 0 R', objects: ['[/FlateDecode]'] })),
  made('pdf, length in another object', 'pdf', (inner) =>
    pdfWith(inner, { length: '7 0 R', objects: [`${deflateSync(inner.bytes).length}`] }),
  ),
  made('pdf, length too small', 'pdf', (inner) => pdfWith(inner, { length: '3' })),
  made('pdf, length too large', 'pdf', (inner) => pdfWith(inner, { length: '99999999' })),
  made('pdf, predictor', 'pdf', (inner) =>
    pdfWith(inner, { packed: deflateSync(predicted(inner.bytes, 17)), more: '/DecodeParms << /Predictor 15 /Columns 17 >>' }),
  ),
  made('pdf, predictor of TIFF', 'pdf', (inner) =>
    pdfWith(inner, {
      packed: deflateSync(differences(inner.bytes)),
      more: `/DecodeParms [<< /Predictor 2 /Columns ${inner.bytes.length} >>]`,
    }),
  ),
  made('pdf, no type', 'pdf', (inner) => pdfWith(inner, { type: '' })),
  made('pdf, CRLF behind stream', 'pdf', (inner) => pdfWith(inner, { gap: '\r\n' })),
  made('pdf, CR behind stream', 'pdf', (inner) => pdfWith(inner, { gap: '\r' })),
  made('pdf, blanks behind stream', 'pdf', (inner) => pdfWith(inner, { gap: '  \r\n' })),
  made('pdf, late header', 'pdf', (inner) => pdfWith(inner, { before: Buffer.concat([HARMLESS, Buffer.from('\n')]) })),
  made('pdf behind noise', 'pdf', (inner) => pdfWith(inner, { before: noise(900) })),
  made('pdf without a header', 'pdf', (inner) => pdfWith(inner).subarray(15)),
  made('pdf, wrong cross-reference', 'pdf', (inner) => pdfWith(inner, { xref: 'wrong' })),
  made('pdf, no cross-reference', 'pdf', (inner) => pdfWith(inner, { xref: 'none' })),
  made('pdf, comment in the dictionary', 'pdf', (inner) => pdfWith(inner, { filter: '%/ASCIIHexDecode\n/FlateDecode' })),
  made('pdf, name of the file escaped', 'pdf', (inner) =>
    latin(pdfWith(inner, { type: '' }).toString('latin1').replace('/EF << /F ', '/EF << /#46 ')),
  ),
  made('pdf, named in a packed object', 'pdf', (inner) => pdfWith(inner, { type: '', names: [packedNames()] })),
];

/** An object stream that names object 6 as a file. */
function packedNames(): string {
  const list = deflateSync(latin('9 0 <</Type/Filespec/EF<</UF 6 0 R>>>>'));
  return `<</Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length ${list.length}>>\nstream\n${list.toString('latin1')}\nendstream`;
}

/** Scripts and forms of a PDF, whose content stands between its objects or in its texts. */
const SCRIPTED: readonly Sample[] = [
  ...[
    ['script of a string', (text: string) => `<</S /JavaScript /JS (${text.replaceAll(/[()\\]/g, '\\$&')})>>`] as const,
    ['script of digits', (text: string) => `<</S /JavaScript /JS <${latin(text).toString('hex')}>>>`] as const,
  ].map(([name, write]) =>
    made(`pdf, ${name}`, 'pdf', ({ bytes }) => pdfOf(`1 0 obj\n${write(bytes.toString('latin1'))}\nendobj`), { takes: LINES }),
  ),
  ...['<</S /JavaScript /JS 2 0 R>>', '<</XFA [(template) 2 0 R (datasets) 3 0 R]>>'].map((object, index) =>
    made(
      ['pdf, script of its own', 'pdf, form'][index] ?? '',
      'pdf',
      ({ bytes }) =>
        pdfOf(
          `1 0 obj\n${object}\nendobj\n2 0 obj\n<</Length ${bytes.length}>>\nstream\n${bytes.toString('latin1')}\nendstream\nendobj`,
        ),
      { takes: LINES },
    ),
  ),
];

/** Readers mend what these say wrongly, each in its own way. */
export const PDF_SAMPLES: readonly Sample[] = flawedOf(
  [...PDFS, ...SCRIPTED],
  /length too|cross-reference|without a header|noise/,
);
