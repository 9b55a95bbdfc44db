import { LINE_POINTS_MAXIMUM, type Pointer, pointerSchema } from '@palisade/contract/remote-pointer';
import { type Point, pointSchema } from '@palisade/contract/remote-signal';

/** Marks of the technician on the customer's picture. Positions are shares of the picture, from 0 to 1, so they fit any size. Invalid marks are dropped. */
export type Mark = Pointer;

/** Number of lines that are kept. */
const LINES_MAXIMUM = 40;
/** Longest message of the channel, in characters. */
const MESSAGE_MAXIMUM = 4_096;

/** Parses a message of the channel; undefined if it is invalid. */
export function readMark(message: unknown): Mark | undefined {
  if (typeof message !== 'string' || message.length > MESSAGE_MAXIMUM) return undefined;
  try {
    return pointerSchema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** Serializes a mark for the channel; undefined for one that the other side would drop. */
export function writeMark(mark: Mark): string | undefined {
  return pointerSchema.safeParse(mark).success ? JSON.stringify(mark) : undefined;
}

interface Line {
  id: number;
  points: readonly (Point | undefined)[];
}

/** Present marks on the picture. */
export interface Marks {
  pointer: Point | null;
  /** The order of the newest pointer received. */
  order: number;
  lines: readonly Line[];
  /** Lines up to this id are erased. */
  erased: number;
}

export const NO_MARKS: Marks = { pointer: null, order: -1, lines: [], erased: -1 };

/** Adds a mark. The result does not depend on the order of arrival. */
export function withMark(marks: Marks, mark: Mark): Marks {
  switch (mark.kind) {
    case 'pointer':
      return mark.order <= marks.order ? marks : { ...marks, order: mark.order, pointer: mark.at };
    case 'erase': {
      const erased = Math.max(marks.erased, mark.id);
      return { ...marks, erased, lines: marks.lines.filter(({ id }) => id > erased) };
    }
    case 'stroke': {
      if (mark.id <= marks.erased) return marks;
      const points: (Point | undefined)[] = [...(marks.lines.find(({ id }) => id === mark.id)?.points ?? [])];
      for (const [index, point] of mark.points.entries()) {
        if (mark.from + index < LINE_POINTS_MAXIMUM) points[mark.from + index] = point;
      }
      const others = marks.lines.filter(({ id }) => id !== mark.id);
      const lines = [...others, { id: mark.id, points }].toSorted((one, other) => one.id - other.id);
      return { ...marks, lines: lines.slice(-LINES_MAXIMUM) };
    }
  }
}

/** A line as an SVG path in a 1 x 1 box; points that have not arrived are skipped. */
export function pathOf({ points }: Line): string {
  const drawn = points.filter((point) => point !== undefined);
  const [first] = drawn;
  if (!first) return '';
  // A press without a move is a dot: a line to the same point, which round line ends make visible.
  const rest = drawn.length === 1 ? [first] : drawn.slice(1);
  return `M${first.x} ${first.y}${rest.map(({ x, y }) => `L${x} ${y}`).join('')}`;
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Position in the picture of a press at `client`, if the picture fills `box`; null outside. Sizes in px. */
export function placeIn(box: Box, client: { x: number; y: number }): Point | null {
  const place = { x: (client.x - box.left) / box.width, y: (client.y - box.top) / box.height };
  return pointSchema.safeParse(place).data ?? null;
}
