import { Unreadable } from '#scanner/reading/member.ts';

/** Answers at most so many bytes from a place on, fewer at the end of the content. */
export type ReadAt = (at: number, bytes: number) => Uint8Array;

const PIECE_BYTES = 64 * 1024;
/** Zeros behind the last piece: the most bytes that `ensure` is asked for. */
const PADDING_BYTES = 256;

/**
 * Bits of a content, the highest of each byte first. Bytes are read in pieces. The last piece has zeros behind it, so that a fast loop takes bits from the fields itself, and calls `check` once for many.
 */
export class HighBits {
  piece: Uint8Array = new Uint8Array(0);
  /** The next byte of the piece. */
  at = 0;
  /** Its lowest `count` bits, at most 32, come before the next byte. */
  buffer = 0;
  count = 0;
  /** The place of the first byte of the piece. */
  private piece_at = 0;
  private content_end = Number.POSITIVE_INFINITY;
  private readonly read: ReadAt;

  constructor(read: ReadAt) {
    this.read = read;
  }

  /** The place of the next byte. Bits before it are left out. */
  get place(): number {
    return this.piece_at + this.at - (this.count >> 3);
  }

  /** Leaves out the rest of a byte. */
  align(): void {
    this.count -= this.count & 7;
  }

  /** Reads on where the piece has fewer bytes than these, which are at most 256. */
  ensure(bytes: number): void {
    if (this.at + bytes <= this.piece.length) return;
    this.piece_at += this.at;
    this.at = 0;
    const read = this.read(this.piece_at, PIECE_BYTES);
    this.piece = read;
    if (read.length === PIECE_BYTES) return;
    this.content_end = this.piece_at + read.length;
    this.piece = new Uint8Array(read.length + PADDING_BYTES);
    this.piece.set(read);
  }

  /** @throws Unreadable where bits behind the end were taken */
  check(): void {
    if ((this.piece_at + this.at) * 8 - this.count > this.content_end * 8) throw new Unreadable('damaged');
  }

  /** The next bits, at most 24. @throws Unreadable */
  take(bits: number): number {
    this.ensure(4);
    while (this.count < bits) {
      this.buffer = (this.buffer << 8) | (this.piece[this.at] ?? 0);
      this.at += 1;
      this.count += 8;
    }
    this.count -= bits;
    this.check();
    return (this.buffer >>> this.count) & (2 ** bits - 1);
  }
}
