import { expect, it } from 'vitest';
import { OwnPointer } from './own-pointer.ts';

it('does not take movements for those of the person before the first input from afar', () => {
  const pointer = new OwnPointer();
  expect([pointer.sees({ x: 10, y: 10 }), pointer.sees({ x: 500, y: 10 })]).toEqual([false, false]);
});

it('tells places where the technician put the pointer from others, in their order', () => {
  const pointer = new OwnPointer();
  pointer.sees({ x: 0, y: 0 });
  pointer.put({ x: 100, y: 100 });
  pointer.put({ x: 200, y: 200 });
  expect(pointer.sees({ x: 101, y: 99 })).toBe(false);
  expect(pointer.sees({ x: 102, y: 99 })).toBe(false);
  expect(pointer.sees({ x: 200, y: 203 })).toBe(false);
  // It has passed the first place already.
  expect(pointer.sees({ x: 100, y: 100 })).toBe(true);
});

it('is armed by typing, without a place', () => {
  const pointer = new OwnPointer();
  pointer.sees({ x: 0, y: 0 });
  pointer.put(undefined);
  expect(pointer.sees({ x: 3, y: 3 })).toBe(false);
  expect(pointer.sees({ x: 7, y: 7 })).toBe(true);
});
