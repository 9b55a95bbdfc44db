import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { scanEnglish } from '@palisade/contract/scan-phrases';
import { describe, expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import type { ReadContext } from '#scanner/reading/member.ts';
import { examinedTexts } from '#test/examined.ts';
import { noise } from '#test/files.ts';
import { upxMembers } from './upx.ts';
import { upxProgram } from './upx-program.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-upx-'));

const u32 = (...values: number[]) => Buffer.from(Uint32Array.from(values).buffer);
const WORDS = Buffer.from('a text that stands in the program, and stands in it again: a text that stands in the program');

/** Bits in words of four bytes, each at the place where the decoder needs it, and bytes between them, as UCL writes them. */
class Bits {
  private readonly bytes: number[] = [];
  private word = -1;
  private left = 0;

  bit(value: number): void {
    if (this.left === 0) {
      this.word = this.bytes.length;
      this.bytes.push(0, 0, 0, 0);
      this.left = 32;
    }
    this.left -= 1;
    const at = this.word + (this.left >> 3);
    this.bytes[at] = (this.bytes[at] ?? 0) | (value << (this.left & 7));
  }

  byte(value: number): void {
    this.bytes.push(value);
  }

  end(): Buffer {
    return Buffer.from(this.bytes);
  }
}

/** NRV with literals alone: the common part of the three kinds but for the mark of the end, which is an offset of 32 bits that are all one. */
function nrv(kind: 'b' | 'd' | 'e', content: Buffer): Buffer {
  const bits = new Bits();
  for (const byte of content) {
    bits.bit(1);
    bits.byte(byte);
  }
  bits.bit(0);
  // (offset - 3) * 256 + 255 is 0xffffffff.
  const steps: number[] = [];
  const offset = 0x0100_0002;
  if (kind === 'b') {
    for (let value = offset; value > 1; value >>= 1) steps.unshift(value & 1);
    for (const [index, bit] of steps.entries()) {
      bits.bit(bit);
      bits.bit(index + 1 === steps.length ? 1 : 0);
    }
  } else {
    // From the end: the last bit, then pairs of which the first ends a step that continued.
    const path: { bit: number; more: number | undefined }[] = [];
    for (let value = offset; ; ) {
      const bit = value & 1;
      const before = value >> 1;
      if (before === 1) {
        path.unshift({ bit, more: undefined });
        break;
      }
      path.unshift({ bit, more: before & 1 });
      value = (before >> 1) + 1;
    }
    for (const { bit, more } of path) {
      if (more !== undefined) {
        bits.bit(0);
        bits.bit(more);
      }
      bits.bit(bit);
    }
    bits.bit(1);
  }
  bits.byte(0xff);
  return bits.end();
}

/** A program for Linux as UPX leaves it: ELF, its loader's information, the program's, and one block behind the other. */
function packedElf(blocks: readonly { content: Buffer; packed: Buffer; method: number }[]): Buffer {
  const elf = Buffer.alloc(0xb4);
  elf.write('\x7fELF\x02\x01\x01', 0, 'latin1');
  elf.writeUInt16LE(2, 16);
  elf.writeUInt16LE(62, 18);
  const size = blocks.reduce((sum, { content }) => sum + content.length, 0);
  return Buffer.concat([
    elf,
    u32(0x1234_5678),
    Buffer.from('UPX!\x10\x05\x0d\x16', 'latin1'),
    u32(0, size, size),
    ...blocks.map(({ content, packed, method }) =>
      Buffer.concat([u32(content.length, packed.length), Buffer.from([method, 0, 0, 0]), packed]),
    ),
    u32(0, 0x2158_5055, 0),
    Buffer.from('$Info: This file is packed with the UPX executable packer http://upx.sf.net $\n\0'),
    noise(200),
  ]);
}

async function examined(file: Buffer) {
  const examination = await examinedTexts(file, { name: 'program' });
  return { ...examination, found: examination.texts.some((text) => text.includes(WORDS.toString('latin1'))) };
}

let files = 0;
const context = (size: number): ReadContext => ({
  budget: new Budget(SCAN_LIMITS, size),
  path() {
    files += 1;
    return join(folder, `${files}`);
  },
  claim() {},
  note() {},
});

describe('a program for Linux that UPX packed', () => {
  test.each([
    ['NRV2B', nrv('b', WORDS), 2],
    ['NRV2D', nrv('d', WORDS), 5],
    ['NRV2E', nrv('e', WORDS), 8],
    ['deflate', deflateRawSync(WORDS), 15],
  ] as const)('is unpacked: %s', async (_, packed, method) => {
    // UPX packs nothing that grows by it; here the texts are short.
    const content = Buffer.concat([WORDS, Buffer.alloc(method === 15 ? 0 : 200)]);
    const whole = method === 15 ? packed : nrv(({ 2: 'b', 5: 'd', 8: 'e' } as const)[method], content);
    const padding = Math.max(0, whole.length - content.length + 1);
    const block = { content: Buffer.concat([content, Buffer.alloc(padding)]), packed: whole, method };
    const { found, unread, notes } = await examined(packedElf([block, { content: WORDS, packed: WORDS, method: 0 }]));
    expect({ found, unread }).toEqual({ found: true, unread: [] });
    expect(notes.map(({ phrase }) => scanEnglish(phrase)).join()).toContain('packer');
  });

  test('in blocks of which one does not unpack is pending, and reported as packed', async () => {
    const packed = Buffer.from(deflateRawSync(Buffer.concat([WORDS, noise(500)])));
    packed.fill(0xff, 20);
    const { unread, notes } = await examined(packedElf([{ content: Buffer.alloc(700), packed, method: 15 }]));
    expect(unread).toEqual(upxProgram() === undefined ? ['damaged'] : expect.any(Array));
    expect(notes.map(({ phrase }) => scanEnglish(phrase)).join()).toContain('packer');
  });
});

describe('programs that the reader here does not unpack', () => {
  const broken = packedElf([{ content: Buffer.alloc(700), packed: Buffer.alloc(100, 0xff), method: 15 }]);
  /** A program that takes the words of `upx`. */
  const standIn = (body: string) => {
    const path = join(folder, `upx-${body.length}`);
    writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return path;
  };
  const readBy = async (program: string | undefined) => {
    const read: Buffer[] = [];
    for await (const member of upxMembers({ size: broken.length, bytes: broken }, context(broken.length), program)) {
      const body = await member.read();
      if ('content' in body) read.push('path' in body.content ? readFileSync(body.content.path) : body.content.bytes);
    }
    return Buffer.concat(read).toString();
  };

  test('is asked of UPX where it is installed', async () => {
    // upx -d -q -o OUT IN
    expect(await readBy(standIn('[ "$1 $2 $3" = "-d -q -o" ] && /bin/grep -q UPX! "$5" && echo unpacked > "$4"'))).toBe(
      'unpacked\n',
    );
  });

  test('stays damaged where UPX says no, makes nothing, or is not there', async () => {
    for (const program of [standIn('exit 2'), standIn('exit 0'), standIn('kill -9 $$'), undefined])
      await expect(readBy(program)).rejects.toThrow();
  });

  test.runIf(existsSync(upxProgram() ?? ''))('by the program itself', async () => {
    const path = join(folder, 'true');
    const { execFileSync } = await import('node:child_process');
    execFileSync(upxProgram() ?? '', ['-q', '-o', path, process.execPath]);
    expect((await examined(readFileSync(path))).unread).toEqual([]);
  });
});
