import { deflateSync, gzipSync } from 'node:zlib';
import { ole, pdf, tarEntry, vbaCompressed } from './containers.ts';
import { noise, zip } from './files.ts';
import { ONENOTE, oneNoteFile } from './samples/office.ts';
import { pdfOf } from './samples/pdf.ts';
import { hex, latin } from './samples/sample.ts';

// Files that were made to keep a reader busy, each of about the given size: a reader's work for one of twice the size must be twice as much.

const text = latin;

/** `piece`, over and over, up to `bytes`. `%` in it is the number of the time. */
function repeated(piece: string, bytes: number): string {
  if (!piece.includes('%')) return piece.repeat(Math.ceil(bytes / piece.length));
  const pieces: string[] = [];
  for (let length = 0; length < bytes; ) {
    const next = piece.replaceAll('%', String(pieces.length));
    pieces.push(next);
    length += next.length;
  }
  return pieces.join('');
}

const MAIL = 'From: anna@example.com\nSubject: hello\n';

function mailOf(headers: string, body: string): Buffer {
  return text(`${MAIL}${headers}\n\n${body}`);
}

/** An array of numpy whose elements are of a kind. */
function numpyOf(descr: string, bytes: number): Buffer {
  const head = `{'descr': ${descr}, 'fortran_order': False, 'shape': (${bytes},), }\n`;
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  return Buffer.concat([hex('934e554d50590200'), length, text(head), text(repeated('a\0\0\0', bytes))]);
}

/** An OLE file of which every sector of the table is the same one, every chain a circle, and a sector 64 KiB. */
export function oleCircles(): Buffer {
  const SECTOR = 65_536;
  const file = Buffer.alloc(2 * SECTOR, 0);
  file.write('d0cf11e0a1b11ae1', 0, 'hex');
  file.writeUInt16LE(4, 26);
  file.writeUInt16LE(0xfffe, 28);
  file.writeUInt16LE(16, 30);
  file.writeUInt16LE(6, 32);
  // 109 times the sector 0 as a table, which is also the directory and the list of the small sectors.
  file.writeUInt32LE(109, 44);
  file.writeUInt32LE(0, 48);
  file.writeUInt32LE(4096, 56);
  file.writeUInt32LE(0, 60);
  file.writeUInt32LE(0xffffffff, 64);
  file.writeUInt32LE(0, 68);
  file.writeUInt32LE(0xffffffff, 72);
  file.fill(0, 76, 512);
  const entry = (index: number, type: number, size: number) => {
    const at = SECTOR + index * 128;
    file.write(`entry ${index}`, at, 'utf16le');
    file.writeUInt16LE(16, at + 64);
    file[at + 66] = type;
    file.writeUInt32LE(0, at + 116);
    file.writeUInt32LE(size, at + 120);
  };
  entry(0, 5, 0xffffffff);
  for (let index = 1; index < SECTOR / 128; index += 1) entry(index, 2, index % 2 ? 0xffffffff : 4000);
  return file;
}

/** An OLE file with many streams that are all the same sectors. */
function oleShared(bytes: number): Buffer {
  const streams = Array.from({ length: Math.floor(bytes / 2 / 128) }, (_, index) => ({
    name: `${index}`,
    content: Buffer.alloc(0),
  }));
  const file = ole([{ name: 'Data', content: noise(Math.floor(bytes / 2)) }, ...streams]);
  const directory = (file.readUInt32LE(48) + 1) * 512;
  const start = file.readUInt32LE(directory + 128 + 116);
  for (let index = 1; index <= streams.length; index += 1) {
    file.writeUInt32LE(start, directory + (index + 1) * 128 + 116);
    file.writeUInt32LE(Math.floor(bytes / 2), directory + (index + 1) * 128 + 120);
  }
  return file;
}

/** A zip whose directory names the same member again and again, a new name each time (David Fifield, "A better zip bomb"). */
export function zipShared(bytes: number, method: number): Buffer {
  const one = zip([{ name: 'member-0', content: noise(Math.floor(bytes / 2)), method: 0 }]);
  one.writeUInt16LE(method, 8);
  const start = one.lastIndexOf('PK\x01\x02', undefined, 'latin1');
  one.writeUInt16LE(method, start + 10);
  const entry = one.subarray(start, one.length - 22);
  const count = Math.floor(bytes / 2 / entry.length);
  const end = Buffer.from(one.subarray(one.length - 22));
  end.writeUInt16LE(count % 65_536, 8);
  end.writeUInt16LE(count % 65_536, 10);
  end.writeUInt32LE(count * entry.length, 12);
  return Buffer.concat([one.subarray(0, start), ...Array.from({ length: count }, () => entry), end]);
}

/** Local headers of a zip and nothing else, each with an extra field that says it is 64 KB long and is the headers behind it. */
function zipHeaders(bytes: number): Buffer {
  const header = Buffer.alloc(31);
  header.write('PK\x03\x04\x14', 0, 'latin1');
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(65_535, 28);
  header.write('a', 30, 'latin1');
  return Buffer.concat([
    Buffer.from('MZ'),
    ...Array.from({ length: Math.floor(bytes / 31) }, () => header),
    zip([{ name: 'a', content: text('a') }]),
  ]);
}

/** Names of filters, many of them. */
const FILTERS = ['/ASCIIHexDecode', '/A85', '/FlateDecode', '/LZWDecode', '/RunLengthDecode'];

/** Of lzop: its magic, versions, LZO1X-1 and no flags, neither times nor a name. */
const LZOP_HEADER = '894c5a4f000d0a1a0a104020a009400105000000000000000000000000000000000000000000';

/** The same bytes, over and over, up to `bytes`. */
function many(digits: string, bytes: number): Buffer {
  return Buffer.alloc(bytes, hex(digits));
}

/** Python 3.11's head, a code object up to its constants, and those. */
function compiledOf(constants: string): Buffer {
  return text(`\xa7\r\r\n${'\0'.repeat(12)}\xe3${'\0'.repeat(20)}s\0\0\0\0${constants}`);
}

/** Each makes a file of about `bytes` bytes. */
const BY_NAME: Readonly<Record<string, (bytes: number) => Buffer>> = {
  // proves: attack-A.1-4
  'an OLE file whose streams share their sectors': oleShared,
  'rows of digits': (bytes) => text(repeated('4142434445464748\n', bytes)),
  'rows of digits behind other words each': (bytes) => text(repeated('% x% 41 42 43 44 45 46 47 48 49\n', bytes)),
  'rows of digits that count from nothing': (bytes) => text(repeated('0000: 41 42 43 44 45 46 47 48 4\n', bytes)),
  'a dump of a database that nothing closes': (bytes) => text(`INSERT INTO a VALUES ${repeated(`('\\'`, bytes)}`),
  'a dump of a database of fields': (bytes) => text(repeated('COPY a FROM stdin;\n\\\\101\t', bytes)),
  'strings of CBOR in each other': (bytes) => text(repeated('\x41\x5f', bytes)),
  'strings of CBOR of nothing': (bytes) => text(`\x5f${repeated('\x40', bytes)}`),
  'short strings of CBOR': (bytes) => text(repeated(`\x01\x5f\x51${'a'.repeat(17)}\x51${'b'.repeat(17)}\xff`, bytes)),
  'empty blocks of LZ4 of Java': (bytes) => text(repeated(`LZ4Block\x10${'\0'.repeat(12)}`, bytes)),
  'blocks of Snappy of Java': (bytes) => text(`\x82SNAPPY\0\0\0\0\x01\0\0\0\x01${repeated('\0\0\0\x03\x01\0a', bytes)}`),
  'heads of binary cpio': (bytes) =>
    text(`\x01${repeated(`\xc7\x71\0\0\0\0\xa4\x81\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0a\0`, bytes)}`),
  'texts between quotation marks': (bytes) => text(repeated(`{"a": "${'b'.repeat(40)}\\nc"}\n`, bytes)),
  'texts in texts in texts': (bytes) => text(`"${repeated('\\\\\\"a\\\\\\nbcdefgh\\"', bytes)}"`),
  'quotation marks': (bytes) => text(repeated('"', bytes)),
  'apostrophes and line ends': (bytes) => text(repeated("'\\n", bytes)),
  'a list of strings': (bytes) => text(`[${repeated('"a", ', bytes)}]`),
  'strings that go on': (bytes) => text(repeated('"\\\n  ', bytes)),
  'values of a table with marks twice': (bytes) => text(repeated('"a ""b"" c","d"\n', bytes)),
  'numbers of Java without an end': (bytes) => text(`(${repeated('(byte)', bytes)}`),
  'numbers of Visual Basic': (bytes) => text(`(${repeated('&H', bytes)}`),
  'a PDF of escaped brackets': (bytes) => pdfOf(`1 0 obj\n<</A(${repeated('\\(', bytes)})>>\nendobj`),
  'a PDF of short strings in digits': (bytes) => pdfOf(`1 0 obj\n[${repeated('<41>', bytes)}]\nendobj`),
  'a PDF of names with escapes': (bytes) => pdfOf(`1 0 obj\n[${repeated('/A#41', bytes)}]\nendobj`),
  'a PDF of brackets in digits that nothing closes': (bytes) => pdfOf(`1 0 obj\n[${repeated('<4', bytes)}`),
  'a mail of lines that go on in a quotation': (bytes) =>
    mailOf('Content-Type: text/plain; format=flowed; delsp=yes', repeated(' \n>>>>>>>> ', bytes)),
  'a mail of base64 with much padding': (bytes) =>
    mailOf('Content-Transfer-Encoding: base64\nContent-Type: a/b', repeated('AA==', bytes)),
  'parts of a form': (bytes) => text(repeated('--a\r\nContent-Type: a/b\r\n\r\nc\r\n', bytes).slice(0, bytes)),
  'blocks of Pages': (bytes) => text(repeated('\0\x08\0\0\x06\x14abcdef', bytes)),
  'a text in BOCU-1': (bytes) => Buffer.concat([hex('fbee28'), text(repeated('\xd0\x80', bytes))]),
  'a text in SCSU': (bytes) => Buffer.concat([hex('0efeff'), text(repeated('\x18\x01abc', bytes))]),
  'a text of UTF-16 with letters of one byte': (bytes) =>
    Buffer.concat([hex('fffe'), Buffer.from('a', 'utf16le'), text(repeated(`${'b'.repeat(40)}\0c\0`, bytes))]),
  'a pickle of texts': (bytes) => text(`(lp0\n${repeated(`V${'a'.repeat(40)}\np%\na`, bytes)}.`),
  'a pickle of literals': (bytes) => text(`(lp0\n${repeated(`S'${'\\x41'.repeat(20)}'\na`, bytes)}.`),
  'a pickle of a literal that nothing closes': (bytes) => text(`(lp0\nS'${repeated(`'`, bytes)}x\na.`),
  // proves: attack-A.1-4
  'a pickle of lists': (bytes) => text(`\x80\x02${repeated(']q\0', bytes)}.`),
  'a pickle of arrays of objects within each other': (bytes) =>
    text(repeated('\x80\x02cjoblib.numpy_pickle\nNumpyArrayWrapper\nX\x05\0\0\0dtypeX\x02\0\0\0O8X\x0a\0\0\0allow_mmapb', bytes)),
  'an array of letters': (bytes) => numpyOf("'|S1'", bytes),
  'an array of wide letters': (bytes) => numpyOf("'<U9'", bytes),
  'an array of records': (bytes) => numpyOf(`[${repeated("('f%', '|S1'), ", 2000)}]`, bytes),
  'an array of nothing': (bytes) => numpyOf("[('a', '|S0', (999999999, 999999999)), ('b', '|S1')]", bytes),
  'base85 in literals': (bytes) => text(repeated(`x = "P)h>@6aWAK2mr%IcU?TsQD{a0002Y)000R9003oaV_|YGV{dJ%"\n`, bytes)),
  'base85 in one line': (bytes) => text(repeated('P)h>@6aWAK2mr%IcU?TsQD{a0002Y)000R9003oaV_|YGV{dJ', bytes)),
  'quotation marks in base85': (bytes) => text(repeated(`"A1'b\\"c#`, bytes)),
  'a PDF of texts with base64': (bytes) =>
    pdfOf(repeated(`% 0 obj<</Length 60>>stream\n${'QUJD'.repeat(15)}\nendstream\n`, bytes)),
  'a PDF of unclosed strings': (bytes) => text(`%PDF-1.4\n${repeated('1 0 obj (\n', bytes)}`),
  'a PDF of brackets': (bytes) => text(`%PDF-1.4\n1 0 obj ${repeated('(', bytes)}`),
  'a PDF of short strings': (bytes) => text(`%PDF-1.4\n1 0 obj [${repeated(`(${'a'.repeat(33)})`, bytes)}`),
  'a PDF of digits': (bytes) => text(`%PDF-1.4\n1 0 obj ${repeated('<FEFF0041', bytes)}`),
  'compiled Python, nested': (bytes) => compiledOf(repeated(')\x01', bytes)),
  'compiled Python of constants': (bytes) =>
    compiledOf(`(\xff\xff\xff\0${repeated(`s\x21\0\0\0${'x\x9c'.padEnd(33, 'a')}`, bytes)}`),
  'beginnings of zlib': (bytes) => text(`\x93${repeated('\x78\x9c\xed\x01\x02\x03\x04\x05', bytes)}`),
  'streams of zlib without an end': (bytes) => text(`\x93${repeated('\x78\x01\0\x0a\0\xf5\xff', bytes)}`),
  'streams of zlib': (bytes) => text(`\x93${repeated(deflateSync(Buffer.alloc(40, 'words ')).toString('latin1'), bytes)}`),
  'a text of a large computer': (bytes) => Buffer.alloc(bytes, hex('e6969984a240a388819540')),
  'rows of uuencode': (bytes) => text(repeated(`M${'V'.repeat(60)}\n`, bytes)),
  'lists of files of a game': (bytes) => text(`PWAD\xff\xff\0\0\x0c\0\0\0${repeated('\x0c\0\0\0\0\x02\0\0LUMPLUMP', bytes)}`),
  'a PDF with words between its objects': (bytes) => text(`%PDF-1.4\n${repeated('1 0 obj endobj what?\n', bytes)}`),
  'here documents that nothing ends': (bytes) => text(`#!/bin/sh\n${repeated('cat <<a\n', bytes)}`),
  'literals in a row': (bytes) => text(repeated(`join('a', "b" + `, bytes)),
  replacements: (bytes) => text(repeated(`.replace("a", "bb")`, bytes)),
  'beginnings of messages of OpenPGP': (bytes) => text(repeated('-----BEGIN PGP MESSAGE-----\n', bytes)),
  'comments in a GIF': (bytes) => text(`GIF89a\x01\0\x01\0\0\0\0${repeated(`${'\x21\xfe\x20'.padEnd(35, 'a')}\0`, bytes)}`),
  'chunks of a PNG': (bytes) => text(`\x89PNG\r\n\x1a\n${repeated(`\0\0\0\x20tEXta\0${'b'.repeat(34)}`, bytes)}`),
  'an OLE stream of what looks like macros and is none': (bytes) => {
    // A container that unpacks to nearly a chunk of text, then ends wrongly, and begins anew at each third byte.
    return ole([{ name: 'Macros', content: text(repeated('\x01\xff\xbf', bytes)) }]);
  },
  'an OLE stream of one macro after the other': (bytes) =>
    ole([
      {
        name: 'Macros',
        content: Buffer.concat(
          Array.from({ length: Math.ceil(bytes / 64) }, () => vbaCompressed('Attribute VB_Name = "ThisDocument"\nSub A\n')),
        ),
      },
    ]),
  'an OLE stream of macros that are bombs': (bytes) => {
    // One chunk: 8 letters, then copies of 4,088 bytes more.
    const chunk = Buffer.from([0x01, 0x0b, 0xb0, 0x00, ...text('aaaaaaaa'), 0x01, 0xf5, 0x0f]);
    chunk.writeUInt16LE(0xb000 | (chunk.length - 4), 1);
    return ole([
      { name: 'Macros', content: Buffer.concat(Array.from({ length: Math.ceil(bytes / chunk.length) }, () => chunk)) },
    ]);
  },
  // proves: attack-A.2-1
  'a PDF of ASCII85 zeros': (bytes) => pdf(text(''), { filter: '/ASCII85Decode', bytes: text('z'.repeat(bytes)) }),
  'a PDF with a long chain of filters': (bytes) =>
    pdf(text(''), { filter: `[${repeated('/ASCIIHexDecode ', 60_000)}]`, bytes: text('41'.repeat(bytes / 2)) }),
  'a PDF with many streams that have many filters': (bytes) =>
    pdfOf(repeated(`% 0 obj<</Filter[${FILTERS.join(' ').repeat(40)}]>>stream\n00>\nendstream\n`, bytes)),
  'a PDF with many streams that have some filters': (bytes) =>
    pdfOf(repeated('% 0 obj<</Filter[/AHx/A85/AHx/A85/AHx/A85/RL]>>stream\n3037>\nendstream\n', bytes)),
  'a PDF with many small packed streams': (bytes) =>
    pdfOf(repeated('<</Filter/Fl>>stream\nx\x9c\x03\0\0\0\0\x01\nendstream\n', bytes)),
  'a PDF of the word stream': (bytes) => pdfOf(repeated('stream\n', bytes)),
  'a PDF of the word stream without its line': (bytes) => pdfOf(repeated('stream ', bytes)),
  'a PDF of the word Encrypt': (bytes) => pdfOf(repeated('/Encrypt', bytes)),
  'a PDF of the word Filter': (bytes) => pdfOf(`1 0 obj<<${repeated('/Filter', bytes)}>>stream\na\nendstream\n`),
  'a PDF of lengths': (bytes) => pdfOf(repeated('/Length 1 0 stream\nendstream\n', bytes)),
  'a PDF that unpacks to what unpacks': (bytes) =>
    pdf(text(''), { filter: '[/FlateDecode/RunLengthDecode]', bytes: deflateSync(Buffer.alloc(bytes * 200, 0x81)) }),
  // proves: attack-A.2-3
  'a mail of padding in base64': (bytes) => mailOf('Content-Transfer-Encoding: base64', '='.repeat(bytes)),
  'a mail of letters and padding in base64': (bytes) => mailOf('Content-Transfer-Encoding: base64', repeated('QQ==', bytes)),
  'a mail of equals signs in quoted-printable': (bytes) =>
    mailOf('Content-Transfer-Encoding: quoted-printable', '='.repeat(bytes)),
  'a mail of blanks behind equals signs': (bytes) =>
    mailOf('Content-Transfer-Encoding: quoted-printable', repeated(`=${' '.repeat(990)}`, bytes)),
  "a mail of uuencode's first lines": (bytes) => mailOf('To: b@example.com', repeated('begin 644 a%\n', bytes)),
  "a mail of uuencode's first lines in base64": (bytes) =>
    mailOf('To: b@example.com', repeated('begin-base64 644 a%\nQUJD\n', bytes)),
  'a mail of the word begin': (bytes) => mailOf('To: b@example.com', repeated('begin', bytes)),
  'a mail of boundaries': (bytes) => mailOf('Content-Type: multipart/mixed; boundary=b', repeated('--b\n', bytes)),
  'a mail of boundaries that are none': (bytes) => mailOf('Content-Type: multipart/mixed; boundary=b', repeated('--a\n', bytes)),
  'a mail of parts with a header each': (bytes) =>
    mailOf('Content-Type: multipart/mixed; boundary=b', repeated('--b\nContent-Type: text/plain; name="%"\n\na\n', bytes)),
  'a mail of parts within parts': (bytes) =>
    mailOf(
      'Content-Type: multipart/mixed; boundary=b0',
      Array.from({ length: 30 }, (_, depth) => `--b${depth}\nContent-Type: multipart/mixed; boundary=b${depth + 1}\n\n`).join(
        '',
      ) + repeated('--a\n', bytes),
    ),
  'a mail of multiparts without a boundary': (bytes) =>
    mailOf('Content-Type: multipart/mixed; boundary=b', repeated('--b\nContent-Type: multipart/mixed\n\n-- a\n', bytes)),
  'a mail that is all header': (bytes) => text(`${MAIL}${repeated('X-A: b\n', bytes)}`),
  'a mail with one long header': (bytes) => mailOf(`Content-Type: text/plain${repeated(';\n name="', bytes)}`, 'a'),
  'a mail with a header of backslashes': (bytes) =>
    mailOf(`Content-Type: text/plain;\n${repeated(' \\"\\"\\"\\"\n', bytes)}`, 'a'),
  'a mail with a header of brackets': (bytes) => mailOf(`Content-Type: text/plain;\n${repeated(' ((((((((\n', bytes)}`, 'a'),
  'a mail of one line': (bytes) => mailOf('Content-Type: multipart/mixed; boundary=b', 'a'.repeat(bytes)),
  'a mailbox of one mail': (bytes) => text(`From a b\nSubject: a\n\n${'From a'.repeat(bytes / 6)}`),
  'a text in UTF-16': (bytes) => Buffer.from(repeated('"a"+"b"\r', bytes / 2), 'utf16le'),
  'base64 of base64 of base64': (bytes) => text(Buffer.from(noise(bytes / 3).toString('base64')).toString('base64')),
  'OneNote of files that hold each other': (bytes) => {
    const object = oneNoteFile(Buffer.alloc(0), 0x7fffffff);
    return Buffer.concat([hex(ONENOTE), ...Array.from({ length: Math.floor(bytes / object.length) }, () => object)]);
  },
  'TNEF of properties': (bytes) => {
    const head = Buffer.from('789f3e22010002030006000000000000ffffffff', 'hex');
    head.writeUInt32LE(bytes, 11);
    head.writeUInt32LE(0xffffffff, 15);
    return Buffer.concat([head, text(repeated('\x1e\x00\x01\x30\x01\0\0\0\x04\0\0\0abcd', bytes))]);
  },
  'CMS of open lengths': (bytes) =>
    Buffer.concat([Buffer.from('308006092a864886f70d010702a0803080020101', 'hex'), text(repeated('\x30\x80', bytes))]),
  'a picture of medicine of items': (bytes) => Buffer.concat([Buffer.alloc(128), text('DICM'), many('feff00e0ffffffff', bytes)]),
  'a picture of medicine of empty values': (bytes) =>
    Buffer.concat([Buffer.alloc(128), text('DICM'), many('0800600043530000', bytes)]),
  'a pack of git of empty objects': (bytes) =>
    Buffer.concat([text('PACK\0\0\0\x02\0\x0f\0\0'), many('30789c030000000001', bytes)]),
  'a pack of git whose objects each differ from the one before': (bytes) => {
    const first = deflateSync(Buffer.alloc(100, 'a'));
    const difference = deflateSync(hex('64649064'));
    // 100 bytes of a file, and 4 with its difference from the one so far back.
    const back = (distance: number) => Buffer.concat([hex('64'), Buffer.from([distance]), difference]);
    const next = back(difference.length + 2);
    return Buffer.concat([
      text('PACK\0\0\0\x02\0\x0f\0\0'),
      hex('b406'),
      first,
      back(first.length + 2),
      ...Array.from({ length: Math.ceil(bytes / next.length) }, () => next),
    ]);
  },
  'a workbook of macro cells': (bytes) =>
    ole([
      {
        name: 'Workbook',
        content: Buffer.concat([
          hex(`0908100000060500${'00'.repeat(12)}`),
          hex('0908040000064000'),
          many('7e020a000000000000000000f03f', bytes),
        ]),
      },
    ]),
  'a document of Word 6 whose macros are all of it': (bytes) => {
    const head = Buffer.alloc(0x304);
    head.writeUInt16LE(0xa5dc, 0);
    head.writeUInt32LE(0x300, 0x118);
    head.writeUInt32LE(bytes, 0x11c);
    head.writeUInt32LE(0xffff01ff, 0x300);
    return ole([
      {
        name: 'WordDocument',
        content: Buffer.concat([head, many(`${'01'.repeat(12)}00000100${'01'.repeat(4)}00000000`, bytes)]),
      },
    ]);
  },
  'a text of a folded value and one long line': (bytes) => text(`A: QUJDREVGR0hJSktM\n ${'A'.repeat(bytes)}`),
  'an RTF of letters by their numbers': (bytes) => text(`{\\rtf1 ${repeated('\\u88?', bytes)}`),
  'a document of words in pieces': (bytes) => text(`<w:t>${repeated('<', bytes)}`),
  'a PDF of scripts': (bytes) => pdfOf(repeated('/JS (a', bytes)),
  'a PDF of scripts that are closed': (bytes) => pdfOf(repeated('/JS (a)', bytes)),
  'a PDF of filters in other objects': (bytes) => pdfOf(repeated('% 0 obj<</Filter % 0 R>>stream\na\nendstream\n', bytes)),
  'a PDF that names its streams as files': (bytes) =>
    pdfOf(repeated('% 0 obj<</F % 0 R/Filter/AHx>>stream\n41>\nendstream\n', bytes)),
  'a zip of headers': zipHeaders,
  'a zip that is only found behind the ends of others': (bytes) =>
    Buffer.concat([zip([{ name: 'a', content: text('a') }]), text(repeated('PK\x05\x06', bytes))]),
  'a gzip of empty streams': (bytes) =>
    Buffer.concat(Array.from({ length: Math.ceil(bytes / 20) }, () => gzipSync(Buffer.alloc(0)))),
  'LZ4 of frames that claim 4 MiB and hold nothing': (bytes) =>
    Buffer.concat(Array.from({ length: Math.ceil(bytes / 11) }, () => hex('04224d1860700000000000'))),
  'LZ4 of blocks of one byte that may refer to all before them': (bytes) => {
    const block = hex('010000804100');
    const blocks = Array.from({ length: Math.ceil(bytes / 5) }, () => block.subarray(0, 5));
    return Buffer.concat([hex('04224d18407000'), ...blocks, hex('00000000')]);
  },
  'LZ4 of skippable frames': (bytes) => Buffer.concat([hex('04224d18407000'), hex('00000000'), many('502a4d1800000000', bytes)]),
  'lzop of blocks that claim 64 MiB': (bytes) => Buffer.concat([hex(`${LZOP_HEADER}`), many('040000000000000111', bytes)]),
  'lzip of members without an end': (bytes) => many('4c5a4950010c00', bytes),
  'lzip of members that hold nothing': (bytes) => many(`4c5a4950010c${'00'.repeat(12)}1a00000000000000`, bytes),
  'a program of marks of UPX': (bytes) => {
    // Each names the whole of the file as packed.
    const mark = Buffer.alloc(32, 1);
    mark.write('UPX!', 0, 'latin1');
    mark.writeUInt32LE(bytes - 64, 20);
    return Buffer.concat([text('MZ'), ...Array.from({ length: Math.ceil(bytes / 32) }, () => mark)]);
  },
  'a shell archive of documents': (bytes) => text(`#!/bin/sh\n${repeated(`sed 's/^X//' <<E\nX${'a'.repeat(300)}\nE\n`, bytes)}`),
  'a shell archive of openings': (bytes) => text(`#!/bin/sh\n${repeated("base64 -d <<'", bytes)}`),
  'a shell archive of one line': (bytes) => text(`#!/bin/sh\nbase64 -d <<E\n${repeated('QUJD', bytes)}`),
  'a disk of grains at one place': (bytes) => {
    const header = Buffer.alloc(512);
    header.write('KDMV', 0, 'latin1');
    header.writeUInt32LE(0x30001, 8);
    header.writeUInt32LE(1, 64);
    const grain = Buffer.alloc(512);
    const packed = deflateSync(Buffer.alloc(65_536));
    grain.writeUInt32LE(packed.length, 8);
    packed.copy(grain, 12);
    return Buffer.concat([header, ...Array.from({ length: Math.ceil(bytes / 512) }, () => grain)]);
  },
  'a tar of records that say another size': (bytes) => {
    const record = Buffer.concat([
      tarEntry({ name: 'pax', content: text('16 size=00000900\n'), type: 'x' }),
      tarEntry({ name: 'a', content: Buffer.alloc(0) }),
    ]);
    return Buffer.concat(Array.from({ length: Math.ceil(bytes / record.length) }, () => record));
  },
  'a boot sector and nothing behind it': (bytes) => {
    const file = noise(bytes);
    file.write('eb3c90', 0, 'hex');
    hex('00020101000200020000f801').copy(file, 11);
    file.write('55aa', 510, 'hex');
    return file;
  },
  'a program of the first bytes of archives': (bytes) =>
    text(`MZ${repeated('7z\xbc\xaf\x27\x1cMSCF\0\0\0\0Rar!\x1a\x07\x01\0', bytes)}`),
};

export const HOSTILE: ReadonlyMap<string, (bytes: number) => Buffer> = new Map([
  ...Object.entries(BY_NAME),
  ...[
    'a',
    '"',
    "'+'",
    '"a"+"a"+',
    '" & _\n',
    'x = x & "a"\n',
    'Chr(65)&',
    'String.fromCharCode(',
    'String.fromCharCode(65,',
    '[char]65+',
    '/*',
    '<#',
    '//\n',
    '\\x41',
    '&#65;',
    '%6a%7e',
    'eval     (',
    '^a',
    '`\n',
    '+ADw-',
    '+AAA',
    '\r',
    '\\\n',
    'data:,',
    'data:a,%41 ',
    '[1,2,3,4',
    '0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34\n',
    'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xt ',
    'QUJDREVGR0hJSktMTU5P\n',
    '4142434445464748494a4b4c4d4e4f505152535455565758595a6162636465666768 ',
    '=ybegin size=1 name=a\n',
    '(This file must be converted with BinHex 4.0)\n:',
  ].map((piece): [string, (bytes: number) => Buffer] => [
    `a text of ${JSON.stringify(piece)}`,
    (bytes) => text(`A text.\n${repeated(piece, bytes)}`),
  ]),
  ...['{', '{\\*\\a', '{\\objdata 41', '\\objdata 4142434445464748', '\\bin9 a', "\\'41", '{\\objdata 41}'].map(
    (piece): [string, (bytes: number) => Buffer] => [
      `RTF of ${JSON.stringify(piece)}`,
      (bytes) => text(`{\\rtf1 ${repeated(piece, bytes)}`),
    ],
  ),
]);

/** Each stream claims to reach to the end of the document, where an `endstream` bears it out. */
export function pdfLies(bytes: number): Buffer {
  const piece = (length: number) => `1 0 obj<</Filter/AHx/Length ${String(length).padStart(10, '0')}>>stream\n41>\nendstream\n`;
  const size = piece(0).length;
  const count = Math.floor(bytes / size);
  const last = size * count;
  const pieces = Array.from({ length: count }, (_, index) => {
    const start = index * size + piece(0).indexOf('stream\n') + 7;
    return piece(last - start);
  });
  return pdfOf(`${pieces.join('')}endstream\n`);
}

/** A zip of one member of `bytes` that was packed by deflate, for files that are small only while they are packed. */
export function packed(content: Buffer): Buffer {
  return zip([{ name: 'member', content }]);
}
