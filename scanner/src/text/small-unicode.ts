// Decodes the two compressed encodings of Unicode, SCSU (Unicode Technical Standard 6) and BOCU-1 (Unicode Technical Note 6), which ICU and programs built on it
// support. Each is recognised by its signature.

const BOCU = {
  /** Number of values of a trail byte, which is any byte of a character but the first. */
  trails: 243,
  first_trail: 0x21,
  middle: 0x90,
  single: 64,
  lead_two: 43,
  lead_three: 3,
  reset: 0xff,
  ascii: 0x40,
} as const;
const REACH = {
  two: BOCU.single + BOCU.lead_two * BOCU.trails,
  three: BOCU.single + BOCU.lead_two * BOCU.trails + BOCU.lead_three * BOCU.trails ** 2,
} as const;
/** Control characters that stand for themselves; the others may be trail bytes. */
const KEPT_CONTROLS: ReadonlySet<number> = new Set([0, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x1a, 0x1b, 0x20]);
const TRAIL_CONTROLS = Array.from({ length: 0x21 }, (_, byte) => byte).filter((byte) => !KEPT_CONTROLS.has(byte));

function trailOf(byte: number): number {
  if (byte >= BOCU.first_trail) return byte - BOCU.first_trail + TRAIL_CONTROLS.length;
  return TRAIL_CONTROLS.indexOf(byte);
}

/** The number of trail bytes after a lead byte, and the first difference of its range. */
function leadOf(byte: number): { trails: number; base: number } {
  const up = byte - (BOCU.middle + BOCU.single);
  if (up >= 0) {
    if (up < BOCU.lead_two) return { trails: 1, base: BOCU.single + up * BOCU.trails };
    const three = up - BOCU.lead_two;
    if (three < BOCU.lead_three) return { trails: 2, base: REACH.two + three * BOCU.trails ** 2 };
    return { trails: 3, base: REACH.three };
  }
  const down = BOCU.middle - BOCU.single - byte;
  if (down <= 0) return { trails: 0, base: byte - BOCU.middle };
  if (down <= BOCU.lead_two) return { trails: 1, base: -BOCU.single - down * BOCU.trails };
  const three = down - BOCU.lead_two;
  if (three <= BOCU.lead_three) return { trails: 2, base: -REACH.two - three * BOCU.trails ** 2 };
  return { trails: 3, base: -REACH.three - BOCU.trails ** 3 };
}

/** The base of the next character's difference: the middle of this character's script. */
function stateBehind(code: number): number {
  if (code >= 0x3040 && code <= 0x309f) return 0x3070;
  if (code >= 0x4e00 && code <= 0x9fa5) return 0x7711;
  if (code >= 0xac00 && code <= 0xd7a3) return 0xc1d1;
  return (code & ~0x7f) + BOCU.ascii;
}

function letter(code: number): string {
  return code >= 0 && code < 0x110000 ? String.fromCodePoint(code) : '\ufffd';
}

/** Decodes BOCU-1. */
export function* fromBocu(pieces: Iterable<Buffer>): Generator<string> {
  let state: number = BOCU.ascii;
  let trails = 0;
  let difference = 0;
  for (const piece of pieces) {
    const letters: string[] = [];
    for (const byte of piece) {
      if (trails === 0) {
        if (byte <= 0x20) {
          if (byte !== 0x20) state = BOCU.ascii;
          letters.push(String.fromCharCode(byte));
          continue;
        }
        if (byte === BOCU.reset) {
          state = BOCU.ascii;
          continue;
        }
        ({ trails, base: difference } = leadOf(byte));
      } else {
        trails -= 1;
        difference += Math.max(0, trailOf(byte)) * BOCU.trails ** trails;
      }
      if (trails > 0) continue;
      const code = state + difference;
      letters.push(letter(code));
      state = code >= 0 && code < 0x110000 ? stateBehind(code) : BOCU.ascii;
    }
    yield letters.join('');
  }
}

const STATIC = [0x0000, 0x0080, 0x0100, 0x0300, 0x2000, 0x2080, 0x2100, 0x3000] as const;
const WINDOWS = [0x0080, 0x00c0, 0x0400, 0x0600, 0x0900, 0x3040, 0x30a0, 0xff00] as const;
const FIXED = [0x00c0, 0x0250, 0x0370, 0x0530, 0x3040, 0x30a0, 0xff60] as const;
const SCSU = { quote: 0x01, define_far: 0x0b, quote_unicode: 0x0e, to_unicode: 0x0f, change: 0x10, define: 0x18 } as const;
const WIDE = { change: 0xe0, define: 0xe8, quote: 0xf0, define_far: 0xf1 } as const;

function windowAt(byte: number): number {
  if (byte >= 0xf9) return FIXED[byte - 0xf9] ?? 0;
  return byte < 0x68 ? 0x80 * byte : 0x80 * byte + 0xac00;
}

/** Decodes SCSU. */
export function* fromScsu(pieces: Iterable<Buffer>): Generator<string> {
  const windows: number[] = [...WINDOWS];
  let active = 0;
  let is_wide = false;
  /** Bytes of a command that is not complete yet. */
  let held: number[] = [];
  /** Length of a command, by its first byte. */
  const neededBy = (byte: number): number => {
    if (is_wide) {
      if (byte >= WIDE.change && byte < WIDE.define) return 1;
      if (byte >= WIDE.define && byte < WIDE.quote) return 2;
      return byte === WIDE.quote || byte === WIDE.define_far ? 3 : 2;
    }
    if (byte >= SCSU.quote && byte < SCSU.quote + 8) return 2;
    if (byte === SCSU.define_far || byte === SCSU.quote_unicode) return 3;
    return byte >= SCSU.define && byte < SCSU.define + 8 ? 2 : 1;
  };
  const define = (index: number, start: number) => {
    windows[index] = start;
    active = index;
    is_wide = false;
    return '';
  };
  const far = (high: number, low: number) => define(high >> 5, 0x10000 + 0x80 * (((high & 0x1f) << 8) | low));
  const wide = ([first = 0, second = 0, third = 0]: readonly number[]): string => {
    if (first >= WIDE.change && first < WIDE.define) {
      active = first - WIDE.change;
      is_wide = false;
      return '';
    }
    if (first >= WIDE.define && first < WIDE.quote) return define(first - WIDE.define, windowAt(second));
    if (first === WIDE.quote) return String.fromCharCode((second << 8) | third);
    return first === WIDE.define_far ? far(second, third) : String.fromCharCode((first << 8) | second);
  };
  const narrow = ([first = 0, second = 0, third = 0]: readonly number[]): string => {
    if (first >= 0x80) return letter((windows[active] ?? 0) + first - 0x80);
    if (first >= 0x20 || first === 0 || first === 9 || first === 10 || first === 13) return String.fromCharCode(first);
    if (first < SCSU.quote + 8) {
      const index = first - SCSU.quote;
      return letter(second < 0x80 ? (STATIC[index] ?? 0) + second : (windows[index] ?? 0) + second - 0x80);
    }
    if (first === SCSU.define_far) return far(second, third);
    if (first === SCSU.quote_unicode) return String.fromCharCode((second << 8) | third);
    if (first === SCSU.to_unicode) is_wide = true;
    else if (first >= SCSU.define) return define(first - SCSU.define, windowAt(second));
    else if (first >= SCSU.change) active = first - SCSU.change;
    return '';
  };
  for (const piece of pieces) {
    const letters: string[] = [];
    for (const byte of piece) {
      held.push(byte);
      if (held.length < neededBy(held[0] ?? 0)) continue;
      letters.push(is_wide ? wide(held) : narrow(held));
      held = [];
    }
    yield letters.join('');
  }
}
