import { expect, test } from 'vitest';
import { heldBytes } from '#test/held-bytes.ts';
import { JoinedPieces } from './joined-pieces.ts';

test('pieces are put one behind the other, and then it begins anew', () => {
  const joined = new JoinedPieces(Buffer.from(', '));
  for (const word of ['one', '', 'two']) joined.add(Buffer.from(word));
  expect(joined.length).toBe(12);
  expect(joined.take().toString()).toBe('one, , two, ');
  expect([joined.length, joined.take()]).toEqual([0, Buffer.alloc(0)]);
  joined.add(Buffer.from('three'));
  expect(joined.take().toString()).toBe('three, ');
});

test('a short piece does not keep the buffer that it was made in', () => {
  const joined = new JoinedPieces();
  const before = heldBytes();
  // As many would be 64 MB.
  for (let count = 0; count < 1_000; count += 1) joined.add(Buffer.alloc(64 * 1024, 'a').subarray(0, 100));
  expect(joined.length).toBe(1_000 * 103);
  expect(heldBytes() - before).toBeLessThan(1024 ** 2);
});
