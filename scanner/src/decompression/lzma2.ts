import { Unreadable } from '#scanner/reading/member.ts';

// LZMA and LZMA2 (LZMA SDK, lzma-specification.txt; xz, doc/xz-file-format.txt 5.3.1 and liblzma's lzma2_decoder.c): chunks of at most 2 MiB, each stored or packed by LZMA.
// decompress.ts calls it and charges the budget; no other module may. All distances, lengths and indexes from the input are checked.

/** Maximum dictionary size, in bytes. xz -9 uses 64 MiB. */
const HELD_MAXIMUM = 128 * 1024 ** 2;
/** LZMA decoders treat smaller dictionaries as this size, in bytes. */
const DICTIONARY_LEAST = 4096;
const FIRST_ROOM = 256 * 1024;
/** Extra bytes beyond the dictionary, so that it is rarely moved to the front. */
const MOVED_AFTER = 32 * 1024 ** 2;

const POSITION_STATES = 16;
const MATCHES_FROM = 7;
const LENGTH = { choice: 0, second_choice: 1, low: 2, middle: 2 + 128, high: 2 + 256, bytes: 2 + 512 } as const;
/** The index of the first probability of each kind. */
const AT = {
  match: 0,
  repeat: 192,
  repeat_first: 204,
  repeat_second: 216,
  repeat_third: 228,
  repeat_long: 240,
  slot: 432,
  special: 688,
  align: 804,
  length: 820,
  repeat_length: 820 + LENGTH.bytes,
  literal: 820 + 2 * LENGTH.bytes,
} as const;
const LITERAL_SIZE = 0x300;
const LITERAL_BITS_MAXIMUM = 4;
const PROBABILITIES = AT.literal + LITERAL_SIZE * 2 ** LITERAL_BITS_MAXIMUM;
const EVEN = 1024;
const MATCH_LEAST = 2;
const NO_DISTANCE = 0xffffffff;
const TOP = 2 ** 24;
const HEAD_BYTES = 5;

const damaged = () => new Unreadable('damaged');

/** The state of one LZMA2 stream. */
export class Lzma2 {
  private dictionary_bytes = 0;
  private room = new Uint8Array(0);
  /** The position of the next byte, and the bytes since the last dictionary reset. */
  private at = 0;
  private total = 0;
  /** The start of the last chunk. */
  private begins_at = 0;
  private readonly probabilities = new Uint16Array(PROBABILITIES);
  /** Range and code of the range coder. */
  private readonly coder = new Uint32Array(2);
  private input: Uint8Array = this.room;
  private from = 0;
  private state = 0;
  private readonly distances = new Uint32Array(4);
  private literal_context_bits = 0;
  private literal_position_mask = 0;
  private position_mask = 0;
  private needs_dictionary = true;
  private needs_properties = true;

  get held_bytes(): number {
    return this.room.length;
  }

  /** Resets the state for a new stream. */
  begin(dictionary_bytes: number): void {
    this.dictionary_bytes = dictionary_bytes;
    this.needs_dictionary = true;
    this.needs_properties = true;
    this.at = 0;
    this.total = 0;
  }

  /** Parses the header of a chunk from its control byte (not 0, which ends the stream), and returns its sizes. @throws Unreadable for an invalid or truncated header. */
  header(head: Uint8Array): { bytes: number; packed: number; plain: number; is_stored: boolean } {
    const [control = 0, high = 0, low = 0, packed_high = 0, packed_low = 0, properties = 0] = head;
    const resets_all = control >= 0xe0 || control === 1;
    if (!resets_all && this.needs_dictionary) throw damaged();
    if (resets_all) {
      this.needs_dictionary = false;
      this.needs_properties = true;
      this.at = 0;
      this.total = 0;
    }
    const is_stored = control < 0x80;
    const has_properties = control >= 0xc0;
    const bytes = is_stored ? 3 : has_properties ? 6 : 5;
    if (head.length < bytes || (is_stored && control > 2)) throw damaged();
    if (is_stored) return { bytes, packed: high * 256 + low + 1, plain: high * 256 + low + 1, is_stored };
    if (has_properties) this.setProperties(properties);
    else if (this.needs_properties) throw damaged();
    if (control >= 0xa0) this.reset();
    const plain = (control & 0x1f) * 65_536 + high * 256 + low + 1;
    return { bytes, packed: packed_high * 256 + packed_low + 1, plain, is_stored };
  }

  /** Unpacks a chunk. Returns whether it is complete: a truncated or damaged one yields its beginning. @throws Unreadable */
  chunk(input: Uint8Array, plain: number, is_stored: boolean): boolean {
    this.makeRoom(plain);
    this.begins_at = this.at;
    if (!is_stored) return this.unpack(input, plain);
    const stored = input.subarray(0, plain);
    this.room.set(stored, this.at);
    this.at += stored.length;
    this.total += stored.length;
    return stored.length === plain;
  }

  /**
   * Unpacks LZMA without chunks, whose properties and size are stored elsewhere (lzma-specification.txt). An end marker is not read. Returns fewer bytes if damaged. Valid
   * until the next call. @throws Unreadable for properties that LZMA2 does not allow
   */
  whole(input: Uint8Array, properties: number, dictionary_bytes: number, plain: number): Uint8Array {
    this.begin(Math.max(dictionary_bytes, DICTIONARY_LEAST));
    this.setProperties(properties);
    this.reset();
    this.chunk(input, plain, false);
    return this.given();
  }

  /** The unpacked bytes of the last chunk, valid until the next one. */
  given(): Uint8Array {
    return this.room.subarray(this.begins_at, this.at);
  }

  private setProperties(properties: number): void {
    const literal_context_bits = properties % 9;
    const rest = (properties - literal_context_bits) / 9;
    const literal_position_bits = rest % 5;
    const position_bits = (rest - literal_position_bits) / 5;
    if (position_bits > 4 || literal_context_bits + literal_position_bits > LITERAL_BITS_MAXIMUM) throw damaged();
    this.literal_context_bits = literal_context_bits;
    this.literal_position_mask = 2 ** literal_position_bits - 1;
    this.position_mask = 2 ** position_bits - 1;
    this.needs_properties = false;
  }

  private reset(): void {
    this.probabilities.fill(EVEN);
    this.distances.fill(0);
    this.state = 0;
  }

  /** Ensures space for this many bytes after the dictionary. Memory grows with the actual bytes, whatever dictionary size is claimed. */
  private makeRoom(more: number): void {
    if (this.at + more <= this.room.length) return;
    const held = Math.min(this.at, this.dictionary_bytes);
    const most = Math.min(this.dictionary_bytes, HELD_MAXIMUM) + MOVED_AFTER;
    const wanted = Math.min(most, Math.max(FIRST_ROOM, 2 * this.room.length, this.at + more));
    const keeps_place = this.at + more <= wanted;
    if (!keeps_place && held + more > wanted) throw new Unreadable('too_large');
    const from = keeps_place ? 0 : this.at - held;
    const target = wanted > this.room.length ? new Uint8Array(wanted) : this.room;
    if (target === this.room) target.copyWithin(0, from, this.at);
    else target.set(this.room.subarray(from, this.at));
    this.room = target;
    this.at -= from;
  }

  private nextByte(): number {
    const byte = this.input[this.from];
    if (byte === undefined) throw damaged();
    this.from += 1;
    return byte;
  }

  private bit(index: number): number {
    const { coder, probabilities } = this;
    const probability = probabilities[index] ?? 0;
    let range = coder[0] ?? 0;
    let code = coder[1] ?? 0;
    const bound = Math.imul(range >>> 11, probability) >>> 0;
    const is_one = code >= bound;
    if (is_one) {
      range = (range - bound) >>> 0;
      code = (code - bound) >>> 0;
      probabilities[index] = probability - (probability >> 5);
    } else {
      range = bound;
      probabilities[index] = probability + ((2048 - probability) >> 5);
    }
    if (range < TOP) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | this.nextByte()) >>> 0;
    }
    coder[0] = range;
    coder[1] = code;
    return is_one ? 1 : 0;
  }

  /** Decodes bits by a tree of probabilities, most significant first. This is the hot path, so range and code are kept in local variables. */
  private tree(base: number, bits: number): number {
    const { coder, probabilities } = this;
    const end = 1 << bits;
    let range = coder[0] ?? 0;
    let code = coder[1] ?? 0;
    let symbol = 1;
    while (symbol < end) {
      const index = base + symbol;
      const probability = probabilities[index] ?? 0;
      const bound = Math.imul(range >>> 11, probability) >>> 0;
      if (code < bound) {
        range = bound;
        probabilities[index] = probability + ((2048 - probability) >> 5);
        symbol <<= 1;
      } else {
        range = (range - bound) >>> 0;
        code = (code - bound) >>> 0;
        probabilities[index] = probability - (probability >> 5);
        symbol = (symbol << 1) | 1;
      }
      if (range < TOP) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | this.nextByte()) >>> 0;
      }
    }
    coder[0] = range;
    coder[1] = code;
    return symbol - end;
  }

  /** `tree`, least significant bit first. */
  private reversed(base: number, bits: number): number {
    let symbol = 1;
    let value = 0;
    for (let place = 0; place < bits; place += 1) {
      const bit = this.bit(base + symbol);
      symbol = symbol * 2 + bit;
      value |= bit << place;
    }
    return value;
  }

  /** Decodes bits of equal probability. */
  private even(bits: number): number {
    const { coder } = this;
    let value = 0;
    for (let left = bits; left > 0; left -= 1) {
      let range = (coder[0] ?? 0) >>> 1;
      let code = coder[1] ?? 0;
      const is_one = code >= range;
      if (is_one) code = (code - range) >>> 0;
      value = value * 2 + (is_one ? 1 : 0);
      if (range < TOP) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | this.nextByte()) >>> 0;
      }
      coder[0] = range;
      coder[1] = code;
    }
    return value;
  }

  private lengthOf(base: number, position_state: number): number {
    if (this.bit(base + LENGTH.choice) === 0) return MATCH_LEAST + this.tree(base + LENGTH.low + position_state * 8, 3);
    if (this.bit(base + LENGTH.second_choice) === 0)
      return MATCH_LEAST + 8 + this.tree(base + LENGTH.middle + position_state * 8, 3);
    return MATCH_LEAST + 16 + this.tree(base + LENGTH.high, 8);
  }

  private distanceOf(length: number): number {
    const slot = this.tree(AT.slot + Math.min(length - MATCH_LEAST, 3) * 64, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 + (slot & 1)) * 2 ** bits;
    if (slot < 14) return base + this.reversed(AT.special + base - slot, bits);
    return base + this.even(bits - 4) * 16 + this.reversed(AT.align, 4);
  }

  private literal(): void {
    const { room, at, state } = this;
    const before = this.total === 0 ? 0 : (room[at - 1] ?? 0);
    const context =
      ((this.total & this.literal_position_mask) << this.literal_context_bits) + (before >> (8 - this.literal_context_bits));
    const base = AT.literal + LITERAL_SIZE * context;
    let symbol = 1;
    if (state >= MATCHES_FROM) {
      // The byte at the last distance predicts the first bits, as long as they agree.
      let other = room[at - 1 - (this.distances[0] ?? 0)] ?? 0;
      let offset = 0x100;
      while (symbol < 0x100) {
        other <<= 1;
        const expected = other & offset;
        const bit = this.bit(base + offset + expected + symbol);
        symbol = symbol * 2 + bit;
        offset &= bit === 1 ? expected : ~expected;
      }
    } else symbol = this.tree(base, 8);
    this.state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
    this.put(symbol & 0xff);
  }

  private put(byte: number): void {
    this.room[this.at] = byte;
    this.at += 1;
    this.total += 1;
  }

  /** Selects one of the last four distances and moves it to the front. Returns whether only one byte is repeated. */
  private chooseDistance(position_state: number): boolean {
    const { distances, state } = this;
    if (this.bit(AT.repeat_first + state) === 0) return this.bit(AT.repeat_long + state * POSITION_STATES + position_state) === 0;
    const place = this.bit(AT.repeat_second + state) === 0 ? 1 : this.bit(AT.repeat_third + state) === 0 ? 2 : 3;
    const chosen = distances[place] ?? 0;
    this.pushDistance(chosen, place);
    return false;
  }

  /** Moves a distance to the front. A loop, because a call of `copyWithin` takes longer. */
  private pushDistance(distance: number, place: number): void {
    const { distances } = this;
    for (let to = place; to > 0; to -= 1) distances[to] = distances[to - 1] ?? 0;
    distances[0] = distance;
  }

  /** Copies bytes from the first distance back. */
  private repeat(length: number, left: number): void {
    const { room, at } = this;
    const back = (this.distances[0] ?? 0) + 1;
    if (back > this.total || back > at || back > this.dictionary_bytes || length > left) throw damaged();
    if (back >= length && length > 64) room.copyWithin(at, at - back, at - back + length);
    else for (let to = at; to < at + length; to += 1) room[to] = room[to - back] ?? 0;
    this.at += length;
    this.total += length;
  }

  private unpack(input: Uint8Array, plain: number): boolean {
    if (input.length < HEAD_BYTES || input[0] !== 0) return false;
    this.input = input;
    this.from = 1;
    this.coder[0] = 0xffffffff;
    let code = 0;
    while (this.from < HEAD_BYTES) code = code * 256 + this.nextByte();
    this.coder[1] = code;
    try {
      for (const end = this.at + plain; this.at < end; ) this.symbol(end - this.at);
    } catch (error) {
      if (error instanceof Unreadable) return false;
      throw error;
    }
    return this.from === input.length && this.coder[1] === 0;
  }

  private symbol(left: number): void {
    const position_state = this.total & this.position_mask;
    const { state } = this;
    if (this.bit(AT.match + state * POSITION_STATES + position_state) === 0) {
      this.literal();
      return;
    }
    const is_after_literal = state < MATCHES_FROM;
    if (this.bit(AT.repeat + state) === 0) {
      const length = this.lengthOf(AT.length, position_state);
      const distance = this.distanceOf(length);
      if (distance === NO_DISTANCE) throw damaged();
      this.pushDistance(distance, 3);
      this.state = is_after_literal ? 7 : 10;
      this.repeat(length, left);
      return;
    }
    if (this.chooseDistance(position_state)) {
      this.state = is_after_literal ? 9 : 11;
      this.repeat(1, left);
      return;
    }
    const length = this.lengthOf(AT.repeat_length, position_state);
    this.state = is_after_literal ? 8 : 11;
    this.repeat(length, left);
  }
}
