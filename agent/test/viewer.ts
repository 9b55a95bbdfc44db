import { eventually } from '@palisade/scanner/test/eventually';

// The technician's page as far as a test needs it: RFB messages that a page sends, and the received ones.

export const key = (code: number, is_down: boolean) => {
  const message = Buffer.alloc(8);
  message[0] = 4;
  message[1] = is_down ? 1 : 0;
  message.writeUInt32BE(code, 4);
  return message;
};
export const press = (code: number) => Buffer.concat([key(code, true), key(code, false)]);
export const RETURN = 0xff_0d;
export const type = (text: string) =>
  Buffer.concat([...text].map((character) => press(character === '\n' ? RETURN : (character.codePointAt(0) ?? 0))));

const SHIFT = 0xff_e1;
const SHIFTED = /[A-Z{~!@#$%^&*_+|:"<>?()}]/u;
/** As a page sends text typed on a keyboard of the United States: Shift is held where it is needed. */
export const typeWithShift = (text: string) =>
  Buffer.concat(
    [...text].map((character) =>
      SHIFTED.test(character) ? Buffer.concat([key(SHIFT, true), type(character), key(SHIFT, false)]) : type(character),
    ),
  );

export const pointer = (x: number, y: number, mask = 0) => {
  const message = Buffer.alloc(6);
  message[0] = 5;
  message[1] = mask;
  message.writeUInt16BE(x, 2);
  message.writeUInt16BE(y, 4);
  return message;
};

export const encodings = (...named: number[]) => {
  const message = Buffer.alloc(4 + named.length * 4);
  message[0] = 2;
  message.writeUInt16BE(named.length, 2);
  for (const [index, encoding] of named.entries()) message.writeInt32BE(encoding, 4 + index * 4);
  return message;
};

export const updateRequest = (width: number, height: number, is_incremental = false) => {
  const message = Buffer.alloc(10);
  message[0] = 3;
  message[1] = is_incremental ? 1 : 0;
  message.writeUInt16BE(width, 6);
  message.writeUInt16BE(height, 8);
  return message;
};

export const cutText = (kind: 3 | 6, text: string) => {
  const message = Buffer.alloc(8);
  message[0] = kind;
  message.writeUInt32BE(Buffer.byteLength(text, 'latin1'), 4);
  return Buffer.concat([message, Buffer.from(text, 'latin1')]);
};

/** A message of the extended clipboard: a plain one whose length is negative. */
export const extendedText = (kind: 3 | 6, body: Buffer) => {
  const message = Buffer.alloc(8);
  message[0] = kind;
  message.writeInt32BE(-body.length, 4);
  return Buffer.concat([message, body]);
};

/** Does a page's part of the handshake, and answers the size of the screen. */
export async function shakeHands(heard: () => Buffer, say: (bytes: Buffer) => void) {
  const until = (length: number) =>
    eventually(() => {
      if (heard().length < length) throw new Error(`only ${heard().length} of ${length} bytes came`);
    });
  await until(12);
  say(Buffer.from('RFB 003.008\n'));
  await until(14);
  say(Buffer.from([1]));
  await until(18);
  say(Buffer.from([1]));
  await until(18 + 24);
  return { width: heard().readUInt16BE(18), height: heard().readUInt16BE(20) };
}
