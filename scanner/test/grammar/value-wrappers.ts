import type { Wrapper } from './wrapper.ts';

// Values of saved objects, databases, captures, cards and compiled scripts, and bytes written in other letters: by Python's library, or from the published format.

const made = (name: string, ending: string, op: string, options = {}, takes?: Wrapper['takes']): Wrapper => {
  const wrapper: Wrapper = {
    name,
    makes: 'file',
    ending,
    wrap: (inner, { writers }) => writers.python(op, inner.bytes, inner.name, options),
  };
  return takes === undefined ? wrapper : { ...wrapper, takes };
};

const TEXTS = ['line', 'text'] as const;

export const VALUES: readonly Wrapper[] = [
  ...[0, 1, 2, 5].map((protocol) => made(`pickle, protocol ${protocol}`, 'pkl', 'pickle', { protocol })),
  made('array of bytes (numpy)', 'npy', 'numpy', { kind: 'S' }),
  made('array of numbers (numpy)', 'npy', 'numpy', { kind: 'u' }),
  made('array of objects (numpy)', 'npy', 'numpy', { kind: 'O' }),
  made('array of wide letters (numpy)', 'npy', 'numpy', { kind: '<U' }, TEXTS),
  made('array of wide letters, highest byte first (numpy)', 'npy', 'numpy', { kind: '>U' }, TEXTS),
  made('base85 of Adobe', 'txt', 'base85', { kind: 'adobe' }),
  made('base85 of Python', 'txt', 'base85', { kind: 'python' }),
  made('base85 of Python in a literal', 'py', 'base85', { kind: 'python', literal: true }),
  made('base85 of ZeroMQ', 'txt', 'base85', { kind: 'zeromq' }),
  made('base64 in a stream of a PDF', 'pdf', 'pdf-letters', {}),
  made('digits in a packed stream of a PDF', 'pdf', 'pdf-letters', { packed: true, digits: true }),
  made('database (SQLite)', 'db', 'sqlite', {}),
  made('text in a database (SQLite)', 'db', 'sqlite', { text: true }, TEXTS),
  made('compiled Python', 'pyc', 'compiled', {}),
  made('card', 'vcf', 'card', {}),
  made('directory (LDIF)', 'ldif', 'card', { directory: true }),
  made('zlib amid bytes', 'bin', 'zlib-within', {}),
  made('data of CMS', 'p7m', 'cms', {}),
  made('files of Doom', 'wad', 'game', { kind: 'wad' }),
  made('files of Quake', 'pak', 'game', { kind: 'pak' }),
  made('xxencode', 'xxe', 'xxencode', {}),
  made('text of a large computer', 'txt', 'text', { codec: 'cp500' }, ['text']),
];
