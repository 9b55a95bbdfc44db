import { constants, deflateSync, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodings, extendedText } from '#test/viewer.ts';
import { EXTENDED_CLIPBOARD, passableClipboard } from './extended-clipboard.ts';
import { RfbGate } from './rfb-gate.ts';

const LONGEST = 1_000;
const [TEXT, HTML] = [1, 4];
const [CAPABILITIES, REQUEST, PEEK, NOTIFY, PROVIDE] = [24, 25, 26, 27, 28].map((bit) => 2 ** bit);

const u32 = (...numbers: number[]) => {
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number >>> 0, index * 4);
  return bytes;
};
const granted = { isGranted: true, longest: LONGEST };
const asHex = (body: Buffer | undefined) => body?.toString('hex');
const counted = (text: string | Buffer) => Buffer.concat([u32(Buffer.byteLength(text)), Buffer.from(text)]);
/** noVNC and VNC servers end the data by a flush. */
const flushed = (bytes: Buffer) => deflateSync(bytes, { finishFlush: constants.Z_FULL_FLUSH });
const provide = (bytes: Buffer, pack = flushed) => Buffer.concat([u32((PROVIDE ?? 0) | TEXT), pack(bytes)]);
const textOf = (body: Buffer | undefined) => body && inflateSync(body.subarray(4)).subarray(4).toString();

describe('an extended message of the clipboard', () => {
  test.each(['Grüße', 'Привет', '日本語', '🙂 fine\r\n', '', 'a\0'])('brings %j over', (text) => {
    expect(textOf(passableClipboard(provide(counted(text)), granted))).toBe(text);
    expect(textOf(passableClipboard(provide(counted(text), deflateSync), granted))).toBe(text);
  });

  test('has capabilities for text alone, of at most the longest text, also without the grant', () => {
    const all = u32((CAPABILITIES ?? 0) | (PROVIDE ?? 0) | TEXT | HTML, 2 ** 31, 9);
    for (const isGranted of [true, false])
      expect(asHex(passableClipboard(all, { isGranted, longest: LONGEST }))).toBe(
        asHex(u32((CAPABILITIES ?? 0) | (PROVIDE ?? 0) | TEXT, LONGEST)),
      );
  });

  test.each([REQUEST, PEEK, NOTIFY])('asks for text alone, and only with the grant (action %i)', (action = 0) => {
    expect(asHex(passableClipboard(u32(action | TEXT | HTML), granted))).toBe(asHex(u32(action | TEXT)));
    expect(passableClipboard(u32(action | TEXT), { ...granted, isGranted: false })).toBeUndefined();
    expect(passableClipboard(u32(action | TEXT, 1), granted)).toBeUndefined();
  });

  test.each<[string, Buffer]>([
    ['no flags', Buffer.alloc(3)],
    ['no action', u32(TEXT)],
    ['two actions', u32((REQUEST ?? 0) | (PEEK ?? 0) | TEXT)],
    ['capabilities without their sizes', u32((CAPABILITIES ?? 0) | TEXT)],
    ['HTML', Buffer.concat([u32((PROVIDE ?? 0) | HTML), flushed(counted('<b>'))])],
    ['damaged data', Buffer.concat([u32((PROVIDE ?? 0) | TEXT), Buffer.from('no zlib data')])],
    ['no data', u32((PROVIDE ?? 0) | TEXT)],
    ['a size beyond the data', provide(Buffer.concat([u32(9), Buffer.from('text')]))],
    ['a size of four gigabytes', provide(Buffer.concat([u32(-1), Buffer.from('text')]))],
    ['more than the longest text', provide(counted('x'.repeat(LONGEST + 1)))],
    ['a bomb of 64 MiB', provide(Buffer.concat([u32(3), Buffer.alloc(64 * 1024 ** 2)]))],
  ])('does not pass with %s', (_, body) => {
    expect(passableClipboard(body, granted)).toBeUndefined();
  });

  test('passes within its bound for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(24, 25, 26, 27, 28), (bytes, bit) => {
        const body = Buffer.concat([u32((2 ** bit) | TEXT), bytes]);
        expect(passableClipboard(body, granted)?.length ?? 0).toBeLessThan(2 * LONGEST);
        passableClipboard(Buffer.from(bytes), granted);
      }),
      { seed: 16, numRuns: 2_000 },
    );
  });
});

test('the gate brings text beyond Latin-1 over in both directions, and none without the grant', () => {
  const sent: { viewer: Buffer[]; screen: Buffer[] } = { viewer: [], screen: [] };
  const gate = new RfbGate({
    allowed: { input: true, clipboard: true },
    toViewer: (bytes) => void sent.viewer.push(bytes),
    toScreen: (bytes) => void sent.screen.push(bytes),
    onMalformed: (reason) => expect.unreachable(reason),
  });
  gate.fromScreen(Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1]), u32(0)]));
  gate.fromViewer(Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1])]));
  gate.fromScreen(Buffer.concat([Buffer.from([3, 32, 2, 88, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]), u32(0)]));
  gate.fromViewer(encodings(16, EXTENDED_CLIPBOARD));
  expect(sent.screen.at(-1)).toEqual(encodings(16, EXTENDED_CLIPBOARD));

  gate.fromViewer(extendedText(6, provide(counted('Привет'))));
  gate.fromScreen(extendedText(3, provide(counted('日本語'))));
  expect(textOf(sent.screen.at(-1)?.subarray(8))).toBe('Привет');
  expect(textOf(sent.viewer.at(-1)?.subarray(8))).toBe('日本語');

  const before = [sent.viewer.length, sent.screen.length];
  gate.allow({ input: true, clipboard: false });
  gate.fromViewer(extendedText(6, provide(counted('secret'))));
  gate.fromScreen(extendedText(3, provide(counted('secret'))));
  gate.fromScreen(extendedText(3, u32((NOTIFY ?? 0) | TEXT)));
  expect([sent.viewer.length, sent.screen.length]).toEqual(before);
});
