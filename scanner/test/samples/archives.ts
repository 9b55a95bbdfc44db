import { crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { tarEntry } from '#test/containers.ts';
import { noise, zip } from '#test/files.ts';
import { big, flawedOf, HARMLESS, hex, latin, little, made, type Packed, record, type Sample } from './sample.ts';

// Archives and compressed streams.

const TAR_END = Buffer.alloc(1024);
const KIB = 1024;

const zipOf = (inner: Packed) => zip([{ name: inner.name, content: inner.bytes }]);

/** A zip with other values in its local header. */
const bentZip = (name: string, bend: (bytes: Buffer) => void): Sample =>
  made(name, 'zip', (inner) => {
    const bytes = zipOf(inner);
    bend(bytes);
    return bytes;
  });

const zips: Sample[] = [
  made('zip, deflated', 'zip', zipOf),
  made('zip, not packed', 'zip', ({ name, bytes }) => zip([{ name, content: bytes, method: 0 }])),
  made('zip of several files', 'zip', ({ name, bytes }) =>
    zip([
      { name: 'filling', content: noise(3000) },
      { name, content: bytes },
      { name: 'folder/', content: Buffer.alloc(0), method: 0 },
    ]),
  ),
  made('zip with a path upwards', 'zip', ({ name, bytes }) => zip([{ name: `../../${name}`, content: bytes }])),
  made('zip in a zip', 'zip', (inner) => zip([{ name: 'inner.zip', content: zipOf(inner) }])),
  made('zip behind a program', 'exe', (inner) => Buffer.concat([Buffer.from('MZ'), Buffer.alloc(4000, 0x90), zipOf(inner)])),
  made('zip without its directory', 'zip', (inner) => {
    const whole = zipOf(inner);
    return whole.subarray(0, whole.indexOf('PK\x01\x02', 0, 'latin1'));
  }),
  made('zip behind the mark of a split one', 'zip', (inner) => Buffer.concat([latin('PK\x07\x08'), zipOf(inner)])),
  bentZip('zip with another method in the local header', (bytes) => bytes.writeUInt16LE(0, 8)),
  bentZip('zip with other sizes in the local header', (bytes) =>
    record(8, [
      [0, 1],
      [4, 1],
    ]).copy(bytes, 18),
  ),
  bentZip('zip with another name in the local header', (bytes) => bytes.fill(0x78, 30, 31)),
  bentZip('zip that says encrypted in the local header alone', (bytes) => bytes.writeUInt16LE(bytes.readUInt16LE(6) | 1, 6)),
];

const entryOf = (inner: Packed) => tarEntry({ name: inner.name, content: inner.bytes });
const harmlessEntry = () => tarEntry({ name: 'readme.txt', content: HARMLESS });

/** The first header says another sum than it has: GNU tar skips to the next one. */
function brokenHeader(): Buffer {
  const bytes = Buffer.from(harmlessEntry());
  bytes.write('000000', 148, 'latin1');
  return bytes;
}

/** A header of tar with its right sum. */
function summed(header: Buffer): Buffer {
  header.fill(0x20, 148, 156);
  const sum = header.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** A record of pax before a file. */
const paxRecord = (text: string) => tarEntry({ name: 'pax', content: Buffer.from(`${text.length + 4} ${text}\n`), type: 'x' });

const longName = () => tarEntry({ name: '././@LongLink', content: Buffer.from(`${'long/'.repeat(40)}eicar.com\0`), type: 'L' });

const tars: Sample[] = [
  made('tar', 'tar', (inner) => Buffer.concat([harmlessEntry(), entryOf(inner), TAR_END])),
  made('tar in gzip', 'tgz', (inner) => gzipSync(Buffer.concat([harmlessEntry(), entryOf(inner), TAR_END]))),
  made('tar of before there was a standard', 'tar', ({ name, bytes }) =>
    Buffer.concat([tarEntry({ name, content: bytes, magic: '' }), TAR_END]),
  ),
  made('tar, a hard link with content', 'tar', ({ name, bytes }) =>
    Buffer.concat([tarEntry({ name, content: bytes, type: '1' }), harmlessEntry(), TAR_END]),
  ),
  made('tar, long names', 'tar', (inner) =>
    Buffer.concat([paxRecord('comment=nothing'), longName(), entryOf(inner), harmlessEntry(), TAR_END]),
  ),
  made('tar, size in pax', 'tar', (inner) => Buffer.concat([paxRecord(`size=${inner.bytes.length}`), entryOf(inner), TAR_END])),
  made('tar behind zeros', 'tar', (inner, chance) =>
    Buffer.concat([Buffer.alloc(512 * (1 + chance.below(40))), entryOf(inner), TAR_END]),
  ),
  made('tar behind a broken checksum', 'tar', (inner) => Buffer.concat([brokenHeader(), entryOf(inner), TAR_END])),
  made('tar with a broken checksum in it', 'tar', (inner) =>
    Buffer.concat([harmlessEntry(), brokenHeader(), entryOf(inner), TAR_END]),
  ),
  made('two tars', 'tar', (inner) => Buffer.concat([harmlessEntry(), TAR_END, entryOf(inner), TAR_END])),
  made('two tars, zeros between', 'tar', (inner) =>
    Buffer.concat([harmlessEntry(), Buffer.alloc(10 * KIB), entryOf(inner), TAR_END]),
  ),
  made('tar without its end', 'tar', (inner) => Buffer.concat([harmlessEntry(), entryOf(inner)])),
  made('tar, size in base 256', 'tar', (inner) => {
    const bytes = Buffer.from(entryOf(inner));
    bytes.fill(0, 124, 136);
    bytes[124] = 0x80;
    bytes.writeUInt32BE(inner.bytes.length, 132);
    return Buffer.concat([summed(bytes), TAR_END]);
  }),
  made('tar, a size that ends at a letter', 'tar', (inner) => {
    const bytes = Buffer.from(entryOf(inner));
    bytes.write(` ${inner.bytes.length.toString(8)}x`.padEnd(12, '7'), 124, 'latin1');
    return Buffer.concat([summed(bytes), TAR_END]);
  }),
];

/** gzip with all the fields that its header may have. */
function gzipWithFields(inner: Packed): Buffer {
  const head = Buffer.concat([hex('1f8b081e000000000003040001020000'), latin(`${inner.name}\0a comment\0`)]);
  const sums = [little(crc32(inner.bytes)), little(inner.bytes.length)];
  return Buffer.concat([head, little(crc32(head) & 0xffff, 2), deflateRawSync(inner.bytes), ...sums]);
}

const streams: Sample[] = [
  made('gzip, all its fields', 'gz', gzipWithFields),
  made('gzip of two streams', 'gz', ({ bytes }) => Buffer.concat([gzipSync(Buffer.alloc(0)), gzipSync(bytes)])),
  made('gzip of a file in halves', 'gz', ({ bytes }) =>
    Buffer.concat([gzipSync(bytes.subarray(0, 40)), gzipSync(bytes.subarray(40))]),
  ),
  made('gzip behind another and zeros', 'gz', ({ bytes }) =>
    Buffer.concat([gzipSync(HARMLESS), Buffer.alloc(300), gzipSync(bytes)]),
  ),
  made('gzip before zeros', 'gz', ({ bytes }) => Buffer.concat([gzipSync(bytes), Buffer.alloc(700)])),
  made('gzip before noise', 'gz', ({ bytes }, chance) => Buffer.concat([gzipSync(bytes), noise(700, chance.next() | 1)])),
  made('gzip with a wrong sum', 'gz', ({ bytes }) => {
    const packed = gzipSync(bytes);
    packed.writeUInt32LE(7, packed.length - 8);
    return packed;
  }),
  made('gzip cut short', 'gz', ({ bytes }) => gzipSync(bytes).subarray(0, -8)),
  made('zlib behind another and zeros', 'zz', ({ bytes }) =>
    Buffer.concat([deflateSync(HARMLESS), Buffer.alloc(40), deflateSync(bytes)]),
  ),
];

/** No block of a cab holds more (MS-CAB 2.4). Bytes. */
const CAB_BLOCK_BYTES = 32_768;

/** A cab of one file (MS-CAB); packed as Windows does (MSZIP, of which each block may refer to none before it) or stored. */
function cab(inner: Packed, is_packed: boolean): Buffer {
  const blocks: Buffer[] = [];
  for (let from = 0; from < Math.max(1, inner.bytes.length); from += CAB_BLOCK_BYTES) {
    const plain = inner.bytes.subarray(from, from + CAB_BLOCK_BYTES);
    const data = is_packed ? Buffer.concat([Buffer.from('CK'), deflateRawSync(plain)]) : plain;
    blocks.push(little(0), little(data.length, 2), little(plain.length, 2), data);
  }
  const name = Buffer.from(`${inner.name}\0`);
  const data_at = 36 + 8 + 16 + name.length;
  const size = data_at + Buffer.concat(blocks).length;
  const head = record(60, [
    [8, size],
    [16, 44],
    [24, 0x0103, 2],
    [26, 1, 2],
    [28, 1, 2],
    [36, data_at],
    [40, blocks.length / 4, 2],
    [42, is_packed ? 1 : 0, 2],
    [44, inner.bytes.length],
  ]);
  head.write('MSCF', 0, 'latin1');
  return Buffer.concat([head, name, ...blocks]);
}

/** An ar archive with one file, as in a deb package. */
function ar({ name, bytes }: Packed): Buffer {
  const head = `${`${name}/`.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}${String(bytes.length).padEnd(10)}\`\n`;
  return Buffer.concat([Buffer.from(`!<arch>\n${head}`), bytes, Buffer.from(bytes.length % 2 ? '\n' : '')]);
}

/** A cpio archive (newc) with one file. */
function cpio({ name, bytes }: Packed): Buffer {
  const padded = (part: Buffer) => Buffer.concat([part], Math.ceil(part.length / 4) * 4);
  const entry = (entry_name: string, content: Buffer, mode: number) => {
    const numbers = [1, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, entry_name.length + 1, 0];
    const head = `070701${numbers.map((number) => number.toString(16).padStart(8, '0')).join('')}${entry_name}\0`;
    return Buffer.concat([padded(Buffer.from(head)), padded(content)]);
  };
  return Buffer.concat([entry(name, bytes, 0o100644), entry('TRAILER!!!', Buffer.alloc(0), 0)]);
}

/** asar of Electron: two pickled numbers, a list in JSON, the files. */
export function asarOf(list: string, body: Buffer): Buffer {
  const padded = Buffer.concat([Buffer.from(list)], Math.ceil(Buffer.byteLength(list) / 4) * 4);
  const lengths = [4, padded.length + 8, padded.length + 4, Buffer.byteLength(list)].map((length) => little(length));
  return Buffer.concat([...lengths, padded, body]);
}

function asar({ name, bytes }: Packed): Buffer {
  const files = { 'first.txt': { size: 10, offset: '0' }, [name]: { size: bytes.length, offset: '10' } };
  return asarOf(JSON.stringify({ files }), Buffer.concat([Buffer.from('first file'), bytes]));
}

/** phar: the end of a script, a manifest, the files; without a signature, which PHP can be configured not to want. */
function phar({ bytes, name }: Packed, is_packed: boolean): Buffer {
  const body = is_packed ? deflateRawSync(bytes) : bytes;
  const numbers = [bytes.length, 0, body.length, 0, 0o644 | (is_packed ? 0x1000 : 0), 0];
  const entry = Buffer.concat([little(name.length), Buffer.from(name), ...numbers.map((number) => little(number))]);
  const manifest = Buffer.concat([little(1), hex('1100'), Buffer.alloc(12), entry]);
  return Buffer.concat([Buffer.from('<?php\n__HALT_COMPILER(); ?>\r\n'), little(manifest.length), manifest, body]);
}

const appleDouble = ({ bytes }: Packed) =>
  Buffer.concat([hex(`0005160700020000${'00'.repeat(16)}0001`), big(2), big(38), big(bytes.length), bytes]);

/** A disc as a drive reads it: whole sectors, with the data of each at that place. */
function discOf(content: Buffer, mode: number, at: number): Buffer {
  return Buffer.concat(
    Array.from({ length: Math.ceil(content.length / 2048) }, (_, index) => {
      const sector = Buffer.alloc(2352);
      sector.fill(0xff, 1, 11);
      sector[15] = mode;
      content.copy(sector, at, index * 2048, (index + 1) * 2048);
      return sector;
    }),
  );
}

const discContent = (inner: Packed) =>
  Buffer.concat([
    Buffer.alloc(2048),
    zip([
      { name: inner.name, content: inner.bytes },
      { name: 'noise', content: noise(6000) },
    ]),
  ]);

const others: Sample[] = [
  made('cab, stored', 'cab', (inner) => cab(inner, false)),
  made('cab, MSZIP', 'cab', (inner) => cab(inner, true)),
  made('ar of one file', 'a', ar),
  made('cpio of one file', 'cpio', cpio),
  made('asar', 'asar', asar),
];

/** Archives that carry no magic that programs look for behind other content. */
const quiet: Sample[] = [
  made('phar', 'phar', (inner) => phar(inner, false)),
  made('phar, packed', 'phar', (inner) => phar(inner, true)),
  made('AppleDouble', 'bin', appleDouble),
  made('git object', 'bin', ({ bytes }) => deflateSync(Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]))),
  made('WARC', 'warc', ({ bytes }) =>
    Buffer.concat([latin(`WARC/1.0\r\nContent-Length: ${bytes.length}\r\n\r\n`), bytes, latin('\r\n\r\n')]),
  ),
  made('disc with whole sectors', 'bin', (inner) => discOf(discContent(inner), 1, 16)),
  made('disc with whole sectors of the second mode', 'bin', (inner) => discOf(discContent(inner), 2, 24)),
];

/** Damaged, ambiguous between readers, or with noise that no reader can claim. */
const FLAWED = /local header|without its|broken checksum|wrong sum|cut short|noise|split|whole sectors/;

export const ARCHIVE_SAMPLES: readonly Sample[] = flawedOf(
  [...[...zips, ...tars, ...streams, ...others].map((sample): Sample => ({ ...sample, makes: 'archive' })), ...quiet],
  FLAWED,
);
