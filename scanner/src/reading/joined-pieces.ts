/** Separates pieces that are matched together, so that no word or line continues from one piece into the next. */
export const SEPARATOR = Buffer.from('\n\0\n');

/**
 * A growing buffer into which pieces are copied one after the other. A list of short pieces would hold far more memory: each piece keeps its whole underlying buffer, which
 * is 64 KiB of Node's pool or a window of the file.
 */
export class JoinedPieces {
  private bytes = Buffer.alloc(0);
  private used = 0;
  private readonly between: Buffer;

  /** @param between bytes that follow each piece */
  constructor(between: Buffer = SEPARATOR) {
    this.between = between;
  }

  /** In bytes, including the separators. */
  get length(): number {
    return this.used;
  }

  add(piece: Buffer): void {
    const end = this.used + piece.length + this.between.length;
    if (end > this.bytes.length) {
      const room = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.bytes.length));
      this.bytes.copy(room, 0, 0, this.used);
      this.bytes = room;
    }
    piece.copy(this.bytes, this.used);
    this.between.copy(this.bytes, this.used + piece.length);
    this.used = end;
  }

  /** Returns all bytes and empties the buffer. */
  take(): Buffer {
    const taken = this.bytes.subarray(0, this.used);
    this.bytes = Buffer.alloc(0);
    this.used = 0;
    return taken;
  }
}
