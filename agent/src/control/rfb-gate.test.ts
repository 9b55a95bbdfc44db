// proves: security-42
import { describe, expect, test } from 'vitest';
import { cutText, encodings, key, pointer, updateRequest } from '#test/viewer.ts';
import { type Allowed, RfbGate } from './rfb-gate.ts';
import { cookieOf } from './x-pointer.ts';

const u16 = (...numbers: number[]) => Buffer.concat(numbers.map((number) => Buffer.from([number >> 8, number & 255])));
const u32 = (number: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(number | 0);
  return bytes;
};
const SIGN_IN = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([2, 2, 1]), u32(0)]);
const INIT = Buffer.concat([
  ...[u16(800, 600), Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]), u32(4), Buffer.from('desk')],
]);
const HELLO = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1])]);
const rectangle = (encoding: number, [width, height]: [number, number], body: Buffer) =>
  Buffer.concat([u16(0, 0, width, height), u32(encoding), body]);
const update = (...rectangles: Buffer[]) => Buffer.concat([Buffer.from([0, 0]), u16(rectangles.length), ...rectangles]);
const PIXELS = (count: number) => Buffer.alloc(count * 4, 7);
const longer = (body: Buffer) => Buffer.concat([u32(body.length), body]);

function gated(allowed: Allowed = { input: true, clipboard: true }, options: { password?: string; sign_in?: boolean } = {}) {
  const state: { viewer: Buffer; screen: Buffer; reason: string | undefined } = {
    viewer: Buffer.alloc(0),
    screen: Buffer.alloc(0),
    reason: undefined,
  };
  const gate = new RfbGate({
    allowed,
    password: options.password,
    toViewer(bytes) {
      state.viewer = Buffer.concat([state.viewer, bytes]);
    },
    toScreen(bytes) {
      state.screen = Buffer.concat([state.screen, bytes]);
    },
    onMalformed(reason) {
      state.reason = reason;
    },
  });
  if (options.sign_in !== false) {
    gate.fromScreen(SIGN_IN);
    gate.fromViewer(HELLO);
    gate.fromScreen(INIT);
    state.viewer = Buffer.alloc(0);
    state.screen = Buffer.alloc(0);
  }
  return { gate, state };
}

const INPUT = [key(0x61, true), key(0x61, false), pointer(10, 20, 1), pointer(10, 20, 0)];
const OTHER = [encodings(16, 7, -239, -308, -313, 0x574d5664), updateRequest(800, 600), cutText(6, 'secret')];

describe('the gate', () => {
  test('signs in to the VNC server itself, and asks the page for nothing', () => {
    const { gate, state } = gated(undefined, { sign_in: false });
    gate.fromScreen(SIGN_IN);
    gate.fromViewer(HELLO);
    gate.fromScreen(INIT);
    expect(state.screen).toEqual(Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1])]));
    expect(state.viewer.subarray(0, 18)).toEqual(Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1, 0, 0, 0, 0])]));
    expect(state.viewer.subarray(18).toString('latin1')).toContain('desk');
  });

  test('knows VNC authentication, and says where it has no password', () => {
    const asks = (password?: string) => {
      const { gate, state } = gated(undefined, { sign_in: false, ...(password === undefined ? {} : { password }) });
      gate.fromScreen(Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 2]), Buffer.alloc(16, 1)]));
      return state;
    };
    // DES of sixteen bytes 1 with "password", each of whose bytes is turned round: `openssl enc -des-ecb -K 0e86ceceeef64e26 -nopad -provider legacy`.
    expect(asks('password').screen.subarray(13).toString('hex')).toBe('eb2a381af4597448eb2a381af4597448');
    expect(asks().reason).toMatch(/password/u);
  });

  test('passes all known messages, in pieces of any size', () => {
    const all = Buffer.concat([...INPUT, ...OTHER, key(0xff_0d, true), key(0xff_0d, false)]);
    const picture = Buffer.concat([
      update(
        rectangle(0, [2, 3], PIXELS(6)),
        rectangle(1, [2, 2], u16(5, 5)),
        rectangle(16, [64, 64], longer(Buffer.alloc(300, 9))),
        rectangle(-239, [9, 2], Buffer.alloc(9 * 2 * 4 + 4)),
      ),
      Buffer.from([2]),
      cutText(3, 'copied'),
      update(rectangle(-223, [1_024, 768], Buffer.alloc(0))),
      Buffer.concat([
        Buffer.from([0, 0]),
        u16(65_535),
        rectangle(0, [1, 1], PIXELS(1)),
        rectangle(-224, [0, 0], Buffer.alloc(0)),
      ]),
    ]);
    const whole = gated();
    whole.gate.fromViewer(all);
    whole.gate.fromScreen(picture);
    expect(whole.state.reason).toBeUndefined();
    expect(whole.state.viewer).toEqual(picture);
    // Encodings that this does not read are not asked for.
    expect(whole.state.screen).toEqual(
      Buffer.concat([...INPUT, encodings(16, -239), ...OTHER.slice(1), key(0xff_0d, true), key(0xff_0d, false)]),
    );
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const pieces = gated();
      for (let at = 0; at < all.length; at += size) pieces.gate.fromViewer(all.subarray(at, at + size));
      for (let at = 0; at < picture.length; at += size) pieces.gate.fromScreen(picture.subarray(at, at + size));
      expect(pieces.state).toEqual(whole.state);
    }
  });

  test('drops all input where the screen may only be seen, and all text without the clipboard, either way', () => {
    const { gate, state } = gated({ input: false, clipboard: false });
    gate.fromViewer(Buffer.concat([...INPUT, ...OTHER]));
    gate.fromScreen(Buffer.concat([cutText(3, 'their secret'), Buffer.from([2])]));
    expect(state.screen).toEqual(Buffer.concat([encodings(16, -239), updateRequest(800, 600)]));
    expect(state.viewer).toEqual(Buffer.from([2]));
    expect(gate.counts).toEqual({ passed: 0, dropped: INPUT.length + 1 });
  });

  test('releases pressed keys when input ends, and passes no input afterwards', () => {
    const { gate, state } = gated();
    gate.fromViewer(Buffer.concat([key(0xff_e3, true), pointer(30, 40, 4)]));
    state.screen = Buffer.alloc(0);
    gate.allow({ input: false, clipboard: false });
    expect(state.screen).toEqual(Buffer.concat([key(0xff_e3, false), pointer(30, 40, 0)]));
    state.screen = Buffer.alloc(0);
    gate.fromViewer(Buffer.concat(INPUT));
    expect(state.screen).toHaveLength(0);
  });

  test('keeps the pointer on the screen', () => {
    const { gate, state } = gated();
    gate.fromViewer(pointer(65_535, 65_535));
    expect(state.screen).toEqual(pointer(799, 599));
  });

  test.each<[string, Buffer]>([
    ['a message that nobody knows', Buffer.from([99])],
    ['text of four gigabytes', Buffer.concat([Buffer.from([6, 0, 0, 0]), u32(-1)])],
    ['too many encodings', Buffer.concat([Buffer.from([2, 0]), u16(65_535)])],
    ['pixels of 7 bits', Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), Buffer.alloc(15)])],
    ['other pixels midway', Buffer.concat([updateRequest(1, 1), Buffer.from([0, 0, 0, 0, 32]), Buffer.alloc(15)])],
    ['another size of the screen', Buffer.concat([Buffer.from([251]), Buffer.alloc(23)])],
  ])('ends with a reason at %s, and nothing passes any more', (_, bytes) => {
    const { gate, state } = gated();
    gate.fromViewer(bytes);
    expect(state.reason).toMatch(/\.$/u);
    state.screen = Buffer.alloc(0);
    gate.fromViewer(Buffer.concat(INPUT));
    gate.fromScreen(Buffer.from([2]));
    expect([state.screen.length, state.viewer.length]).toEqual([0, 0]);
  });

  test.each<[string, Buffer]>([
    ['an encoding that nobody asked for', update(rectangle(7, [1, 1], Buffer.alloc(9)))],
    ['a part of four gigabytes', update(rectangle(16, [1, 1], u32(-1)))],
    ['a part larger than any screen', update(rectangle(0, [65_535, 65_535], Buffer.alloc(0)))],
    ['a message that nobody knows', Buffer.from([150])],
    ['an extended clipboard', Buffer.concat([Buffer.from([3, 0, 0, 0]), u32(-8)])],
  ])('ends at %s of the VNC server', (_, bytes) => {
    const { gate, state } = gated();
    gate.fromScreen(bytes);
    expect(state.reason).toMatch(/\.$/u);
  });

  test('neither fails nor lets input through for any bytes of a page that may only see', () => {
    // Noise that is the same each time (xorshift).
    let noise = 2_463_534_242;
    const next = (below: number) => {
      noise ^= noise << 13;
      noise ^= noise >>> 17;
      noise ^= noise << 5;
      return (noise >>> 0) % below;
    };
    for (let round = 0; round < 2_000; round += 1) {
      const { gate, state } = gated({ input: false, clipboard: false });
      for (let piece = 0; piece < 8; piece += 1) {
        // Beginnings of messages that are known, and anything.
        const kind = Buffer.from([[0, 2, 3, 4, 5, 6, 255][next(7)] ?? 0, 0]);
        gate.fromViewer(
          Buffer.concat([kind, Buffer.from(Array.from({ length: next(24) }, () => next(next(2) === 0 ? 2 : 256)))]),
        );
      }
      for (let at = 0; at < state.screen.length; ) {
        const kind = state.screen[at];
        expect([0, 2, 3]).toContain(kind);
        at += kind === 0 ? 20 : kind === 3 ? 10 : 4 + state.screen.readUInt16BE(at + 2) * 4;
      }
      expect(gate.counts.passed).toBe(0);
    }
  });

  // proves: remote-12
  test('ends at a page that speaks first, and at any server that is none', () => {
    const early = gated(undefined, { sign_in: false });
    early.gate.fromViewer(HELLO);
    expect(early.state.reason).toMatch(/spoke before/u);
    const eager = gated(undefined, { sign_in: false });
    eager.gate.fromScreen(Buffer.concat([SIGN_IN, INIT]));
    expect(eager.state.reason).toMatch(/spoke before/u);
    const other = gated(undefined, { sign_in: false });
    other.gate.fromScreen(Buffer.from('HTTP/1.1 400 Bad'));
    expect(other.state.reason).toMatch(/no RFB/u);
  });
});

test('the cookie of a display is found in its file, and not in a truncated one', () => {
  const field = (text: string) => Buffer.concat([u16(text.length), Buffer.from(text, 'latin1')]);
  const entry = (display: string, cookie: string) =>
    Buffer.concat([u16(256), field('laptop'), field(display), field('MIT-MAGIC-COOKIE-1'), field(cookie)]);
  const file = Buffer.concat([entry('1', 'other'), entry('0', 'cookie')]);
  expect(cookieOf(file, '0')?.toString()).toBe('cookie');
  expect(cookieOf(file, '7')).toBeUndefined();
  for (let length = 0; length < file.length; length += 1) expect(() => cookieOf(file.subarray(0, length), '0')).not.toThrow();
});
