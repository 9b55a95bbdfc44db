/** A place on the screen, in pixels. */
export interface Point {
  x: number;
  y: number;
}

/** The pointer is near a place if it is at most this far from it, in pixels. */
const FAR = 3;
/** Recent places of the technician's pointer. */
const KEPT = 64;

const isNear = (one: Point, other: Point) => Math.abs(one.x - other.x) <= FAR && Math.abs(one.y - other.y) <= FAR;

/**
 * Detects that the person at this computer moves the pointer: it is at a place where the technician did not put it. It is armed by the technician's first input, since
 * there is no control to take back before it.
 */
export class OwnPointer {
  #is_armed = false;
  #puts: readonly Point[] = [];
  #seen: Point | undefined;

  /** The technician put the pointer here, or typed. */
  put(at: Point | undefined): void {
    this.#is_armed = true;
    if (at !== undefined) this.#puts = [...this.#puts, at].slice(-KEPT);
  }

  /** The pointer is here now. @returns whether the person moved it */
  sees(at: Point): boolean {
    const before = this.#seen;
    this.#seen = at;
    if (before === undefined || isNear(before, at)) return false;
    const place = this.#puts.findLastIndex((put) => isNear(put, at));
    // The pointer passes the places in the order in which it was put there: earlier ones are over.
    if (place >= 0) this.#puts = this.#puts.slice(place);
    return this.#is_armed && place < 0;
  }
}
