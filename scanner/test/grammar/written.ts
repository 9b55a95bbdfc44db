import { existsSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Chance } from '#test/chance.ts';
import { noise } from '#test/files.ts';
import { letter, partOf } from '#test/samples/mails.ts';
import { pdfWith } from '#test/samples/pdf.ts';
import { HARMLESS, hex, type Kind, LINES, latin, little, type Packed, record, type Sample, TEXTS } from '#test/samples/sample.ts';
import type { Writers } from './writers.ts';

// Files that Python's library and the programs that people use write, beside the samples that the tests write themselves.

/** One way to put a file into another one, by other programs. */
export interface Wrapper extends Omit<Sample, 'wrap'> {
  /** Programs that write it, beside Python. */
  needs?: readonly string[];
  wrap(inner: Packed, parts: { writers: Writers; chance: Chance }): Promise<Buffer> | Buffer;
}

type Options = Readonly<Record<string, string | number | boolean | Buffer>>;
interface Look {
  takes?: readonly Kind[];
  makes?: Kind;
  needs?: readonly string[];
  flawed?: true;
}

const SEVEN_ZIP_STUB = ['/usr/lib/p7zip/7zCon.sfx', '/usr/lib/7zip/7zCon.sfx'];
const KIB = 1024;

const made = (name: string, ending: string, wrap: Wrapper['wrap'], look: Look = {}): Wrapper => ({
  makes: 'file',
  ...look,
  name,
  ending,
  wrap,
});

/** By an operation of independent-writers.py. */
const python = (name: string, op: string, ending: string, options: Options = {}, look: Look = {}): Wrapper =>
  made(name, ending, (inner, { writers }) => writers.python(op, inner.bytes, inner.name, options), look);

const ARCHIVE = { makes: 'archive' } as const;
const archive = (name: string, op: string, ending: string, options: Options = {}): Wrapper =>
  python(name, op, ending, options, ARCHIVE);

/** By a command, for a file with the name of the payload and a harmless one. */
function program(name: string, words: string, output: string, ending: string, makes: Kind = 'archive'): Wrapper {
  const [command = '', ...args] = words.split(' ');
  const named = (inner: Packed) => args.map((word) => word.replace('NAME', inner.name));
  return made(
    name,
    ending,
    (inner, { writers }) =>
      writers.run(
        command,
        named(inner),
        { [inner.name]: inner.bytes, 'readme.txt': HARMLESS },
        output.replace('NAME', inner.name),
      ),
    { makes, needs: [command] },
  );
}

/** Bytes that several calls of a writer give, one behind the other. */
const joined = (
  name: string,
  ending: string,
  pieces: (inner: Packed, writers: Writers) => (Buffer | Promise<Buffer>)[],
  look: Look = ARCHIVE,
) =>
  made(
    name,
    ending,
    async (inner, { writers }) => Buffer.concat(await Promise.all(pieces(inner, writers).map((piece) => Promise.resolve(piece)))),
    look,
  );

const zipOf = ({ name, bytes }: Packed, writers: Writers, options: Options = {}) => writers.python('zip', bytes, name, options);

const zips: readonly Wrapper[] = [
  archive('zip, stored', 'zip', 'zip', { method: 'stored' }),
  archive('zip, deflate', 'zip', 'zip'),
  archive('zip, bzip2', 'zip', 'zip', { method: 'bzip2' }),
  archive('zip, LZMA', 'zip', 'zip', { method: 'lzma' }),
  archive('zip of several', 'zip', 'zip', { more: true }),
  archive('zip, zip64', 'zip', 'zip', { zip64: true }),
  archive('zip, data descriptor', 'zip', 'zip', { streamed: true }),
  archive('zip, stored, data descriptor', 'zip', 'zip', { streamed: true, method: 'stored' }),
  archive('zip, data descriptor, zip64', 'zip', 'zip', { streamed: true, zip64: true, more: true }),
  archive('zip with a comment', 'zip', 'zip', { comment: Buffer.from('Packed on a Friday. '.repeat(20)) }),
  {
    ...archive('zip with a comment that looks like its end', 'zip', 'zip', {
      comment: latin('PK\x05\x06 is not here. '.repeat(20)),
    }),
    flawed: true,
  },
  archive('zip behind text, offsets right', 'zip', 'bin', { prefix: HARMLESS }),
  made(
    'zip behind noise',
    'bin',
    async (inner, { writers, chance }) => Buffer.concat([noise(700, chance.next() | 1), await zipOf(inner, writers)]),
    { makes: 'archive', flawed: true },
  ),
  made(
    'zip before noise',
    'zip',
    async (inner, { writers, chance }) => Buffer.concat([await zipOf(inner, writers), noise(700, chance.next() | 1)]),
    { makes: 'archive', flawed: true },
  ),
  joined('zip before zeros', 'zip', (inner, writers) => [zipOf(inner, writers, { method: 'stored' }), Buffer.alloc(4096)]),
  joined(
    'zip, two directories, the file in the first',
    'zip',
    (inner, writers) => [zipOf(inner, writers), writers.python('zip', HARMLESS, 'readme.txt')],
    { makes: 'archive', flawed: true },
  ),
  joined(
    'zip, two directories, the file in the last',
    'zip',
    (inner, writers) => [writers.python('zip', HARMLESS, 'readme.txt'), zipOf(inner, writers)],
    { makes: 'archive', flawed: true },
  ),
  program('zip, deflate64', '7z a -tzip -mm=Deflate64 -mx=9 out.zip NAME', 'out.zip', 'zip'),
  program('zip, PPMd', '7z a -tzip -mm=PPMd out.zip NAME readme.txt', 'out.zip', 'zip'),
  program('zip by Info-ZIP', 'zip -q out.zip readme.txt NAME', 'out.zip', 'zip'),
  program('zip by bsdtar', 'bsdtar -c -f out.zip --format zip readme.txt NAME', 'out.zip', 'zip'),
];

const tars: readonly Wrapper[] = [
  archive('tar, ustar', 'tar', 'tar', { format: 'ustar' }),
  archive('tar, pax', 'tar', 'tar', { format: 'pax', more: true }),
  archive('tar, pax, long name', 'tar', 'tar', { format: 'pax', long: true }),
  archive('tar, GNU, long name', 'tar', 'tar', { format: 'gnu', long: true, more: true }),
  archive('tar, contiguous file', 'tar', 'tar', { type: '7' }),
  program('tar, v7', 'tar --format=v7 -c -f out.tar readme.txt NAME', 'out.tar', 'tar'),
  program('tar, sparse', 'tar -S -c -f out.tar readme.txt NAME', 'out.tar', 'tar'),
];

const ZSTD = { makes: 'archive', needs: ['zstd'] } as const;
const frameOf = (command: string, bytes: Buffer, writers: Writers) =>
  writers.run(command, command === 'zstd' ? ['-q', 'a', '-o', 'b'] : ['-q', 'a', 'b'], { a: bytes }, 'b');
const bzip2 = (bytes: Buffer, writers: Writers) => writers.python('bzip2', bytes, '');
const xz = (bytes: Buffer, writers: Writers) => writers.python('xz', bytes, '');

const streams: readonly Wrapper[] = [
  archive('gzip', 'gzip', 'gz'),
  archive('bzip2', 'bzip2', 'bz2'),
  joined('bzip2 of two streams', 'bz2', ({ bytes }, writers) => [
    bzip2(bytes.subarray(0, 40), writers),
    bzip2(bytes.subarray(40), writers),
  ]),
  joined('bzip2 behind an empty one', 'bz2', ({ bytes }, writers) => [bzip2(Buffer.alloc(0), writers), bzip2(bytes, writers)]),
  archive('xz', 'xz', 'xz'),
  archive('xz, no check', 'xz', 'xz', { check: 'none' }),
  archive('xz, SHA-256', 'xz', 'xz', { check: 'sha256' }),
  archive('xz, x86 filter', 'xz', 'xz', { filter: 'x86' }),
  archive('xz, delta filter', 'xz', 'xz', { filter: 'delta' }),
  joined('xz of two streams, padded', 'xz', ({ bytes }, writers) => [
    xz(Buffer.alloc(0), writers),
    Buffer.alloc(8),
    xz(bytes, writers),
    Buffer.alloc(4),
  ]),
  archive('lzma', 'lzma', 'lzma'),
  archive('lzma, other properties', 'lzma', 'lzma', { lc: 0, lp: 2, pb: 0, dictionary: 1 << 20 }),
  archive('lzma, odd dictionary', 'lzma', 'lzma', { lc: 4, lp: 0, pb: 1, dictionary: 0x12345 }),
  archive('zlib', 'zlib', 'zz'),
  program('zstd', 'zstd -q NAME -o out.zst', 'out.zst', 'zst'),
  joined(
    'zstd of two frames',
    'zst',
    ({ bytes }, writers) => [frameOf('zstd', bytes.subarray(0, 40), writers), frameOf('zstd', bytes.subarray(40), writers)],
    ZSTD,
  ),
  joined(
    'zstd behind a skippable frame',
    'zst',
    ({ bytes }, writers) => [hex('502a4d18'), little(12), latin('nothing here'), frameOf('zstd', bytes, writers)],
    ZSTD,
  ),
  program('lz4', 'lz4 -q -z NAME out.lz4', 'out.lz4', 'lz4'),
  program('lz4, legacy', 'lz4 -q -z -l NAME out.lz4', 'out.lz4', 'lz4'),
  joined(
    'lz4 of two frames',
    'lz4',
    ({ bytes }, writers) => [frameOf('lz4', Buffer.alloc(0), writers), frameOf('lz4', bytes, writers)],
    { makes: 'archive', needs: ['lz4'] },
  ),
  made('compress', 'Z', (inner, { writers }) => writers.run('compress', ['-c', '-f', 'a'], { a: inner.bytes }), {
    makes: 'archive',
    needs: ['compress'],
  }),
];

/** An MBR with one partition at sector 63 (ECMA-107's table). */
function partitioned(volume: Buffer): Buffer {
  const table = record(63 * 512, [
    [450, 0x0c],
    [454, 63],
    [458, Math.ceil(volume.length / 512)],
    [510, 0xaa55, 2],
  ]);
  return Buffer.concat([table, volume]);
}

/** Room for a file and its file system's own data. */
const diskKib = ({ bytes }: Packed) => Math.max(360, 8 * Math.ceil((bytes.length * 1.2) / KIB / 8) + 120);

async function fat(inner: Packed, writers: Writers): Promise<Buffer> {
  const script = `mkfs.vfat -C -n DISK out.img ${diskKib(inner)} >/dev/null && mcopy -i out.img readme.txt ::/ && mcopy -i out.img file ::/FILE.BIN`;
  return await writers.run('sh', ['-c', script], { file: inner.bytes, 'readme.txt': HARMLESS }, 'out.img');
}

/** An RPM (v3: lead, signature, header, payload) with a cpio in gzip; the headers carry the fewest tags that readers want. */
async function rpm(inner: Packed, writers: Writers): Promise<Buffer> {
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

const others: readonly Wrapper[] = [
  ...['Copy', 'LZMA', 'LZMA2', 'PPMd', 'BZip2', 'Deflate'].map((method) =>
    program(`7z, ${method}`, `7z a -t7z -m0=${method} out.7z readme.txt NAME`, 'out.7z', '7z'),
  ),
  program('7z, BCJ2', '7z a -t7z -m0=BCJ2 -m1=LZMA -m2=LZMA -m3=LZMA -mb0:1 -mb0s1:2 -mb0s2:3 out.7z NAME', 'out.7z', '7z'),
  program('7z, header not packed', '7z a -t7z -mhc=off out.7z readme.txt NAME', 'out.7z', '7z'),
  program('7z by bsdtar', 'bsdtar -c --format 7zip -f out.7z readme.txt NAME', 'out.7z', '7z'),
  made(
    '7z behind the program of 7-Zip',
    'exe',
    async (inner, { writers }) => {
      const packed = await writers.run('7z', ['a', '-t7z', 'out.7z', inner.name], { [inner.name]: inner.bytes }, 'out.7z');
      const stub = SEVEN_ZIP_STUB.find(existsSync);
      return Buffer.concat([stub === undefined ? Buffer.from('MZ') : readFileSync(stub), packed]);
    },
    { makes: 'archive', needs: ['7z'] },
  ),
  program('wim', '7z a -twim out.wim readme.txt NAME', 'out.wim', 'wim'),
  program('ar', 'ar rc out.a readme.txt NAME', 'out.a', 'a'),
  program('ar by bsdtar', 'bsdtar -c --format ar -f out.a readme.txt NAME', 'out.a', 'a'),
  ...['newc', 'odc', 'bin'].map((format) =>
    program(`cpio, ${format}`, `bsdtar -c --format ${format} -f out.cpio readme.txt NAME`, 'out.cpio', 'cpio'),
  ),
  made(
    'two cpios',
    'cpio',
    async (inner, { writers }) => {
      const one = (name: string, bytes: Buffer) =>
        writers.run('bsdtar', ['-c', '--format', 'newc', '-f', '-', name], { [name]: bytes });
      return Buffer.concat([await one('readme.txt', HARMLESS), await one(inner.name, inner.bytes)]);
    },
    { makes: 'archive', needs: ['bsdtar'] },
  ),
  program('xar', 'bsdtar -c --format xar -f out.xar readme.txt NAME', 'out.xar', 'xar'),
  program('iso9660 by bsdtar', 'bsdtar -c --format iso9660 -f out.iso readme.txt NAME', 'out.iso', 'iso', 'file'),
  program('warc', 'bsdtar -c --format warc -f out.warc readme.txt NAME', 'out.warc', 'warc', 'file'),
  program('iso9660, Joliet, Rock Ridge', 'genisoimage -quiet -J -R -o out.iso readme.txt NAME', 'out.iso', 'iso', 'file'),
  program('iso9660, UDF', 'genisoimage -quiet -udf -o out.iso readme.txt NAME', 'out.iso', 'iso', 'file'),
  ...['gzip', 'xz', 'zstd'].map((method) =>
    program(`squashfs, ${method}`, `mksquashfs NAME readme.txt out.sqfs -quiet -no-progress -comp ${method}`, 'out.sqfs', 'sqfs'),
  ),
  made('FAT image', 'img', (inner, { writers }) => fat(inner, writers), { needs: ['mkfs.vfat', 'mcopy'] }),
  made('FAT in a partition', 'img', async (inner, { writers }) => partitioned(await fat(inner, writers)), {
    needs: ['mkfs.vfat', 'mcopy'],
  }),
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
    { needs: ['mke2fs'] },
  ),
  program('arj', 'arj a -y out.arj NAME', 'out.arj', 'arj'),
  made(
    'deb',
    'deb',
    (inner, { writers }) =>
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
    { makes: 'archive', needs: ['dpkg-deb'] },
  ),
  made('rpm', 'rpm', (inner, { writers }) => rpm(inner, writers), { makes: 'archive', needs: ['bsdtar'] }),
];

const text = (name: string, codec: string, mark = ''): Wrapper =>
  made(
    `text, ${name}`,
    'txt',
    async (inner, { writers }) => Buffer.concat([hex(mark), await writers.python('text', inner.bytes, inner.name, { codec })]),
    { takes: TEXTS },
  );

const texts: readonly Wrapper[] = [
  text('UTF-16LE with mark', 'utf-16-le', 'fffe'),
  text('UTF-16BE with mark', 'utf-16-be', 'feff'),
  text('UTF-16LE', 'utf-16-le'),
  text('UTF-16BE', 'utf-16-be'),
  text('UTF-32LE with mark', 'utf-32-le', 'fffe0000'),
  text('UTF-32BE with mark', 'utf-32-be', '0000feff'),
  text('UTF-8 with mark', 'utf-8-sig'),
  text('UTF-7', 'utf-7'),
  text('of a large computer', 'cp500'),
];

/** Output of qpdf for a PDF with the file attached. */
const byQpdf = (name: string, ...args: string[]): Wrapper =>
  made(
    name,
    'pdf',
    (inner, { writers }) => writers.run('qpdf', [...args, 'in.pdf', 'out.pdf'], { 'in.pdf': pdfWith(inner) }, 'out.pdf'),
    { needs: ['qpdf'] },
  );

/** Signed, with the content inside (CMS signed-data), by OpenSSL. */
const SIGN =
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -subj /CN=a -days 30 2>/dev/null && openssl cms -sign -nodetach -binary -in mail -signer cert.pem -inkey key.pem -outform SMIME -out out.eml -from a@example.com -to b@example.com -subject file';

const documents: readonly Wrapper[] = [
  byQpdf('pdf, object streams', '--object-streams=generate'),
  byQpdf('pdf, linear', '--linearize'),
  byQpdf('pdf, encrypted for nobody', '--encrypt', '', 'owner', '256', '--'),
  byQpdf('pdf, encrypted for nobody, RC4', '--allow-weak-crypto', '--encrypt', '', 'owner', '128', '--'),
  python('mail, base64', 'mail', 'eml'),
  python('mail, quoted-printable', 'mail', 'eml', { encoding: 'quoted-printable' }, { takes: LINES }),
  python('mail, 7bit', 'mail', 'eml', { encoding: '7bit', type: 'text/plain' }, { takes: LINES }),
  python('mail in a mail', 'mail', 'eml', { nested: true }),
  made(
    'mail, S/MIME with its content inside',
    'eml',
    (inner, { writers }) => writers.run('sh', ['-c', SIGN], { mail: latin(letter(partOf(inner))) }, 'out.eml'),
    { needs: ['openssl'] },
  ),
];

const row = (name: string, ending: string, kind: string, takes: readonly Kind[] | undefined = undefined): Wrapper =>
  python(name, 'rows', ending, { kind }, takes === undefined ? {} : { takes });

const LZ4_BLOCK_BYTES = 4096;

/** Blocks of LZ4 with the frames of a library. The oldest format of the program has a mark and a size before its block. */
const lz4Blocks = (name: string, kind: string, makes: Kind): Wrapper =>
  made(
    name,
    'lz4',
    async ({ bytes, name: inner }, { writers }) => {
      const plain: Buffer[] = [];
      const blocks: Buffer[] = [];
      const step = kind === 'lz4-java' ? LZ4_BLOCK_BYTES : bytes.length;
      for (let at = 0; at < bytes.length; at += step) {
        const piece = bytes.subarray(at, at + step);
        plain.push(piece);
        blocks.push((await writers.run('lz4', ['-l', '-c', 'a.bin'], { 'a.bin': piece })).subarray(8));
      }
      const words = (pieces: readonly Buffer[]) => pieces.map((piece) => piece.toString('base64')).join(' ');
      return await writers.python('blocks', Buffer.alloc(0), inner, { kind, plain: words(plain), blocks: words(blocks) });
    },
    { makes, needs: ['lz4'] },
  );

const values: readonly Wrapper[] = [
  ...[0, 1, 2, 5].map((protocol) => python(`pickle, protocol ${protocol}`, 'pickle', 'pkl', { protocol })),
  python('binary property list', 'plist', 'plist'),
  python('base85 of Adobe', 'base85', 'txt', { kind: 'adobe' }),
  python('base85 of Python', 'base85', 'txt', { kind: 'python' }),
  python('base85 of ZeroMQ', 'base85', 'txt', { kind: 'zeromq' }),
  python('base64 in a stream of a PDF', 'pdf-letters', 'pdf'),
  python('digits in a packed stream of a PDF', 'pdf-letters', 'pdf', { packed: true, digits: true }),
  python('database (SQLite)', 'sqlite', 'db'),
  python('text in a database (SQLite)', 'sqlite', 'db', { text: true }, { takes: LINES }),
  python('compiled Python', 'compiled', 'pyc'),
  python('zlib amid bytes', 'zlib-within', 'bin'),
  python('files of Doom', 'game', 'wad', { kind: 'wad' }),
  python('files of Quake', 'game', 'pak', { kind: 'pak' }),
  python('xxencode', 'xxencode', 'xxe'),
  row('drawing (DXF)', 'dxf', 'dxf'),
  row('trace of curl', 'txt', 'curl'),
  row('log, pairs of digits', 'log', 'log'),
  row('log, digits in one piece', 'log', 'log-piece'),
  row('memory, by gdb', 'txt', 'gdb'),
  row('memory, by WinDbg', 'txt', 'windbg'),
  row('script of Oracle, in pieces', 'sql', 'oracle'),
  row('CBOR in pieces', 'cbor', 'cbor'),
  row('CBOR in pieces of text', 'cbor', 'cbor-text', LINES),
  row('dump of MySQL', 'sql', 'mysql'),
  row('dump of MySQL, nothing else', 'sql', 'mysql-compact'),
  row('dump of PostgreSQL, COPY with escapes', 'sql', 'copy'),
  row('dump of PostgreSQL, INSERT with escapes', 'sql', 'insert'),
  lz4Blocks('LZ4 by Java', 'lz4-java', 'archive'),
  lz4Blocks('LZ4 with its size before it', 'lz4-size', 'file'),
  made(
    'cpio (binary, old)',
    'cpio',
    (inner, { writers }) =>
      writers.run('cpio', ['-o', '-H', 'bin', '--quiet'], { 'a.bin': inner.bytes }, undefined, latin('a.bin\n')),
    { makes: 'archive', needs: ['cpio'] },
  ),
  made(
    'LZMA of other properties in zlib amid bytes',
    'bin',
    async ({ name, bytes }, { writers }) =>
      await writers.python('zlib-within', await writers.python('lzma', bytes, name, { lc: 0, lp: 2, pb: 0 }), name),
  ),
  made(
    'ISO, hidden from Windows',
    'iso',
    (inner, { writers }) =>
      writers.run(
        'genisoimage',
        ['-quiet', '-J', '-hide-joliet', 'a.bin', '-o', 'out.iso', 'files'],
        { 'files/a.bin': inner.bytes, 'files/readme.txt': HARMLESS },
        'out.iso',
      ),
    { makes: 'archive', needs: ['genisoimage'] },
  ),
];

export const WRITTEN: readonly Wrapper[] = [...zips, ...tars, ...streams, ...others, ...documents, ...texts, ...values];
