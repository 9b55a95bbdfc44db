import { createConnection, type Socket } from 'node:net';
import { createFeeder, type Parser } from './byte-parser.ts';

// Polls the pointer position in the X protocol (X Window System Protocol, version 11, chapters 8 and 9), because starting a program for each poll would be too slow.

const COOKIE = 'MIT-MAGIC-COOKIE-1';
const QUERY_POINTER = 38;

const padded = (length: number) => Math.ceil(length / 4) * 4;

/** The cookie of a display from the contents of an Xauthority file; undefined if there is none. */
export function cookieOf(file: Buffer, display: string): Buffer | undefined {
  let at = 0;
  const field = () => {
    const length = file.readUInt16BE(at);
    at += 2 + length;
    if (at > file.length) throw new RangeError('cut off');
    return file.subarray(at - length, at);
  };
  try {
    while (at < file.length) {
      at += 2;
      field();
      const number = field().toString('latin1');
      const name = field().toString('latin1');
      const cookie = field();
      if (name === COOKIE && (number === '' || number === display)) return cookie;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}

function hello(cookie: Buffer | undefined): Buffer {
  const name = cookie === undefined ? '' : COOKIE;
  const length = cookie?.length ?? 0;
  const bytes = Buffer.alloc(12 + padded(name.length) + padded(length));
  bytes.write('l', 'latin1');
  bytes.writeUInt16LE(11, 2);
  bytes.writeUInt16LE(name.length, 6);
  bytes.writeUInt16LE(length, 8);
  bytes.write(name, 12, 'latin1');
  cookie?.copy(bytes, 12 + padded(name.length));
  return bytes;
}

/** An invalid answer of an X server. */
class XProtocolError extends Error {
  override name = 'XProtocolError';
}

/** Sizes in bytes of the parts of the connection setup reply (chapter 8): header, fixed part, one format, one screen; and the maximum of the whole. */
const SETUP = { head: 8, fixed: 32, format: 8, screen: 40, most: 64 * 1024 };
const REPLY = { length: 32, error: 0, reply: 1, generic_event: 35 };
/** Maximum events between two replies. The agent subscribes to no events, so only those that every client gets arrive. */
const EVENTS_MAXIMUM = 1_000;
/** The largest side of a screen: coordinates are signed 16-bit numbers. */
const SIDE_MAXIMUM = 32_767;
/** For one answer. ms. */
const ANSWER_MS = 10_000;

/** The root window and size of the first screen, from the connection setup reply. @throws XProtocolError where a length or number is out of range */
export function readSetup(head: Buffer, rest: Buffer): { root: number; width: number; height: number } {
  if (head[0] !== 1) throw new XProtocolError('The X server refuses the agent.');
  const must = (is_so: boolean, what: string) => {
    if (!is_so) throw new XProtocolError(`The X server’s first answer has a wrong ${what}.`);
  };
  must(head.length === SETUP.head && head.readUInt16LE(2) === 11, 'version');
  must(rest.length === head.readUInt16LE(6) * 4 && rest.length >= SETUP.fixed, 'length');
  const vendor = rest.readUInt16LE(16);
  const [screens, formats] = [rest.readUInt8(20), rest.readUInt8(21)];
  must(screens >= 1, 'number of screens');
  const at = SETUP.fixed + padded(vendor) + formats * SETUP.format;
  must(at + SETUP.screen <= rest.length, 'length');
  const root = rest.readUInt32LE(at);
  const [width, height] = [rest.readUInt16LE(at + 20), rest.readUInt16LE(at + 22)];
  must(root !== 0 && root < 0x2000_0000, 'window');
  must(width >= 1 && width <= SIDE_MAXIMUM && height >= 1 && height <= SIDE_MAXIMUM, 'size of its screen');
  return { root, width, height };
}

/** The pointer position from a QueryPointer reply of 32 bytes; undefined for an event. @throws XProtocolError where it is neither */
export function readPointer(
  reply: Buffer,
  asked: { sequence: number; root: number; width: number; height: number },
): { x: number; y: number } | undefined {
  const kind = reply[0] ?? REPLY.error;
  if (reply.length !== REPLY.length) throw new XProtocolError('The X server’s answer has a wrong length.');
  if (kind === REPLY.error) throw new XProtocolError(`The X server answers with error ${reply[1] ?? 0}.`);
  if (kind !== REPLY.reply) {
    // A generic event is longer than 32 bytes. The agent subscribes to none.
    if ((kind & 0x7f) === REPLY.generic_event) throw new XProtocolError('The X server sends an event that was not asked for.');
    return undefined;
  }
  if (reply.readUInt16LE(2) !== asked.sequence || reply.readUInt32LE(4) !== 0 || reply.readUInt32LE(8) !== asked.root)
    throw new XProtocolError('The X server’s answer belongs to no question.');
  const [x, y] = [reply.readInt16LE(16), reply.readInt16LE(18)];
  const is_on_screen = reply[1] === 0 || (x >= 0 && x < asked.width && y >= 0 && y < asked.height);
  if (!is_on_screen) throw new XProtocolError('The X server’s answer names a point outside its screen.');
  return { x, y };
}

interface PointerParts {
  every_ms: number;
  /** For one answer. ms. */
  answer_ms?: number;
  onPointer: (at: { x: number; y: number }) => void;
  /** Called once with a sentence; no position follows. */
  onFailure: (reason: string) => void;
}

/** Polls the pointer position until the returned function is called or the X server fails. Invalid replies call `onFailure` and do not throw. */
export function watchPointer(
  { display, socket: path, xauthority }: { display: string; socket: string; xauthority: Buffer | undefined },
  { every_ms, answer_ms = ANSWER_MS, onPointer, onFailure }: PointerParts,
): () => void {
  const number = /^:(\d+)/u.exec(display)?.[1] ?? '0';
  const socket: Socket = createConnection(path);
  let is_stopped = false;
  let asking: NodeJS.Timeout | undefined;
  let waiting: NodeJS.Timeout | undefined;

  function stop(): void {
    is_stopped = true;
    clearTimeout(asking);
    clearTimeout(waiting);
    socket.destroy();
  }
  function fail(reason: string): void {
    if (is_stopped) return;
    stop();
    onFailure(reason);
  }
  const awaitAnswer = () => (waiting = setTimeout(() => fail('The X server does not answer.'), answer_ms));

  function* replies(): Parser {
    const head = yield SETUP.head;
    const length = head.readUInt16LE(6) * 4;
    if (length > SETUP.most) throw new XProtocolError('The X server’s first answer is too long.');
    const screen = readSetup(head, yield length);
    clearTimeout(waiting);
    let sequence = 0;
    const ask = Buffer.alloc(8);
    ask[0] = QUERY_POINTER;
    ask.writeUInt16LE(2, 2);
    ask.writeUInt32LE(screen.root, 4);
    const askNow = () => {
      sequence = (sequence + 1) & 0xffff;
      awaitAnswer();
      socket.write(ask);
    };
    let events = 0;
    askNow();
    for (;;) {
      const at = readPointer(yield REPLY.length, { sequence, ...screen });
      if (at === undefined) {
        events += 1;
        if (events > EVENTS_MAXIMUM) throw new XProtocolError('The X server sends only events.');
        continue;
      }
      events = 0;
      clearTimeout(waiting);
      onPointer(at);
      if (!is_stopped) asking = setTimeout(askNow, every_ms);
    }
  }

  const feed = createFeeder(replies());
  awaitAnswer();
  socket.on('connect', () => socket.write(hello(xauthority && cookieOf(xauthority, number))));
  socket.on('data', (piece: Buffer) => {
    if (is_stopped) return;
    try {
      feed(piece);
    } catch (error) {
      fail(error instanceof Error ? error.message : 'The X server’s answer cannot be read.');
    }
  });
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => fail('The X server ended the connection.'));
  return stop;
}
