import { expect, test } from 'vitest';
import { FairQueue, personOf, readSubordinates } from './fair-queue.ts';

// proves: attack-E.6-1
test('takes turns between people, however much one of them has waiting', () => {
  const queue = new FairQueue<string>(100);
  for (let index = 0; index < 50; index += 1) queue.offer(1, `a${index}`);
  queue.offer(2, 'b0');
  queue.offer(3, 'c0');
  queue.offer(2, 'b1');
  const taken = Array.from({ length: 6 }, () => queue.take()?.item);
  expect(taken).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  expect(queue.size).toBe(47);
});

test('has a bound for each person, and none is full because of another', () => {
  const queue = new FairQueue<number>(2);
  expect([queue.offer(1, 1), queue.offer(1, 2), queue.offer(1, 3), queue.offer(2, 4)]).toEqual([true, true, false, true]);
  expect([queue.sizeOf(1), queue.sizeOf(2), queue.sizeOf(3), queue.size]).toEqual([2, 1, 0, 3]);
});

test('leaves out people whose turn it is already', () => {
  const queue = new FairQueue<string>(5);
  queue.offer(1, 'a');
  queue.offer(2, 'b');
  expect(queue.take((person) => person === 1)).toEqual({ person: 2, item: 'b' });
  expect(queue.take((person) => person === 1)).toBeUndefined();
  expect(queue.take()).toEqual({ person: 1, item: 'a' });
  expect(queue.take()).toBeUndefined();
});

test('counts the user ids that a person can take as that person', () => {
  const passwd = 'root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\nbad:x:-1:1\n';
  const ranges = readSubordinates('anna:100000:65536\n1001:200000:10\nnobody-here:1:1\nanna:x:1\n', passwd);
  expect([99_999, 100_000, 165_535, 165_536, 200_009, 1000].map((uid) => personOf(uid, ranges))).toEqual([
    99_999, 1000, 1000, 165_536, 1001, 1000,
  ]);
});
