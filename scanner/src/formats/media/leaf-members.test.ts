import { expect, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { boxMembers } from './leaf-members.ts';

/** A box of MPEG-4 (ISO 14496-12, 4.2): `short` is its own size field, where it is not the length. */
function box(type: string, content: Buffer, short?: number): Buffer {
  const long = short === 1 ? Buffer.alloc(8) : Buffer.alloc(0);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(short ?? 8 + content.length, 0);
  head.write(type, 4, 'latin1');
  if (short === 1) long.writeBigUInt64BE(BigInt(16 + content.length));
  return Buffer.concat([head, long, content]);
}

const membersOf = (bytes: Buffer) => {
  const reader = openReader({ size: bytes.length, bytes }, new Budget(SCAN_LIMITS, bytes.length));
  return [...boxMembers(reader)].map(({ name, start, end }) => [name, bytes.subarray(start, end).toString('latin1')]);
};

test('boxes of a film follow each other by their sizes: 32 bits, 64 bits, and to the end of the file', () => {
  const film = Buffer.concat([
    box('ftyp', Buffer.from('isom')),
    box('free', Buffer.from('a comment')),
    box('mdat', Buffer.alloc(40), 1),
    box('udta', Buffer.from('a title')),
    box('skip', Buffer.from('the rest'), 0),
  ]);
  expect(membersOf(film)).toEqual([
    ['free', 'a comment'],
    ['udta', 'a title'],
    ['skip', 'the rest'],
  ]);
});

test('a box that is smaller than its head ends the list', () => {
  expect(membersOf(Buffer.concat([box('free', Buffer.from('one')), box('free', Buffer.from('two'), 7)]))).toEqual([
    ['free', 'one'],
  ]);
});
