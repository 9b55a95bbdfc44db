/** A position on the screen, in pixels. */
export interface Point {
  x: number;
  y: number;
}

/** Two positions are near each other if each coordinate differs by at most this many pixels. */
const FAR = 3;
/** Recent pointer positions of the technician that are kept. */
const KEPT = 64;

const isNear = (one: Point, other: Point) => Math.abs(one.x - other.x) <= FAR && Math.abs(one.y - other.y) <= FAR;

/**
 * Detects that the user of this computer moves the pointer: its position is none that the technician set. The technician's first input arms the detection, because
 * there is nothing to take back before it.
 */
export class OwnPointer {
  #is_armed = false;
  #puts: readonly Point[] = [];
  #seen: Point | undefined;

  /** Records the technician's input: a pointer position, or undefined for a key. */
  put(at: Point | undefined): void {
    this.#is_armed = true;
    if (at !== undefined) this.#puts = [...this.#puts, at].slice(-KEPT);
  }

  /** Records the current pointer position. @returns whether the user moved the pointer */
  sees(at: Point): boolean {
    const before = this.#seen;
    this.#seen = at;
    if (before === undefined || isNear(before, at)) return false;
    const place = this.#puts.findLastIndex((put) => isNear(put, at));
    // The pointer reaches the positions in the order in which they were set, so earlier ones are discarded.
    if (place >= 0) this.#puts = this.#puts.slice(place);
    return this.#is_armed && place < 0;
  }
}
