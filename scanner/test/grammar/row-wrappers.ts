import type { Packed, Wrapper } from './wrapper.ts';
import type { Writers } from './writers.ts';

// Bytes in columns of digits beside other words, in pieces, with escapes as dumps of databases have them, and in blocks of LZ4 with the frames of libraries: by their published formats.

const made = (name: string, ending: string, kind: string, takes?: Wrapper['takes']): Wrapper => {
  const wrapper: Wrapper = {
    name,
    makes: 'file',
    ending,
    wrap: (inner, { writers }) => writers.python('rows', inner.bytes, inner.name, { kind }),
  };
  return takes === undefined ? wrapper : { ...wrapper, takes };
};

/** A block by the program itself: its oldest format has a mark and a size before each. */
async function blockOf(bytes: Buffer, writers: Writers): Promise<Buffer> {
  return (await writers.run('lz4', ['-l', '-c', 'a.bin'], { 'a.bin': bytes })).subarray(8);
}

const LZ4_BLOCK_BYTES = 4096;

const packed = (name: string, ending: string, kind: string): Wrapper => ({
  name,
  makes: kind === 'lz4-size' ? 'file' : 'archive',
  ending,
  needs: ['lz4'],
  async wrap({ bytes, name: inner }: Packed, { writers }) {
    const plain: Buffer[] = [];
    const blocks: Buffer[] = [];
    const step = kind === 'lz4-java' ? LZ4_BLOCK_BYTES : bytes.length;
    for (let at = 0; at < bytes.length; at += step) {
      plain.push(bytes.subarray(at, at + step));
      blocks.push(await blockOf(bytes.subarray(at, at + step), writers));
    }
    const words = (pieces: readonly Buffer[]) => pieces.map((piece) => piece.toString('base64')).join(' ');
    return await writers.python('blocks', Buffer.alloc(0), inner, { kind, plain: words(plain), blocks: words(blocks) });
  },
});

export const ROWS: readonly Wrapper[] = [
  made('drawing (DXF)', 'dxf', 'dxf'),
  made('trace of curl', 'txt', 'curl'),
  made('log, pairs of digits', 'log', 'log'),
  made('log, digits in one piece', 'log', 'log-piece'),
  made('memory, by gdb', 'txt', 'gdb'),
  made('memory, by WinDbg', 'txt', 'windbg'),
  made('script of Oracle, in pieces', 'sql', 'oracle'),
  made('CBOR in pieces', 'cbor', 'cbor'),
  made('CBOR in pieces of text', 'cbor', 'cbor-text', ['line', 'text']),
  made('dump of MySQL', 'sql', 'mysql'),
  made('dump of MySQL, nothing else', 'sql', 'mysql-compact'),
  made('dump of PostgreSQL, COPY with escapes', 'sql', 'copy'),
  made('dump of PostgreSQL, INSERT with escapes', 'sql', 'insert'),
  packed('LZ4 by Java', 'lz4', 'lz4-java'),
  packed('LZ4 with its size before it', 'lz4', 'lz4-size'),
  {
    name: 'cpio (binary, old)',
    makes: 'archive',
    ending: 'cpio',
    needs: ['cpio'],
    wrap: (inner, { writers }) =>
      writers.run('cpio', ['-o', '-H', 'bin', '--quiet'], { 'a.bin': inner.bytes }, undefined, Buffer.from('a.bin\n')),
  },
  {
    name: 'LZMA of other properties in zlib amid bytes',
    makes: 'file',
    ending: 'bin',
    wrap: async (inner, { writers }) =>
      await writers.python(
        'zlib-within',
        await writers.python('lzma', inner.bytes, inner.name, { lc: 0, lp: 2, pb: 0 }),
        inner.name,
      ),
  },
];
