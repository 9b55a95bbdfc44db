/** The number of bytes that a parser requests: exactly this many, or, if negative, any number up to it, so that long data passes without buffering. */
type Want = number;
export type Parser = Generator<Want, void, Buffer>;

/**
 * Feeds a parser with bytes as they come, in pieces of any size. The kept bytes are never more than the parser asked for and one
 * piece.
 */
export function createFeeder(parser: Parser): (piece: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let step = parser.next();

  /** The first so many of the held bytes. */
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
