// A minimal RFB client, used for Palisade's remote control and for direct VNC.
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Presses keys on a screen and observes its updates. */
export interface PixelClient {
  /** Resolves when the first complete picture has arrived. */
  ready: Promise<void>;
  /** Presses the key of a lower-case letter, given as X keysym. */
  press(key: number): void;
  /** Called for each non-empty update. */
  onPixels: (() => void) | undefined;
}

/** A minimal RFB client (RFC 6143): it requests incremental updates in raw encoding, and presses keys. */
interface RfbClient extends PixelClient {
  feed(bytes: Buffer): void;
}

const VERSION = Buffer.from('RFB 003.008\n', 'latin1');
const [UPDATE, BELL, CUT_TEXT] = [0, 2, 3];

function createRfbClient(write: (bytes: Buffer) => void): RfbClient {
  let held: Buffer = Buffer.alloc(0);
  let size = { width: 0, height: 0 };
  let step: 'version' | 'security' | 'result' | 'init' | 'open' = 'version';
  const { promise: ready, resolve } = Promise.withResolvers<void>();

  function ask(isIncremental: boolean): void {
    const message = Buffer.alloc(10);
    message[0] = 3;
    message[1] = isIncremental ? 1 : 0;
    message.writeUInt16BE(size.width, 6);
    message.writeUInt16BE(size.height, 8);
    write(message);
  }

  /** Length of the first message in the buffer; undefined while it is incomplete. */
  function lengthOfMessage(): number | undefined {
    if (held[0] === BELL) return 1;
    if (held[0] === CUT_TEXT) return held.length < 8 ? undefined : 8 + held.readUInt32BE(4);
    if (held[0] !== UPDATE) throw new Error(`a message of a kind that was not asked for: ${held[0]}`);
    if (held.length < 4) return undefined;
    let at = 4;
    for (let rectangle = held.readUInt16BE(2); rectangle > 0; rectangle -= 1) {
      if (held.length < at + 12) return undefined;
      at += 12 + held.readUInt16BE(at + 4) * held.readUInt16BE(at + 6) * 4;
    }
    return at;
  }

  function next(): boolean {
    const take = (length: number) => {
      const taken = held.subarray(0, length);
      held = held.subarray(length);
      return taken;
    };
    switch (step) {
      case 'version':
        if (held.length < VERSION.length) return false;
        take(VERSION.length);
        write(VERSION);
        step = 'security';
        return true;
      case 'security':
        if (held.length < 1 + (held[0] ?? 0)) return false;
        take(1 + (held[0] ?? 0));
        write(Buffer.from([1]));
        step = 'result';
        return true;
      case 'result':
        if (held.length < 4) return false;
        if (take(4).readUInt32BE(0) !== 0) throw new Error('the VNC server refused');
        write(Buffer.from([1]));
        step = 'init';
        return true;
      case 'init':
        if (held.length < 24 || held.length < 24 + held.readUInt32BE(20)) return false;
        size = { width: held.readUInt16BE(0), height: held.readUInt16BE(2) };
        take(24 + held.readUInt32BE(20));
        step = 'open';
        // Only raw encoding, so that both connections transfer the same data.
        write(Buffer.from([2, 0, 0, 1, 0, 0, 0, 0]));
        ask(false);
        return true;
      case 'open': {
        const length = held.length === 0 ? undefined : lengthOfMessage();
        if (length === undefined || held.length < length) return false;
        const message = take(length);
        if (message[0] !== UPDATE) return true;
        resolve();
        ask(true);
        if (message.readUInt16BE(2) > 0) client.onPixels?.();
        return true;
      }
    }
  }

  const client: RfbClient = {
    ready,
    onPixels: undefined,
    press(key) {
      for (const isDown of [1, 0]) {
        const message = Buffer.alloc(8);
        message[0] = 4;
        message[1] = isDown;
        message.writeUInt32BE(key, 4);
        write(message);
      }
    },
    feed(bytes) {
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      while (next());
    },
  };
  return client;
}

export function overStream(stream: Duplex): RfbClient {
  const client = createRfbClient((bytes) => stream.write(bytes));
  stream.on('data', (bytes: Buffer) => client.feed(bytes));
  return client;
}

/** Creates a client over a paired WebSocket. */
export function overSocket(socket: WebSocket): RfbClient {
  const client = createRfbClient((bytes) => socket.send(bytes));
  socket.on('message', (bytes: Buffer, isBinary) => {
    if (isBinary) client.feed(bytes);
  });
  return client;
}
