import { describe, expect, test } from 'vitest';
import { type Mark, NO_MARKS, pathOf, placeIn, readMark, withMark, writeMark } from './marks.ts';

const pointer = (order: number, x: number, y: number): Mark => ({ kind: 'pointer', order, at: { x, y } });
const line = (number: number, from: number, ...points: [number, number][]): Mark => ({
  kind: 'stroke',
  id: number,
  from,
  points: points.map(([x, y]) => ({ x, y })),
});

describe('a message of the technician', () => {
  test.each([
    pointer(0, 0, 1),
    { kind: 'pointer', order: 4, at: null } as const,
    line(1, 0, [0.25, 0.5]),
    { kind: 'erase', id: 3 } as const,
  ])('arrives as it was sent: %j', (mark) => {
    expect(readMark(writeMark(mark))).toEqual(mark);
  });

  test.each([Number.NaN, 2.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0.01, 1.000_01])(
    'with %d as a coordinate is not sent',
    (wrong) => {
      expect(writeMark(pointer(0, wrong, 0.5))).toBeUndefined();
      expect(writeMark(pointer(0, 0.5, wrong))).toBeUndefined();
      expect(writeMark(line(0, 0, [0.5, 0.5], [wrong, 0.5]))).toBeUndefined();
    },
  );

  test.each([
    '{"kind":"pointer","order":1,"at":{"x":NaN,"y":0.5}}',
    '{"kind":"pointer","order":1,"at":{"x":2.5,"y":0.5}}',
    '{"kind":"pointer","order":1,"at":{"x":1e999,"y":0.5}}',
    '{"kind":"pointer","order":1,"at":{"x":null,"y":0.5}}',
    '{"kind":"pointer","order":1,"at":{"x":"0.5","y":0.5}}',
    '{"kind":"pointer","order":1.5,"at":{"x":0.5,"y":0.5}}',
    '{"kind":"stroke","id":0,"from":1e9,"points":[{"x":0,"y":0}]}',
    '{"kind":"stroke","id":0,"from":0,"points":[]}',
    JSON.stringify(line(0, 0, ...Array.from({ length: 65 }, (): [number, number] => [0.5, 0.5]))),
    '{"kind":"click","x":0.5,"y":0.5}',
    '[]',
    'null',
    '',
    `"${'x'.repeat(5_000)}"`,
    new ArrayBuffer(8),
    undefined,
  ])('that is none is dropped: %j', (message) => {
    expect(readMark(message)).toBeUndefined();
  });
});

describe('marks on the picture', () => {
  test('is the newest pointer, in whatever order they come', () => {
    const shown = [pointer(2, 0.2, 0.2), pointer(1, 0.1, 0.1)].reduce(withMark, NO_MARKS);
    expect(shown.pointer).toEqual({ x: 0.2, y: 0.2 });
    expect(withMark(shown, { kind: 'pointer', order: 3, at: null }).pointer).toBeNull();
    expect(withMark(shown, { kind: 'pointer', order: 1, at: null }).pointer).toEqual({ x: 0.2, y: 0.2 });
  });

  test('is a line whose parts come in any order', () => {
    const parts = [line(0, 2, [0.3, 0.3]), line(0, 0, [0.1, 0.1], [0.2, 0.2])];
    const shown = parts.reduce(withMark, NO_MARKS);
    expect(shown.lines.map(pathOf)).toEqual(['M0.1 0.1L0.2 0.2L0.3 0.3']);
  });

  test('is a dot for a press without a move', () => {
    expect(withMark(NO_MARKS, line(0, 0, [0.5, 0.25])).lines.map(pathOf)).toEqual(['M0.5 0.25L0.5 0.25']);
  });

  test('is nothing once it is erased, and a late part brings no line back', () => {
    const erased = [line(0, 0, [0.1, 0.1]), line(1, 0, [0.1, 0.1]), { kind: 'erase', id: 1 } as const].reduce(withMark, NO_MARKS);
    expect(erased.lines).toEqual([]);
    expect(withMark(erased, line(0, 1, [0.2, 0.2])).lines).toEqual([]);
    expect(withMark(erased, line(2, 0, [0.2, 0.2])).lines).toHaveLength(1);
  });

  test('does not grow without end', () => {
    let shown = NO_MARKS;
    for (let number = 0; number < 200; number += 1) shown = withMark(shown, line(number, 0, [0.5, 0.5]));
    expect(shown.lines.length).toBeLessThanOrEqual(40);
    expect(shown.lines.at(-1)?.id).toBe(199);
    for (let from = 0; from <= 2_000; from += 1) shown = withMark(shown, line(199, from, [0.5, 0.5], [0.6, 0.6]));
    expect(shown.lines.at(-1)?.points.length).toBe(2_000);
  });
});

describe('a press on the picture', () => {
  test('is a share of it, whatever its size on the screen', () => {
    const box = { left: 100, top: 50, width: 960, height: 540 };
    expect(placeIn(box, { x: 580, y: 320 })).toEqual({ x: 0.5, y: 0.5 });
    expect(placeIn(box, { x: 100, y: 590 })).toEqual({ x: 0, y: 1 });
    expect(placeIn(box, { x: 580, y: 49 })).toBeNull();
  });

  test('is nowhere while there is no picture', () => {
    expect(placeIn({ left: 0, top: 0, width: 0, height: 0 }, { x: 0, y: 0 })).toBeNull();
  });
});
