import { LINE_POINTS_MAXIMUM, type Pointer, pointerSchema } from '@palisade/contract/remote-pointer';
import { type Point, pointSchema } from '@palisade/contract/remote-signal';

/** Marks of the technician on the customer's picture. Places are shares of it, from 0 to 1, so that they hold at any size; what is none is dropped. */
export type Mark = Pointer;

/** Lines that are kept. */
const LINES_MAXIMUM = 40;
/** Characters of one message. */
const MESSAGE_MAXIMUM = 4_096;

/** A message of the channel; undefined for anything that is none. */
export function readMark(message: unknown): Mark | undefined {
  if (typeof message !== 'string' || message.length > MESSAGE_MAXIMUM) return undefined;
  try {
    return pointerSchema.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** A mark as it goes over the channel; undefined for one that the other side would drop. */
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
  /** The order of the newest pointer that was taken in. */
  order: number;
  lines: readonly Line[];
  /** Lines up to this one are gone. */
  erased: number;
}

export const NO_MARKS: Marks = { pointer: null, order: -1, lines: [], erased: -1 };

/** Marks after one more arrived, independent of their order. */
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

/** A line as the path of an SVG whose box goes from 0 to 1; points that have not come yet are left out. */
export function pathOf({ points }: Line): string {
  const drawn = points.filter((point) => point !== undefined);
  const [first] = drawn;
  if (!first) return '';
  // A press without a move is a dot: a line to its own place, which round ends make visible.
  const rest = drawn.length === 1 ? [first] : drawn.slice(1);
  return `M${first.x} ${first.y}${rest.map(({ x, y }) => `L${x} ${y}`).join('')}`;
}

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Where in the picture a press at `client` is, when the picture fills `box`; null beside it. Sizes in px. */
export function placeIn(box: Box, client: { x: number; y: number }): Point | null {
  const place = { x: (client.x - box.left) / box.width, y: (client.y - box.top) / box.height };
  return pointSchema.safeParse(place).data ?? null;
}
