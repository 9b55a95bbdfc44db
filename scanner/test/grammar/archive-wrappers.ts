import { existsSync, readFileSync } from 'node:fs';
import { crc32, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { tarEntry } from '#test/containers.ts';
import { noise, zip } from '#test/files.ts';
import { HARMLESS, type Packed, type Wrapper } from './wrapper.ts';

// Archives, compressed streams and disk images, by Python's library and the programs that people use.

const SEVEN_ZIP_STUB = ['/usr/lib/p7zip/7zCon.sfx', '/usr/lib/7zip/7zCon.sfx'];
const TAR_END = Buffer.alloc(1024);
const KIB = 1024;

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

function python(
  name: string,
  op: string,
  ending: string,
  options: Readonly<Record<string, string | number | boolean | Buffer>> = {},
): Wrapper {
  return {
    name,
    makes: 'archive',
    ending,
    wrap: (inner, { writers }) => writers.python(op, inner.bytes, inner.name, options),
  };
}

/** Output of a program for a file with the name of the payload. */
function program(
  name: string,
  words: string,
  output: string | undefined,
  ending: string,
  makes: Wrapper['makes'] = 'archive',
): Wrapper {
  const [command = '', ...args] = words.split(' ');
  return {
    name,
    makes,
    ending,
    needs: [command],
    wrap: (inner, { writers }) =>
      writers.run(
        command,
        args.map((word) => word.replace('NAME', inner.name)),
        { [inner.name]: inner.bytes, 'readme.txt': HARMLESS },
        output?.replace('NAME', inner.name),
      ),
  };
}

function made(name: string, ending: string, wrap: Wrapper['wrap'], makes: Wrapper['makes'] = 'archive'): Wrapper {
  return { name, makes, ending, wrap };
}

const zips: Wrapper[] = [
  python('zip, stored', 'zip', 'zip', { method: 'stored' }),
  python('zip, deflate', 'zip', 'zip'),
  python('zip, bzip2', 'zip', 'zip', { method: 'bzip2' }),
  python('zip, LZMA', 'zip', 'zip', { method: 'lzma' }),
  python('zip of several', 'zip', 'zip', { more: true }),
  python('zip, zip64', 'zip', 'zip', { zip64: true }),
  python('zip, data descriptor', 'zip', 'zip', { streamed: true }),
  python('zip, stored, data descriptor', 'zip', 'zip', { streamed: true, method: 'stored' }),
  python('zip, data descriptor, zip64', 'zip', 'zip', { streamed: true, zip64: true, more: true }),
  python('zip with a comment', 'zip', 'zip', { comment: Buffer.from('Packed on a Friday. '.repeat(20)) }),
  python('zip with a comment that looks like its end', 'zip', 'zip', {
    comment: Buffer.from('PK\x05\x06 is not here. '.repeat(20)),
  }),
  python('zip behind text, offsets right', 'zip', 'bin', { prefix: HARMLESS }),
  made('zip behind noise', 'bin', async (inner, { writers, chance }) =>
    Buffer.concat([noise(700, chance.next() | 1), await writers.python('zip', inner.bytes, inner.name)]),
  ),
  made('zip before noise', 'zip', async (inner, { writers, chance }) =>
    Buffer.concat([await writers.python('zip', inner.bytes, inner.name), noise(700, chance.next() | 1)]),
  ),
  made('zip before zeros', 'zip', async (inner, { writers }) =>
    Buffer.concat([await writers.python('zip', inner.bytes, inner.name, { method: 'stored' }), Buffer.alloc(4096)]),
  ),
  made('zip, two directories, the file in the first', 'zip', async (inner, { writers }) =>
    Buffer.concat([await writers.python('zip', inner.bytes, inner.name), await writers.python('zip', HARMLESS, 'readme.txt')]),
  ),
  made('zip, two directories, the file in the last', 'zip', async (inner, { writers }) =>
    Buffer.concat([await writers.python('zip', HARMLESS, 'readme.txt'), await writers.python('zip', inner.bytes, inner.name)]),
  ),
  made('zip without its directory', 'zip', (inner) => {
    const whole = zip([{ name: inner.name, content: inner.bytes }]);
    return whole.subarray(0, whole.indexOf('PK\x01\x02', 0, 'latin1'));
  }),
  made('zip behind the mark of a split one', 'zip', (inner) =>
    Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), zip([{ name: inner.name, content: inner.bytes }])]),
  ),
  made('zip with another method in the local header', 'zip', (inner) => {
    const bytes = Buffer.from(zip([{ name: inner.name, content: inner.bytes }]));
    bytes.writeUInt16LE(0, 8);
    return bytes;
  }),
  made('zip with other sizes in the local header', 'zip', (inner) => {
    const bytes = Buffer.from(zip([{ name: inner.name, content: inner.bytes }]));
    bytes.writeUInt32LE(1, 18);
    bytes.writeUInt32LE(1, 22);
    return bytes;
  }),
  made('zip with another name in the local header', 'zip', (inner) => {
    const bytes = Buffer.from(zip([{ name: inner.name, content: inner.bytes }]));
    bytes.fill(0x78, 30, 31);
    return bytes;
  }),
  made('zip that says encrypted in the local header alone', 'zip', (inner) => {
    const bytes = Buffer.from(zip([{ name: inner.name, content: inner.bytes }]));
    bytes.writeUInt16LE(bytes.readUInt16LE(6) | 1, 6);
    return bytes;
  }),
  program('zip, deflate64', '7z a -tzip -mm=Deflate64 -mx=9 out.zip NAME', 'out.zip', 'zip'),
  program('zip, PPMd', '7z a -tzip -mm=PPMd out.zip NAME readme.txt', 'out.zip', 'zip'),
  program('zip by Info-ZIP', 'zip -q out.zip readme.txt NAME', 'out.zip', 'zip'),
  program('zip by bsdtar', 'bsdtar -c -f out.zip --format zip readme.txt NAME', 'out.zip', 'zip'),
];

const entryOf = (inner: Packed) => tarEntry({ name: inner.name, content: inner.bytes });
const harmlessEntry = () => tarEntry({ name: 'readme.txt', content: HARMLESS });

/** The first header says another sum than it has: GNU tar skips to the next one. */
function brokenHeader(): Buffer {
  const bytes = Buffer.from(harmlessEntry());
  bytes.write('000000', 148, 'latin1');
  return bytes;
}

const tars: Wrapper[] = [
  python('tar, ustar', 'tar', 'tar', { format: 'ustar' }),
  python('tar, pax', 'tar', 'tar', { format: 'pax', more: true }),
  python('tar, pax, long name', 'tar', 'tar', { format: 'pax', long: true }),
  python('tar, GNU, long name', 'tar', 'tar', { format: 'gnu', long: true, more: true }),
  python('tar, contiguous file', 'tar', 'tar', { type: '7' }),
  program('tar, v7', 'tar --format=v7 -c -f out.tar readme.txt NAME', 'out.tar', 'tar'),
  program('tar, sparse', 'tar -S -c -f out.tar readme.txt NAME', 'out.tar', 'tar'),
  made('tar behind zeros', 'tar', (inner, { chance }) =>
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
    bytes.fill(0x20, 148, 156);
    const sum = bytes.subarray(0, 512).reduce((total, byte) => total + byte, 0);
    bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    return Buffer.concat([bytes, TAR_END]);
  }),
];

const streams: Wrapper[] = [
  python('gzip', 'gzip', 'gz'),
  made('gzip, all its fields', 'gz', (inner) => {
    const head = Buffer.concat([
      Buffer.from([0x1f, 0x8b, 8, 0x1e, 0, 0, 0, 0, 0, 3]),
      Buffer.from([4, 0, 1, 2, 0, 0]),
      Buffer.from(`${inner.name}\0a comment\0`, 'latin1'),
    ]);
    const sum = Buffer.alloc(2);
    sum.writeUInt16LE(crc32(head) & 0xffff);
    return Buffer.concat([head, sum, deflateRawSync(inner.bytes), uint32(crc32(inner.bytes)), uint32(inner.bytes.length)]);
  }),
  made('gzip of two streams', 'gz', (inner) => Buffer.concat([gzipSync(Buffer.alloc(0)), gzipSync(inner.bytes)])),
  made('gzip of a file in halves', 'gz', (inner) =>
    Buffer.concat([gzipSync(inner.bytes.subarray(0, 40)), gzipSync(inner.bytes.subarray(40))]),
  ),
  made('gzip before zeros', 'gz', (inner) => Buffer.concat([gzipSync(inner.bytes), Buffer.alloc(700)])),
  made('gzip before noise', 'gz', (inner, { chance }) => Buffer.concat([gzipSync(inner.bytes), noise(700, chance.next() | 1)])),
  made('gzip with a wrong sum', 'gz', (inner) => {
    const bytes = gzipSync(inner.bytes);
    bytes.writeUInt32LE(7, bytes.length - 8);
    return bytes;
  }),
  made('gzip cut short', 'gz', (inner) => gzipSync(inner.bytes).subarray(0, -8)),
  python('bzip2', 'bzip2', 'bz2'),
  made('bzip2 of two streams', 'bz2', async (inner, { writers }) =>
    Buffer.concat([
      await writers.python('bzip2', inner.bytes.subarray(0, 40), inner.name),
      await writers.python('bzip2', inner.bytes.subarray(40), inner.name),
    ]),
  ),
  made('bzip2 behind an empty one', 'bz2', async (inner, { writers }) =>
    Buffer.concat([await writers.python('bzip2', Buffer.alloc(0), ''), await writers.python('bzip2', inner.bytes, inner.name)]),
  ),
  python('xz', 'xz', 'xz'),
  python('xz, no check', 'xz', 'xz', { check: 'none' }),
  python('xz, SHA-256', 'xz', 'xz', { check: 'sha256' }),
  python('xz, x86 filter', 'xz', 'xz', { filter: 'x86' }),
  python('xz, delta filter', 'xz', 'xz', { filter: 'delta' }),
  made('xz of two streams, padded', 'xz', async (inner, { writers }) =>
    Buffer.concat([
      await writers.python('xz', Buffer.alloc(0), ''),
      Buffer.alloc(8),
      await writers.python('xz', inner.bytes, inner.name),
      Buffer.alloc(4),
    ]),
  ),
  python('lzma', 'lzma', 'lzma'),
  python('lzma, other properties', 'lzma', 'lzma', { lc: 0, lp: 2, pb: 0, dictionary: 1 << 20 }),
  python('lzma, odd dictionary', 'lzma', 'lzma', { lc: 4, lp: 0, pb: 1, dictionary: 0x12345 }),
  python('zlib', 'zlib', 'zz'),
  program('zstd', 'zstd -q NAME -o out.zst', 'out.zst', 'zst'),
  made('zstd of two frames', 'zst', async (inner, { writers }) => {
    const frame = (bytes: Buffer) => writers.run('zstd', ['-q', 'a', '-o', 'b'], { a: bytes }, 'b');
    return Buffer.concat([await frame(inner.bytes.subarray(0, 40)), await frame(inner.bytes.subarray(40))]);
  }),
  made('zstd behind a skippable frame', 'zst', async (inner, { writers }) =>
    Buffer.concat([
      Buffer.from('502a4d18', 'hex'),
      uint32(12),
      Buffer.from('nothing here'),
      await writers.run('zstd', ['-q', 'a', '-o', 'b'], { a: inner.bytes }, 'b'),
    ]),
  ),
  program('lz4', 'lz4 -q -z NAME out.lz4', 'out.lz4', 'lz4'),
  program('lz4, legacy', 'lz4 -q -z -l NAME out.lz4', 'out.lz4', 'lz4'),
  made('lz4 of two frames', 'lz4', async (inner, { writers }) => {
    const frame = (bytes: Buffer) => writers.run('lz4', ['-q', 'a', 'b'], { a: bytes }, 'b');
    return Buffer.concat([await frame(Buffer.alloc(0)), await frame(inner.bytes)]);
  }),
  made('compress', 'Z', (inner, { writers }) => writers.run('compress', ['-c', '-f', 'a'], { a: inner.bytes })),
].map((wrapper) => {
  const [first = ''] = wrapper.name.split(/[ ,]/);
  return ['zstd', 'lz4', 'compress'].includes(first) ? { ...wrapper, needs: [first] } : wrapper;
});

/** No block of a cab holds more (MS-CAB 2.4). Bytes. */
const CAB_BLOCK_BYTES = 32_768;

/** A cab of one file (MS-CAB); packed as Windows does (MSZIP, of which each block may refer to none before it) or stored. */
function cab(inner: Packed, is_packed: boolean): Buffer {
  const name = Buffer.from(`${inner.name}\0`);
  const blocks: Buffer[] = [];
  for (let from = 0; from < Math.max(1, inner.bytes.length); from += CAB_BLOCK_BYTES) {
    const plain = inner.bytes.subarray(from, from + CAB_BLOCK_BYTES);
    const data = is_packed ? Buffer.concat([Buffer.from('CK'), deflateRawSync(plain)]) : plain;
    const head = Buffer.alloc(8);
    head.writeUInt16LE(data.length, 4);
    head.writeUInt16LE(plain.length, 6);
    blocks.push(head, data);
  }
  const at = 36 + 8 + 16 + name.length;
  const bytes = Buffer.concat([Buffer.alloc(at), ...blocks]);
  bytes.write('MSCF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length, 8);
  bytes.writeUInt32LE(44, 16);
  bytes.writeUInt16LE(0x0103, 24);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(1, 28);
  bytes.writeUInt32LE(at, 36);
  bytes.writeUInt16LE(blocks.length / 2, 40);
  bytes.writeUInt16LE(is_packed ? 1 : 0, 42);
  bytes.writeUInt32LE(inner.bytes.length, 44);
  name.copy(bytes, 60);
  return bytes;
}

/** An MBR with one partition at sector 63 (ECMA-107's table). */
function partitioned(volume: Buffer): Buffer {
  const table = Buffer.alloc(63 * 512);
  table[446 + 4] = 0x0c;
  table.writeUInt32LE(63, 446 + 8);
  table.writeUInt32LE(Math.ceil(volume.length / 512), 446 + 12);
  table.writeUInt16LE(0xaa55, 510);
  return Buffer.concat([table, volume]);
}

/** Room for a file and its file system's own data. */
const diskKib = ({ bytes }: Packed) => Math.max(360, 8 * Math.ceil((bytes.length * 1.2) / KIB / 8) + 120);

async function fat(inner: Packed, writers: Parameters<Wrapper['wrap']>[1]['writers']): Promise<Buffer> {
  const script = `mkfs.vfat -C -n DISK out.img ${diskKib(inner)} >/dev/null && mcopy -i out.img readme.txt ::/ && mcopy -i out.img file ::/FILE.BIN`;
  return await writers.run('sh', ['-c', script], { file: inner.bytes, 'readme.txt': HARMLESS }, 'out.img');
}

/** An RPM (v3: lead, signature, header, payload) with a cpio in gzip; the headers carry the fewest tags that readers want. */
async function rpm(inner: Packed, writers: Parameters<Wrapper['wrap']>[1]['writers']): Promise<Buffer> {
  const lead = Buffer.alloc(96);
  Buffer.from('edabeedb03000000', 'hex').copy(lead);
  lead.write('package-1-1', 10, 'latin1');
  lead.writeUInt16BE(1, 76);
  lead.writeUInt16BE(5, 78);
  const header = (tags: readonly [number, string][]) => {
    const store = Buffer.from(tags.map(([, text]) => `${text}\0`).join(''), 'latin1');
    const head = Buffer.alloc(16 + tags.length * 16);
    Buffer.from('8eade80100000000', 'hex').copy(head);
    head.writeUInt32BE(tags.length, 8);
    head.writeUInt32BE(store.length, 12);
    let at = 0;
    for (const [index, [tag, text]] of tags.entries()) {
      for (const [field, value] of [tag, 6, at, 1].entries()) head.writeUInt32BE(value, 16 + index * 16 + field * 4);
      at += text.length + 1;
    }
    return Buffer.concat([head, store]);
  };
  const signature = header([[1000, 'x']]);
  const cpio = await writers.run('bsdtar', ['-c', '--format', 'newc', '-f', '-', inner.name], { [inner.name]: inner.bytes });
  const tags: [number, string][] = [
    [1000, 'package'],
    [1001, '1'],
    [1002, '1'],
    [1124, 'cpio'],
    [1125, 'gzip'],
    [1126, '9'],
  ];
  return Buffer.concat([lead, signature, Buffer.alloc((8 - (signature.length % 8)) % 8), header(tags), gzipSync(cpio)]);
}

const others: Wrapper[] = [
  ...['Copy', 'LZMA', 'LZMA2', 'PPMd', 'BZip2', 'Deflate'].map((method) =>
    program(`7z, ${method}`, `7z a -t7z -m0=${method} out.7z readme.txt NAME`, 'out.7z', '7z'),
  ),
  program('7z, BCJ2', '7z a -t7z -m0=BCJ2 -m1=LZMA -m2=LZMA -m3=LZMA -mb0:1 -mb0s1:2 -mb0s2:3 out.7z NAME', 'out.7z', '7z'),
  program('7z, header not packed', '7z a -t7z -mhc=off out.7z readme.txt NAME', 'out.7z', '7z'),
  program('7z by bsdtar', 'bsdtar -c --format 7zip -f out.7z readme.txt NAME', 'out.7z', '7z'),
  made('7z behind the program of 7-Zip', 'exe', async (inner, { writers }) => {
    const archive = await writers.run('7z', ['a', '-t7z', 'out.7z', inner.name], { [inner.name]: inner.bytes }, 'out.7z');
    const stub = SEVEN_ZIP_STUB.find(existsSync);
    return Buffer.concat([stub === undefined ? Buffer.from('MZ') : readFileSync(stub), archive]);
  }),
  program('wim', '7z a -twim out.wim readme.txt NAME', 'out.wim', 'wim'),
  made('cab, stored', 'cab', (inner) => cab(inner, false)),
  made('cab, MSZIP', 'cab', (inner) => cab(inner, true)),
  program('ar', 'ar rc out.a readme.txt NAME', 'out.a', 'a'),
  program('ar by bsdtar', 'bsdtar -c --format ar -f out.a readme.txt NAME', 'out.a', 'a'),
  ...['newc', 'odc', 'bin'].map((format) =>
    program(`cpio, ${format}`, `bsdtar -c --format ${format} -f out.cpio readme.txt NAME`, 'out.cpio', 'cpio'),
  ),
  made('two cpios', 'cpio', async (inner, { writers }) => {
    const one = (name: string, bytes: Buffer) =>
      writers.run('bsdtar', ['-c', '--format', 'newc', '-f', '-', name], { [name]: bytes });
    return Buffer.concat([await one('readme.txt', HARMLESS), await one(inner.name, inner.bytes)]);
  }),
  program('xar', 'bsdtar -c --format xar -f out.xar readme.txt NAME', 'out.xar', 'xar'),
  program('iso9660 by bsdtar', 'bsdtar -c --format iso9660 -f out.iso readme.txt NAME', 'out.iso', 'iso', 'file'),
  program('warc', 'bsdtar -c --format warc -f out.warc readme.txt NAME', 'out.warc', 'warc', 'file'),
  program('iso9660, Joliet, Rock Ridge', 'genisoimage -quiet -J -R -o out.iso readme.txt NAME', 'out.iso', 'iso', 'file'),
  program('iso9660, UDF', 'genisoimage -quiet -udf -o out.iso readme.txt NAME', 'out.iso', 'iso', 'file'),
  ...['gzip', 'xz', 'zstd'].map((method) =>
    program(`squashfs, ${method}`, `mksquashfs NAME readme.txt out.sqfs -quiet -no-progress -comp ${method}`, 'out.sqfs', 'sqfs'),
  ),
  made('FAT image', 'img', (inner, { writers }) => fat(inner, writers), 'file'),
  made('FAT in a partition', 'img', async (inner, { writers }) => partitioned(await fat(inner, writers)), 'file'),
  made(
    'ext2 image',
    'img',
    (inner, { writers }) =>
      writers.run(
        'sh',
        ['-c', `mke2fs -q -t ext2 -d files out.img ${diskKib(inner) + 40}k`],
        { 'files/file.bin': inner.bytes, 'files/readme.txt': HARMLESS },
        'out.img',
      ),
    'file',
  ),
  program('arj', 'arj a -y out.arj NAME', 'out.arj', 'arj'),
  made('deb', 'deb', (inner, { writers }) =>
    writers.run(
      'sh',
      ['-c', 'chmod 755 tree tree/DEBIAN && dpkg-deb -Zgzip -b tree out.deb >/dev/null'],
      {
        'tree/DEBIAN/control': Buffer.from(
          'Package: a\nVersion: 1\nArchitecture: all\nMaintainer: A <a@example.com>\nDescription: a\n',
        ),
        [`tree/opt/${inner.name}`]: inner.bytes,
      },
      'out.deb',
    ),
  ),
  made('rpm', 'rpm', (inner, { writers }) => rpm(inner, writers)),
  made('asar', 'asar', (inner) => {
    const json = Buffer.from(JSON.stringify({ files: { [inner.name]: { size: inner.bytes.length, offset: '0' } } }));
    const padded = Buffer.concat([json], Math.ceil(json.length / 4) * 4);
    return Buffer.concat([
      uint32(4),
      uint32(padded.length + 8),
      uint32(padded.length + 4),
      uint32(json.length),
      padded,
      inner.bytes,
    ]);
  }),
  made(
    'git object',
    'bin',
    (inner) => deflateSync(Buffer.concat([Buffer.from(`blob ${inner.bytes.length}\0`), inner.bytes])),
    'file',
  ),
];
const NEEDS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^FAT/, ['mkfs.vfat', 'mcopy']],
  [/^ext2/, ['mke2fs']],
  [/^deb$/, ['dpkg-deb']],
  [/^(rpm|two cpios)$/, ['bsdtar']],
  [/^7z behind/, ['7z']],
];

/** Damaged, ambiguous between readers, or with noise that no reader can claim. */
const FLAWED = /local header|without its|two directories|broken checksum|wrong sum|cut short|noise|split|looks like its end/;

export const ARCHIVES: readonly Wrapper[] = [...zips, ...tars, ...streams, ...others].map((wrapper): Wrapper => {
  const more = NEEDS.find(([pattern]) => pattern.test(wrapper.name))?.[1];
  return {
    ...wrapper,
    ...(more === undefined ? {} : { needs: more }),
    ...(FLAWED.test(wrapper.name) ? { flawed: true } : {}),
  };
});
