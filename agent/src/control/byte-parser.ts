/** Bytes that a parser requests: exactly this many, or, if negative, between 1 and its absolute value, so that long data passes without buffering. */
type Want = number;
export type Parser = Generator<Want, void, Buffer>;

/**
 * Feeds a parser with received chunks of any size. The buffer holds at most the requested bytes and one
 * chunk.
 */
export function createFeeder(parser: Parser): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let step = parser.next();

  /** Removes the first `length` bytes from the buffer and returns them. */
  function take(length: number): Buffer {
    const [first] = pieces;
    const all = pieces.length === 1 && first !== undefined ? first : Buffer.concat(pieces, held);
    pieces = length === held ? [] : [all.subarray(length)];
    held -= length;
    return all.subarray(0, length);
  }

  return (piece) => {
    if (piece.length > 0) pieces.push(piece);
    held += piece.length;
    while (!step.done) {
      const want = step.value;
      if (want >= 0 ? held < want : held === 0) return;
      step = parser.next(take(want >= 0 ? want : Math.min(held, -want)));
    }
  };
}
