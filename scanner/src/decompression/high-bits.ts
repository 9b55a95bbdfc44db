import { Unreadable } from '#scanner/reading/member.ts';

/** Reads at most this many bytes at a position, fewer at the end of the content. */
export type ReadAt = (at: number, bytes: number) => Uint8Array;

const PIECE_BYTES = 64 * 1024;
/** Zero padding after the last piece: the maximum that `ensure` is asked for. */
const PADDING_BYTES = 256;

/** A bit reader, most significant bit first. Bytes are read in pieces. The last piece is zero-padded, so that a fast loop can use the fields directly and call `check` once for many bits. */
export class HighBits {
  piece: Uint8Array = new Uint8Array(0);
  /** Index of the next byte in the piece. */
  at = 0;
  /** Its lowest `count` bits (at most 32) precede the next byte. */
  buffer = 0;
  count = 0;
  /** The position of the piece's first byte. */
  private piece_at = 0;
  private content_end = Number.POSITIVE_INFINITY;
  private readonly read: ReadAt;

  constructor(read: ReadAt) {
    this.read = read;
  }

  /** The position of the next byte, ignoring buffered bits. */
  get place(): number {
    return this.piece_at + this.at - (this.count >> 3);
  }

  /** Skips the rest of the current byte. */
  align(): void {
    this.count -= this.count & 7;
  }

  /** Loads the next piece if fewer than this many bytes (at most 256) remain. */
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

  /** @throws Unreadable if bits after the end were used */
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
