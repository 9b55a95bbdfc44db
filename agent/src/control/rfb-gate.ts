import { createCipheriv } from 'node:crypto';
import { createFeeder, type Parser } from './byte-parser.ts';
import { EXTENDED_CLIPBOARD, passableClipboard } from './extended-clipboard.ts';

// Filter between the technician's page and this computer's VNC server (RFC 6143, "RFB"). It parses every message of both sides; an unknown message ends the connection.

/** Whether input and clipboard messages pass. The picture always passes. */
export interface Allowed {
  input: boolean;
  clipboard: boolean;
}

export interface GateParts {
  toViewer(bytes: Buffer): void;
  toScreen(bytes: Buffer): void;
  /** Called on invalid or oversized messages; no later message passes. The reason is a sentence. */
  onMalformed(reason: string): void;
  /** Called for each input of the technician: a pointer position in pixels, or undefined for a key. */
  onInput?(at: { x: number; y: number } | undefined): void;
  allowed: Allowed;
  /** The password for a VNC server that asks for one. */
  password?: string | undefined;
}

export interface Gate {
  fromViewer(bytes: Buffer): void;
  fromScreen(bytes: Buffer): void;
  /** Changes what passes. When input is withdrawn, pressed keys are released. */
  allow(allowed: Allowed): void;
  /** Numbers of input and clipboard messages from the page that passed, and that were dropped. */
  readonly counts: { passed: number; dropped: number };
}

const VERSION = Buffer.from('RFB 003.008\n', 'latin1');
const VERSION_OF_SERVER = /^RFB 003\.(\d{3})\n$/u;
const NONE = 1;
const VNC_AUTH = 2;

/** Limits of the sizes and counts in a message. */
const LONGEST = {
  encodings: 256,
  reason: 1_024,
  name: 4_096,
  /** Longest clipboard text in either direction, in bytes. */
  text: 256 * 1024,
  side: 16_384,
  /** Largest compressed rectangle, in bytes. */
  rectangle: 64 * 1024 ** 2,
  pressed: 64,
  piece: 64 * 1024,
} as const;

const RAW = 0;
const COPY_RECT = 1;
const ZLIB = 6;
const ZRLE = 16;
const DESKTOP_SIZE = -223;
const LAST_RECT = -224;
const CURSOR = -239;
/** Encodings that the gate can parse. Only these are offered to the VNC server. */
const READ = new Set([RAW, COPY_RECT, ZLIB, ZRLE, DESKTOP_SIZE, LAST_RECT, CURSOR, EXTENDED_CLIPBOARD]);
const isQuality = (encoding: number) => (encoding >= -32 && encoding <= -23) || (encoding >= -256 && encoding <= -247);

class Malformed extends Error {}

/** VNC authentication (RFC 6143 section 7.2.2): DES, with the bits of each password byte in reverse order. */
function answerChallenge(challenge: Buffer, password: string): Buffer {
  const key = Buffer.alloc(8);
  Buffer.from(password, 'latin1').copy(key, 0, 0, 8);
  for (const [index, byte] of key.entries()) {
    let turned = 0;
    for (let bit = 0; bit < 8; bit += 1) if ((byte & (1 << bit)) !== 0) turned |= 0x80 >> bit;
    key[index] = turned;
  }
  // OpenSSL 3 has no single DES; triple DES with three equal keys gives the same result.
  const cipher = createCipheriv('des-ede3-ecb', Buffer.concat([key, key, key]), null).setAutoPadding(false);
  return Buffer.concat([cipher.update(challenge), cipher.final()]);
}

/** Parses both directions of one connection and passes allowed messages. */
export class RfbGate implements Gate {
  readonly #parts: GateParts;
  readonly #toViewer: GateParts['toViewer'];
  readonly #toScreen: GateParts['toScreen'];
  readonly #feedScreen: (bytes: Buffer) => void;
  readonly counts = { passed: 0, dropped: 0 };
  #allowed: Allowed;
  readonly #pressed = new Set<number>();
  #buttons = 0;
  #at = { x: 0, y: 0 };
  #size = { width: 0, height: 0 };
  #bytes_per_pixel = 4;
  /** The page has sent its ClientInit message. */
  #is_greeted = false;
  #is_asked = false;
  /** The page has asked the VNC server for the extended clipboard. */
  #is_extended = false;
  #is_over = false;
  #feedViewer: ((bytes: Buffer) => void) | undefined;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#toViewer = (bytes) => parts.toViewer(bytes);
    this.#toScreen = (bytes) => parts.toScreen(bytes);
    this.#allowed = { ...parts.allowed };
    this.#feedScreen = createFeeder(this.#screen());
  }

  #keyEvent(key: number, is_down: boolean): Buffer {
    const message = Buffer.alloc(8);
    message[0] = 4;
    message[1] = is_down ? 1 : 0;
    message.writeUInt32BE(key, 4);
    return message;
  }

  #pointerEvent(mask: number): Buffer {
    const message = Buffer.alloc(6);
    message[0] = 5;
    message[1] = mask;
    message.writeUInt16BE(this.#at.x, 2);
    message.writeUInt16BE(this.#at.y, 4);
    return message;
  }

  /** Releases all keys and buttons that the technician holds down. */
  #letGo(): void {
    for (const key of this.#pressed) this.#toScreen(this.#keyEvent(key, false));
    this.#pressed.clear();
    if (this.#buttons !== 0) this.#toScreen(this.#pointerEvent(0));
    this.#buttons = 0;
  }

  #hearKey(key: number, is_down: boolean): void {
    if (!this.#allowed.input || (is_down && this.#pressed.size >= LONGEST.pressed)) {
      this.counts.dropped += 1;
      return;
    }
    if (is_down) this.#pressed.add(key);
    else this.#pressed.delete(key);
    this.counts.passed += 1;
    this.#parts.onInput?.(undefined);
    this.#toScreen(this.#keyEvent(key, is_down));
  }

  #hearPointer(mask: number, x: number, y: number): void {
    if (!this.#allowed.input) {
      this.counts.dropped += 1;
      return;
    }
    // Clamp the position to the screen.
    this.#at = { x: Math.min(x, Math.max(0, this.#size.width - 1)), y: Math.min(y, Math.max(0, this.#size.height - 1)) };
    this.#buttons = mask;
    this.counts.passed += 1;
    this.#parts.onInput?.(this.#at);
    this.#toScreen(this.#pointerEvent(mask));
  }

  *#pixelFormat(): Parser {
    const rest = yield 19;
    if (this.#is_asked) throw new Malformed('The colours of the picture were changed while it was sent.');
    const bits = rest.readUInt8(3);
    if (bits !== 8 && bits !== 16 && bits !== 32) throw new Malformed('A pixel has 8, 16 or 32 bits.');
    this.#bytes_per_pixel = bits / 8;
    this.#toScreen(Buffer.concat([Buffer.from([0]), rest]));
  }

  *#encodings(): Parser {
    const count = (yield 3).readUInt16BE(1);
    if (count > LONGEST.encodings) throw new Malformed('Too many encodings were named.');
    const named = yield count * 4;
    const read: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const encoding = named.readInt32BE(index * 4);
      if (READ.has(encoding) || isQuality(encoding)) read.push(encoding);
    }
    const message = Buffer.alloc(4 + read.length * 4);
    message[0] = 2;
    message.writeUInt16BE(read.length, 2);
    for (const [index, encoding] of read.entries()) message.writeInt32BE(encoding, 4 + index * 4);
    this.#is_extended = read.includes(EXTENDED_CLIPBOARD);
    this.#toScreen(message);
  }

  /** Returns the clipboard message to pass on, or undefined to drop it. A negative length marks an extended message. */
  #textMessage(kind: 3 | 6, head: Buffer, body: Buffer): Buffer | undefined {
    const isGranted = this.#allowed.clipboard;
    if (head.readInt32BE(3) >= 0) return isGranted ? Buffer.concat([Buffer.from([kind]), head, body]) : undefined;
    const passable = passableClipboard(body, { isGranted, longest: LONGEST.text });
    if (passable === undefined) return undefined;
    const message = Buffer.alloc(8);
    message[0] = kind;
    message.writeInt32BE(-passable.length, 4);
    return Buffer.concat([message, passable]);
  }

  *#viewerText(): Parser {
    const head = yield 7;
    const length = head.readInt32BE(3);
    if (length < 0 && !this.#is_extended) throw new Malformed('The page did not ask for the extended clipboard.');
    if (Math.abs(length) > LONGEST.text) throw new Malformed('Text of the clipboard is too long.');
    const message = this.#textMessage(6, head, yield Math.abs(length));
    if (message === undefined) {
      this.counts.dropped += 1;
    } else {
      this.counts.passed += 1;
      this.#toScreen(message);
    }
  }

  *#viewer(): Parser {
    this.#toViewer(VERSION);
    if (!(yield 12).equals(VERSION)) throw new Malformed('The page speaks another version of RFB.');
    this.#toViewer(Buffer.from([1, NONE]));
    if ((yield 1)[0] !== NONE) throw new Malformed('The page asks for a way to sign in that was not offered.');
    this.#toViewer(Buffer.alloc(4));
    yield 1;
    this.#is_greeted = true;
    // ClientInit with the shared flag: other viewers of this screen stay connected.
    this.#toScreen(Buffer.from([1]));
    for (;;) {
      const [kind] = yield 1;
      if (kind === 0) yield* this.#pixelFormat();
      else if (kind === 2) yield* this.#encodings();
      else if (kind === 3) {
        this.#is_asked = true;
        this.#toScreen(Buffer.concat([Buffer.from([3]), yield 9]));
      } else if (kind === 4) {
        const rest = yield 7;
        this.#hearKey(rest.readUInt32BE(3), rest[0] !== 0);
      } else if (kind === 5) {
        const rest = yield 5;
        this.#hearPointer(rest.readUInt8(0), rest.readUInt16BE(1), rest.readUInt16BE(3));
      } else if (kind === 6) {
        yield* this.#viewerText();
      } else if (kind === 255) {
        // QEMU extended key event: the keysym is passed to the VNC server, the keycode is not.
        const rest = yield 11;
        if (rest[0] !== 0) throw new Malformed('A message of the page is not known.');
        this.#hearKey(rest.readUInt32BE(3), rest.readUInt16BE(1) !== 0);
      } else {
        throw new Malformed(`A message of the page is not known (${kind}).`);
      }
    }
  }

  /** Passes `length` bytes to the viewer in chunks. */
  *#pass(length: number): Parser {
    for (let left = length; left > 0; ) {
      const piece = yield -Math.min(left, LONGEST.piece);
      left -= piece.length;
      this.#toViewer(piece);
    }
  }

  *#skip(length: number): Parser {
    for (let left = length; left > 0; ) left -= (yield -Math.min(left, LONGEST.piece)).length;
  }

  /** Passes one rectangle. @returns whether it is a LastRect marker, which ends the update */
  *#rectangle(): Generator<number, boolean, Buffer> {
    const head = yield 12;
    const [width, height, encoding] = [head.readUInt16BE(4), head.readUInt16BE(6), head.readInt32BE(8)];
    if (width > LONGEST.side || height > LONGEST.side) throw new Malformed('A part of the picture is too large.');
    this.#toViewer(head);
    const pixels = width * height * this.#bytes_per_pixel;
    switch (encoding) {
      case RAW:
        yield* this.#pass(pixels);
        return false;
      case COPY_RECT:
        yield* this.#pass(4);
        return false;
      case CURSOR:
        yield* this.#pass(pixels + Math.ceil(width / 8) * height);
        return false;
      case ZLIB:
      case ZRLE: {
        const length = yield 4;
        if (length.readUInt32BE(0) > LONGEST.rectangle) throw new Malformed('A part of the picture is too large.');
        this.#toViewer(length);
        yield* this.#pass(length.readUInt32BE(0));
        return false;
      }
      case DESKTOP_SIZE:
        this.#size = { width, height };
        return false;
      case LAST_RECT:
        return true;
      default:
        throw new Malformed(`The VNC server sends a picture in a way that nobody asked for (${encoding}).`);
    }
  }

  *#screenText(): Parser {
    const head = yield 7;
    const length = head.readInt32BE(3);
    if (length < 0 && !this.#is_extended)
      throw new Malformed('The VNC server sends the clipboard in a way that nobody asked for.');
    // Too long a text in the computer's clipboard is skipped, and does not end the connection.
    if (Math.abs(length) > LONGEST.text) return yield* this.#skip(Math.abs(length));
    const message = this.#textMessage(3, head, yield Math.abs(length));
    if (message !== undefined) this.#toViewer(message);
  }

  *#reason(): Generator<number, string, Buffer> {
    const length = (yield 4).readUInt32BE(0);
    return (yield Math.min(length, LONGEST.reason)).toString('latin1');
  }

  *#signIn(): Parser {
    const minor = Number(VERSION_OF_SERVER.exec((yield 12).toString('latin1'))?.[1] ?? Number.NaN);
    if (!(minor >= 8)) throw new Malformed('The VNC server speaks no RFB of version 3.8.');
    this.#toScreen(VERSION);
    const count = (yield 1).readUInt8(0);
    if (count === 0) throw new Malformed(`The VNC server refuses: ${yield* this.#reason()}`);
    const ways = yield count;
    const way = ways.includes(NONE) ? NONE : VNC_AUTH;
    if (way === VNC_AUTH && (!ways.includes(VNC_AUTH) || this.#parts.password === undefined))
      throw new Malformed('The VNC server asks for a password that this agent does not know.');
    this.#toScreen(Buffer.from([way]));
    if (way === VNC_AUTH) this.#toScreen(answerChallenge(yield 16, this.#parts.password ?? ''));
    if ((yield 4).readUInt32BE(0) !== 0) throw new Malformed(`The VNC server refuses: ${yield* this.#reason()}`);
  }

  *#screen(): Parser {
    yield* this.#signIn();
    this.#feedViewer = createFeeder(this.#viewer());
    const init = yield 24;
    if (!this.#is_greeted) throw new Malformed('The VNC server spoke before it was spoken to.');
    this.#size = { width: init.readUInt16BE(0), height: init.readUInt16BE(2) };
    this.#bytes_per_pixel = Math.max(1, init.readUInt8(4) / 8);
    const length = init.readUInt32BE(20);
    if (length > LONGEST.name) throw new Malformed('The name of the screen is too long.');
    this.#toViewer(Buffer.concat([init, yield length]));
    for (;;) {
      const kind = yield 1;
      if (kind[0] === 0) {
        const head = yield 3;
        this.#toViewer(Buffer.concat([kind, head]));
        for (let left = head.readUInt16BE(1); left > 0; left -= 1) if (yield* this.#rectangle()) break;
      } else if (kind[0] === 1) {
        const head = yield 5;
        this.#toViewer(Buffer.concat([kind, head]));
        yield* this.#pass(head.readUInt16BE(3) * 6);
      } else if (kind[0] === 2) {
        this.#toViewer(kind);
      } else if (kind[0] === 3) {
        yield* this.#screenText();
      } else {
        throw new Malformed(`A message of the VNC server is not known (${kind[0]}).`);
      }
    }
  }

  #guarded(feed: (bytes: Buffer) => void, bytes: Buffer): void {
    if (this.#is_over) return;
    try {
      feed(bytes);
    } catch (error) {
      this.#is_over = true;
      if (!(error instanceof Malformed)) throw error;
      this.#letGo();
      this.#parts.onMalformed(error.message);
    }
  }

  fromScreen(bytes: Buffer): void {
    this.#guarded(this.#feedScreen, bytes);
  }

  fromViewer(bytes: Buffer): void {
    this.#guarded((piece) => {
      if (this.#feedViewer === undefined) throw new Malformed('The page spoke before it was spoken to.');
      this.#feedViewer(piece);
    }, bytes);
  }

  allow(next: Allowed): void {
    if (this.#allowed.input && !next.input) this.#letGo();
    this.#allowed = { ...next };
  }
}
