import { readFile } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { createFeeder, type Parser } from './byte-parser.ts';

// Where the pointer is, asked of an X server in its own protocol (X Window System Protocol, version 11, chapters 8 and 9): no program of the system can be asked so often.

const COOKIE = 'MIT-MAGIC-COOKIE-1';
const QUERY_POINTER = 38;

const padded = (length: number) => Math.ceil(length / 4) * 4;

/** The cookie of a display in a file of Xauthority; undefined where there is none. */
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

/** Tells where the pointer is, again and again, until it is stopped. */
export async function watchPointer(
  { display, xauthority }: { display: string; xauthority: string | undefined },
  parts: { every_ms: number; onPointer: (at: { x: number; y: number }) => void; onFailure: (reason: string) => void },
): Promise<() => void> {
  const { every_ms, onPointer, onFailure } = parts;
  const number = /^:(\d+)/u.exec(display)?.[1] ?? '0';
  const file = xauthority === undefined ? undefined : await readFile(xauthority).catch(() => undefined);
  const socket: Socket = createConnection(`/tmp/.X11-unix/X${number}`);
  let is_stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function* replies(): Parser {
    const head = yield 8;
    const rest = yield head.readUInt16LE(6) * 4;
    if (head[0] !== 1) return onFailure('the X server refuses the agent');
    const root = rest.readUInt32LE(32 + padded(rest.readUInt16LE(16)) + rest.readUInt8(21) * 8);
    const ask = Buffer.alloc(8);
    ask[0] = QUERY_POINTER;
    ask.writeUInt16LE(2, 2);
    ask.writeUInt32LE(root, 4);
    socket.write(ask);
    for (;;) {
      const reply = yield 32;
      // An event, such as that the keyboard has another layout: everybody is told of that.
      if (reply[0] !== 1) continue;
      onPointer({ x: reply.readInt16LE(16), y: reply.readInt16LE(18) });
      timer = setTimeout(() => socket.write(ask), every_ms);
    }
  }

  const feed = createFeeder(replies());
  socket.on('connect', () => socket.write(hello(file && cookieOf(file, number))));
  socket.on('data', feed);
  socket.on('error', (error) => {
    if (!is_stopped) onFailure(error.message);
  });
  return () => {
    is_stopped = true;
    clearTimeout(timer);
    socket.destroy();
  };
}
