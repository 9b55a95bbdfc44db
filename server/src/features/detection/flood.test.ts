import { describe, expect, test } from 'vitest';
import { addVolume, isWorthKeeping, NO_VOLUME, volumeExpiry } from './flood.ts';

const BIN = 15 * 60_000;
/** The start of a bin. */
const START = Date.parse('2026-11-20T10:00:00.000Z');

/** Requests in one bin after the other, the last at `START`. Which of them were floods. */
function floods(kind: 'source' | 'account', counts: readonly number[]): boolean[] {
  let volume = NO_VOLUME;
  return counts.map((requests, index) => {
    const added = addVolume(volume, { kind, id: 'x' }, START - (counts.length - 1 - index) * BIN, requests);
    volume = added.volume;
    return added.limit !== undefined;
  });
}
const last = (kind: 'source' | 'account', counts: readonly number[]) => floods(kind, counts).at(-1);
const hours = (...counts: number[]) => Array.from({ length: 16 }, (_, index) => counts[index % counts.length] ?? 0);

describe('a flood', () => {
  test.each([
    ['of somebody who was silent is more than the floor', 'source', hours(0), 501, 500],
    ['of an account has a floor that pages never reach by themselves', 'account', hours(0), 20_001, 20_000],
    // Quartiles of 300 and 500: 500 + 4 x 200.
    ['is beyond four times the spread of the hours before', 'source', hours(300, 500), 1_301, 1_300],
    ['of somebody who asks evenly is more than ever before', 'source', hours(900), 901, 900],
    ['is not hidden by one flood before', 'source', [...hours(0).slice(1), 100_000], 501, 500],
  ] as const)('%s', (_, kind, before, beyond, within) => {
    expect(last(kind, [...before, beyond])).toBe(true);
    expect(last(kind, [...before, within])).toBe(false);
  });

  test('is reported once in its 15 minutes, however long it lasts', () => {
    let volume = NO_VOLUME;
    const told = Array.from({ length: 15 }, (_, minute) => {
      const added = addVolume(volume, { kind: 'source', id: 'x' }, START + minute * 60_000, 100);
      volume = added.volume;
      return added.limit;
    });
    expect(told.filter((limit) => limit !== undefined)).toEqual([500]);
    expect(addVolume(volume, { kind: 'source', id: 'x' }, START + BIN, 100_000).limit).toBe(500);
  });

  test('is not made of requests that are rarer than any floor', () => {
    expect([4, 5].map((requests) => isWorthKeeping({ kind: 'source', id: 'x' }, requests))).toEqual([false, true]);
    expect([199, 200].map((requests) => isWorthKeeping({ kind: 'account', id: 'x' }, requests))).toEqual([false, true]);
    expect(last('source', [...hours(15 * 4), 500])).toBe(false);
  });

  test('is measured by the 4 hours before it alone, and forgotten after them', () => {
    let volume = NO_VOLUME;
    for (let bin = 0; bin < 100; bin++) volume = addVolume(volume, { kind: 'source', id: 'x' }, START + bin * BIN, 1).volume;
    expect(volume.bins).toHaveLength(17);
    expect(volumeExpiry(START)).toBe(START + 17 * BIN);
    expect(last('source', [100_000, ...hours(0), 501])).toBe(true);
  });
});
