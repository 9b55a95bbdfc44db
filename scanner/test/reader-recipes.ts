import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { noise } from './files.ts';
import { asarOf } from './samples/archives.ts';
import { big, latin, little } from './samples/sample.ts';

// Files that are built from a list of numbers, for a search that bends the list: a number is a choice, and the file is the same for the same list. A list chooses one unit, which is repeated up to the requested size.

/** Choices in their order; behind the last one all are 0. */
class Choices {
  private next = 0;
  private readonly numbers: readonly number[];

  constructor(numbers: readonly number[]) {
    this.numbers = numbers;
  }

  below(limit: number): number {
    const number = this.numbers[this.next] ?? 0;
    this.next += 1;
    return limit <= 0 ? 0 : number % limit;
  }

  of<T>(first: T, ...others: readonly T[]): T {
    return [first, ...others][this.below(others.length + 1)] ?? first;
  }

  /** A size that is as often between 1 and 16 as between 1,024 and 16,384. */
  size(most: number): number {
    const bits = Math.max(1, Math.ceil(Math.log2(most + 1)));
    return Math.min(most, 1 + this.below(2 ** (1 + this.below(bits))));
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
  return Buffer.from([...bytes, left]);
}

/** Bytes of one kind, as they are before anything packs them. */
function plain(choices: Choices, most: number): Buffer {
  const size = choices.size(most);
  const fill = choices.of(
    '\0',
    'a',
    '<?php ',
    'x\x9c',
    'PK\x03\x04',
    '\xc3',
    'ab\n',
    '"',
    '\x78\x01\x63',
    'MZ',
    '%PDF-1.4\n',
    '\x1f\x8b\x08\0',
  );
  return choices.below(4) === 3 ? noise(size, choices.below(1000) + 1) : Buffer.alloc(size, fill, 'latin1');
}

/** A stream of deflate, whole, cut, bent or followed by something. */
function deflated(choices: Choices, most: number): Buffer {
  const content = choices.below(3) === 0 ? Buffer.alloc(choices.size(4 * 1024 * 1024)) : plain(choices, most);
  const level = choices.of(9, 1, 0);
  const pack = choices.of(deflateSync, deflateRawSync, gzipSync);
  const packed = Buffer.from(pack(content, { level }).subarray(0, most));
  const bend = choices.below(5);
  if (bend === 1) return packed.subarray(0, Math.max(1, packed.length - 1 - choices.below(packed.length)));
  if (bend === 2) packed[packed.length - 1] = (packed[packed.length - 1] ?? 0) ^ 1;
  if (bend === 3) packed[choices.below(packed.length)] = choices.below(256);
  return bend === 4 ? Buffer.concat([packed, Buffer.from([choices.below(256)])]) : packed;
}

/** One block of Snappy: literals, and copies of earlier bytes. */
function snapped(choices: Choices): Buffer {
  const first = plain(choices, 60);
  const copies = choices.size(30_000);
  const length = 1 + choices.below(64);
  const offset = choices.of(1, first.length, 65_535);
  const claimed = first.length + copies * length + choices.of(0, 1, 2 ** 20);
  const copy = Buffer.from([((length - 1) << 2) | 2, ...little(offset, 2)]);
  return Buffer.concat([
    varint(claimed),
    Buffer.from([(first.length - 1) << 2]),
    first,
    Buffer.alloc(copies * copy.length, copy),
  ]);
}

function content(choices: Choices, most: number): Buffer {
  const kind = choices.below(4);
  const bytes =
    kind === 0
      ? plain(choices, most)
      : kind === 1
        ? deflated(choices, most)
        : kind === 2
          ? snapped(choices)
          : latin(letters(choices, most));
  return bytes.subarray(0, most);
}

/** A text that a reader of texts takes apart. */
function letters(choices: Choices, most: number): string {
  const size = choices.size(most);
  const what = choices.of(
    'a',
    'QUJD',
    '41',
    '\\x41',
    "'a'+",
    '"\\n',
    '%41',
    '&#65;',
    'eJyN',
    '<?php eval(base64_decode("',
    'H4sI',
    "b'",
  );
  return what.repeat(Math.ceil(size / what.length)).slice(0, size);
}

/** Numbers in a pattern are changed at the places that are chosen. */
function bent(choices: Choices, bytes: Buffer): Buffer {
  const count = choices.below(4);
  const changed = Buffer.from(bytes);
  for (let index = 0; index < count; index += 1) {
    const at = choices.below(Math.max(1, changed.length));
    changed[at] = choices.of(0, 0xff, 0x80, 1, choices.below(256));
  }
  return changed;
}

/** A unit, or several in turn, repeated to so many bytes. */
function repeated(units: readonly Buffer[], bytes: number): { whole: Buffer; count: number } {
  const round = Buffer.concat(units);
  const rounds = Math.max(1, Math.floor(bytes / Math.max(1, round.length)));
  return { whole: Buffer.alloc(rounds * round.length, round), count: rounds * units.length };
}

function unitsOf(choices: Choices, most: number, make: () => Buffer): Buffer[] {
  const units = Array.from({ length: 1 + choices.below(most) }, make);
  return units.map((unit) => bent(choices, unit));
}

function pyc(choices: Choices, bytes: number): Buffer {
  const constant = () => {
    const type = choices.of('s', 's', 'u', 't', 'z', '(', 'c', 'N');
    const value = content(choices, 64 * 1024);
    if (type === '(') return Buffer.concat([latin('('), little(choices.below(4))]);
    if (type === 'c' || type === 'N') return latin(type);
    return type === 'z'
      ? Buffer.concat([latin('z'), Buffer.from([Math.min(255, value.length)]), value.subarray(0, 255)])
      : Buffer.concat([latin(type), little(value.length), value]);
  };
  const { whole, count } = repeated(unitsOf(choices, 4, constant), bytes);
  const word = choices.of('decompress', 'x');
  // 3.12: a code object whose constants are the units.
  return Buffer.concat([
    Buffer.from('cb0d0d0a', 'hex'),
    Buffer.alloc(12),
    latin('c'),
    Buffer.alloc(20),
    latin('s'),
    little(0),
    latin('('),
    little(count + 1),
    latin('s'),
    little(word.length),
    latin(word),
    whole,
    latin('NNNNNN'),
    latin('N'),
    little(1),
    latin('NN'),
  ]);
}

function http(choices: Choices): string {
  const first = choices.of(
    'HTTP/1.1 200 OK',
    'GET / HTTP/1.1',
    'POST /a HTTP/1.0',
    'HTTP/1.1 200',
    `GET /${letters(choices, 9000)} HTTP/1.1`,
  );
  const fields = Array.from({ length: choices.below(6) }, () => {
    const name = choices.of(
      'Content-Length',
      'Transfer-Encoding',
      'Content-Type',
      'Content-Encoding',
      'A',
      `X${letters(choices, 70_000)}`,
    );
    const value = choices.of(
      '0',
      'chunked',
      `${choices.below(100)}`,
      'multipart/form-data; boundary=a',
      'gzip',
      letters(choices, 5000),
      ' '.repeat(choices.size(5000)),
      '99999999999',
    );
    return `${name}:${choices.of(' ', '', '\t'.repeat(20))}${value}`;
  });
  const end = choices.of('\r\n\r\n', '\n\n', '\r\n', '\n');
  const body = choices.of('', '1\r\na\r\n', '0\r\n\r\n', '--a\r\n\r\n', letters(choices, 4000), '1;');
  return [first, ...fields].join(choices.of('\r\n', '\n')) + end + body;
}

function httpFile(choices: Choices, bytes: number): Buffer {
  const first = latin('HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n\r\n');
  return Buffer.concat([
    first,
    repeated(
      unitsOf(choices, 3, () => latin(http(choices))),
      bytes,
    ).whole,
  ]);
}

function asar(choices: Choices, bytes: number): Buffer {
  const share = choices.of(0.5, 0.9, 0.99, 0.1);
  const body = repeated([content(choices, 64 * 1024)], bytes * (1 - share)).whole;
  const size = choices.of(body.length, choices.size(body.length), 1, 2 ** 40);
  const step = choices.of(0, 1, size, choices.below(4096));
  const name = choices.of('a', 'folder', letters(choices, 200).replaceAll(/["\\\n]/g, 'b'));
  const deep = choices.below(3) === 2;
  const entries: string[] = [];
  let length = 0;
  for (let number = 0; length < bytes * share && number < 100_000; number += 1) {
    const entry =
      deep && number % 3 === 0
        ? `"${name}${number}":{"files":{"b":{"size":1,"offset":"0"}}}`
        : `"${name}${number}":{"size":${size},"offset":"${(number * step) % Math.max(1, body.length)}"}`;
    entries.push(entry);
    length += entry.length + 1;
  }
  return asarOf(`{"files":{${entries.join(',')}}}`, body);
}

/** LZF: literals of 32, or copies. */
/** The entries of a block of LevelDB. */
function entries(choices: Choices, bytes: number): Buffer {
  const unit = () => {
    const key = plain(choices, choices.of(40, 70_000));
    const value = content(choices, choices.of(200, 64 * 1024));
    return Buffer.concat([
      varint(choices.of(0, 1, key.length, choices.below(70_000))),
      varint(key.length),
      varint(value.length),
      key,
      value,
    ]);
  };
  return Buffer.concat([repeated(unitsOf(choices, 3, unit), bytes).whole, little(0), little(1)]);
}

function levelDb(choices: Choices, bytes: number): Buffer {
  const raw = entries(choices, choices.size(256 * 1024));
  const packing = choices.below(3);
  const block =
    packing === 1
      ? snapped(choices)
      : packing === 2
        ? zstdCompressSync(choices.below(2) === 0 ? raw : Buffer.alloc(choices.size(2 ** 24)))
        : raw;
  const stored = Buffer.concat([block, Buffer.from([choices.of(packing, 0, 1, 2)]), Buffer.alloc(4)]);
  const share = choices.of(0.5, 0.05, 0.95);
  const data = repeated([stored], bytes * (1 - share)).whole;
  const handle = choices.of('same', 'next', 'whole');
  const blocks = Math.max(1, Math.floor(data.length / stored.length));
  const length = Math.max(0, handle === 'whole' ? data.length - 5 : stored.length - 5);
  // Written into one buffer: a million small ones would take more memory than the reader under test.
  const entries_bytes = Math.ceil(bytes * share);
  const pieces = Buffer.alloc(entries_bytes + 64);
  let size = 0;
  for (let number = 0; size < entries_bytes; number += 1) {
    const at = handle === 'next' ? (number % blocks) * stored.length : 0;
    const value = Buffer.concat([varint(at), varint(length)]);
    size += Buffer.concat([varint(0), varint(1), varint(value.length), latin('k'), value]).copy(pieces, size);
  }
  const index = Buffer.concat([pieces.subarray(0, size), little(0), little(1)]);
  const handles = Buffer.concat([varint(0), varint(stored.length - 5), varint(data.length), varint(index.length)]);
  return Buffer.concat([data, index, Buffer.alloc(5), Buffer.concat([handles], 40), Buffer.from('57fb808b247547db', 'hex')]);
}

function pickle(choices: Choices, bytes: number): Buffer {
  const unit = () => {
    const kind = choices.below(8);
    const value = content(choices, choices.of(100, 5000, 64 * 1024));
    const line = latin(value.toString('latin1').replaceAll(/['\n]/g, 'a'));
    if (kind === 0) return Buffer.concat([latin("S'"), line, latin("'\n")]);
    if (kind === 1) return Buffer.concat([latin('V'), line, latin('\n')]);
    if (kind === 2)
      return latin(
        `${choices.of('I', 'F', 'L')}${letters(choices, 5000).replaceAll(/[^\d]/g, '1').slice(0, choices.of(10, 4000))}\n`,
      );
    if (kind === 3) return latin(choices.of('cos\nsystem\n', 'cjoblib.numpy_pickle\nNumpyArrayWrapper\n', 'p1\n', 'g1\n', 'P\n'));
    if (kind === 4) return Buffer.concat([latin('B'), little(value.length), value]);
    if (kind === 5) return Buffer.concat([latin('X'), little(value.length), value]);
    if (kind === 6)
      return Buffer.concat([
        latin(choices.of('U', '\x8c', 'C')),
        Buffer.from([Math.min(255, value.length)]),
        value.subarray(0, 255),
      ]);
    return latin(choices.of('(', 'q\0', ']', 'K\x01', 'M\x01\0', 'a', '\x94', 'b', 'N'));
  };
  return Buffer.concat([
    latin(choices.of('(lp0\n', '\x80\x02]q\0', '\x80\x03}q\0')),
    repeated(unitsOf(choices, 4, unit), bytes).whole,
    latin(choices.of('.', '')),
  ]);
}

/** Streams of zlib and their heads inside other bytes, in a file of no format. */
function amid(choices: Choices, bytes: number): Buffer {
  const first = choices.of('\x03\x01\x02\x7f', 'RIFF', '{"a":"', '\x89abc', '#!/bin/sh\n');
  return Buffer.concat([
    latin(first),
    repeated(
      unitsOf(choices, 4, () =>
        choices.below(3) === 0 ? Buffer.concat([Buffer.from([0x78, 0x9c]), plain(choices, 64)]) : content(choices, 64 * 1024),
      ),
      bytes,
    ).whole,
  ]);
}

/** Runs of letters in a script that calls something to unpack them. */
function scripts(choices: Choices, bytes: number): Buffer {
  const head = choices.of(
    '<?php eval(gzinflate(base64_decode(',
    'import zlib\nexec(zlib.decompress(',
    '#!/bin/sh\necho ',
    'function inflate(){}\n',
    '$a = New-Object IO.Compression.DeflateStream(',
    'x = ',
  );
  const unit = () => {
    const bytes = choices.below(2) === 0 ? content(choices, 16 * 1024) : deflated(choices, 16 * 1024);
    const coded = choices.of(bytes.toString('base64'), bytes.toString('hex'), letters(choices, 4000), bytes.toString('latin1'));
    const quote = choices.of("'", '"', '');
    return latin(
      `${choices.of('', 'eval(', '$a=', 'strrev(', 'str_rot13(', 'gzinflate(base64_decode(')}${quote}${coded}${quote}${choices.of(';\n', ',', '\n', ')', '.')}`,
    );
  };
  return Buffer.concat([latin(head), repeated(unitsOf(choices, 3, unit), bytes).whole]);
}

/** Objects of git, and blocks of Snappy and LZ4 with their lengths. */
function blocks(choices: Choices, bytes: number): Buffer {
  const kind = choices.below(4);
  if (kind === 0) {
    const unit = () => {
      const packed = deflated(choices, 64 * 1024);
      return Buffer.concat([Buffer.from([choices.of(0x3f, 0x30, 0xb0, 0x6f), choices.below(128)]), packed]);
    };
    const { whole, count } = repeated(unitsOf(choices, 3, unit), bytes);
    return Buffer.concat([latin('PACK'), big(2), big(count), whole, Buffer.alloc(20)]);
  }
  if (kind === 1)
    return repeated(
      unitsOf(choices, 2, () => {
        const packed = snapped(choices);
        return Buffer.concat([Buffer.from([0]), little(packed.length).subarray(0, 3), packed]);
      }),
      bytes,
    ).whole;
  if (kind === 2) {
    const unit = () => {
      const packed = snapped(choices).subarray(0, 70_000);
      return Buffer.concat([
        Buffer.from([choices.of(0, 0, 1, 0xfe)]),
        little(packed.length + 4).subarray(0, 3),
        Buffer.alloc(4),
        packed,
      ]);
    };
    return Buffer.concat([Buffer.from('ff060000734e61507059', 'hex'), repeated(unitsOf(choices, 2, unit), bytes).whole]);
  }
  const unit = () => {
    const packed = snapped(choices);
    return Buffer.concat([big(packed.length), packed]);
  };
  return Buffer.concat([
    Buffer.from('82534e41505059000000000100000001', 'hex'),
    repeated(unitsOf(choices, 2, unit), bytes).whole,
  ]);
}

/** For each reader the files that a list of numbers makes. */
export const RECIPES: Readonly<Record<string, (numbers: readonly number[], bytes: number) => Buffer>> = {
  'compiled Python': (numbers, bytes) => pyc(new Choices(numbers), bytes),
  asar: (numbers, bytes) => asar(new Choices(numbers), bytes),
  'LevelDB tables': (numbers, bytes) => levelDb(new Choices(numbers), bytes),
  'HTTP messages': (numbers, bytes) => httpFile(new Choices(numbers), bytes),
  pickles: (numbers, bytes) => pickle(new Choices(numbers), bytes),
  'streams amid other bytes': (numbers, bytes) => amid(new Choices(numbers), bytes),
  'packed texts in scripts': (numbers, bytes) => scripts(new Choices(numbers), bytes),
  'blocks of git, Snappy and Java': (numbers, bytes) => blocks(new Choices(numbers), bytes),
};
