import type { LookupFunction } from 'node:net';
import type { Desired } from '@palisade/contract/agent';
import {
  pairedSchema,
  RFB_CLOSED,
  RFB_FRAME_BYTES,
  RFB_WAITING_BYTES,
  SCREEN_PATH,
  type ScreenEnds,
} from '@palisade/contract/remote-control';
import { WebSocket } from 'ws';
import { addressOf } from '#link/call.ts';
import { type Desktop, findDesktop, isDisplayOf } from './desktop.ts';
import { type LoginSession, readActiveSession } from './login-session.ts';
import { OwnPointer } from './own-pointer.ts';
import { type Gate, RfbGate } from './rfb-gate.ts';
import { findVnc, type Vnc } from './vnc.ts';
import { watchPointer } from './x-pointer.ts';

/** The grant for this computer's screen; null if there is none. */
export type Granted = Desired['control'];

const HANDSHAKE_MS = 10_000;
/** Interval of checks of the active login session while a screen is shown, in ms. */
const LOGIN_EVERY_MS = 500;
/** Interval at which the position of the pointer is read, in ms. */
const POINTER_EVERY_MS = 20;
const DETAIL_LENGTH = 300;
const NOTHING_ALLOWED = { input: false, clipboard: false };

export interface ScreenConnectionParts {
  server: URL;
  identity: { device_id: string; token: string };
  lookup: LookupFunction;
  /** A folder that only the agent can enter. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  /** The folder of logind's state files. */
  logind: string;
  log: (line: string) => void;
  /** The login session that was active when the remote session was granted. */
  login: () => Promise<LoginSession | undefined> | undefined;
  granted: () => Granted;
  /** Called when the server has paired this connection with the technician's. */
  onPaired: () => void;
  /** Called when the agent ends the grant: nothing is allowed until the server grants it again. */
  onEnds: () => void;
  onClose: (code: number) => void;
}

function isPaired(text: string): boolean {
  try {
    return pairedSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

function dial({ server, lookup }: ScreenConnectionParts): WebSocket {
  const url = addressOf(server, SCREEN_PATH);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return new WebSocket(url, {
    maxPayload: RFB_FRAME_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: HANDSHAKE_MS,
    lookup,
  });
}

/** One connection to the server for one remote session. It opens a VNC server for the desktop and relays between both through the gate. */
export class ScreenConnection {
  readonly session_id: string;
  readonly #parts: ScreenConnectionParts;
  readonly #socket: WebSocket;
  readonly #own_pointer = new OwnPointer();
  #gate: Gate | undefined;
  #vnc: Vnc | undefined;
  #stopPointer: (() => void) | undefined;
  #login_timer: NodeJS.Timeout | undefined;
  #is_over = false;

  constructor(parts: ScreenConnectionParts, session_id: string) {
    this.session_id = session_id;
    this.#parts = parts;
    this.#socket = dial(parts);
    this.#socket.on('open', () => this.#socket.send(JSON.stringify({ kind: 'hello', ...parts.identity, session_id })));
    this.#socket.on('message', (bytes: Buffer, is_binary) => this.#hear(bytes, is_binary));
    this.#socket.on('error', (error) => parts.log(`remote control: ${error.message}`));
    this.#socket.on('close', (code) => {
      this.end();
      parts.onClose(code);
    });
  }

  allow(granted: NonNullable<Granted>): void {
    this.#gate?.allow(granted);
  }

  end(code: number = RFB_CLOSED.going_away): void {
    if (this.#is_over) return;
    this.#is_over = true;
    this.#gate?.allow(NOTHING_ALLOWED);
    this.#stopPointer?.();
    clearInterval(this.#login_timer);
    this.#vnc?.stop();
    this.#socket.close(code === RFB_CLOSED.going_away ? 1000 : code);
    setTimeout(() => this.#socket.terminate(), 500).unref();
  }

  /** Ends the grant, sends the reason to the server, and closes the connection. */
  #give(why: ScreenEnds['why'], detail: string | null): void {
    if (this.#is_over) return;
    this.#parts.log(`remote control ends: ${detail ?? why}`);
    const said: ScreenEnds = { kind: 'ends', why, detail: detail?.slice(0, DETAIL_LENGTH) ?? null };
    this.#socket.send(JSON.stringify(said));
    this.#parts.onEnds();
    this.end();
  }

  #hear(bytes: Buffer, is_binary: boolean): void {
    if (this.#is_over) return;
    if (is_binary) {
      this.#gate?.fromViewer(bytes);
      return;
    }
    if (!isPaired(bytes.toString()) || this.#vnc !== undefined) {
      this.end(RFB_CLOSED.malformed);
      return;
    }
    this.#parts.onPaired();
    this.#begin().catch((error: unknown) => this.#give('unavailable', error instanceof Error ? error.message : String(error)));
  }

  /** Finds the desktop, opens its VNC server, and connects the two sides. */
  async #begin(): Promise<void> {
    const { folder, environment } = this.#parts;
    const login = await this.#parts.login();
    const desktop = await findDesktop(environment, login);
    const found = await findVnc(desktop, { folder, path: environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' });
    if (this.#is_over) return;
    if ('missing' in found) return this.#give('unavailable', found.missing);
    const vnc = await found.open();
    this.#vnc = vnc;
    if (this.#is_over) return vnc.stop();
    if (login !== undefined) this.#login_timer = setInterval(() => void this.#stayWith(login), LOGIN_EVERY_MS);
    this.#connect(vnc, desktop, login);
    if (desktop.kind === 'x11') this.#watchPointer(desktop);
  }

  #connect(vnc: Vnc, desktop: Desktop, login: LoginSession | undefined): void {
    const { stream } = vnc;
    const gate = new RfbGate({
      allowed: this.#allowed(),
      toViewer: (bytes) => this.#toViewer(bytes),
      toScreen: (bytes) => {
        if (!stream.write(bytes)) this.#socket.pause();
      },
      onMalformed: (reason) => this.#give('malformed', reason),
      onInput: (at) => this.#own_pointer.put(at),
    });
    this.#gate = gate;
    // The first bytes of an X11 VNC server are held back until the owner of its X server is checked.
    let held: Buffer[] | undefined = desktop.kind === 'x11' ? [] : undefined;
    stream.on('data', (bytes: Buffer) => {
      if (held === undefined) return gate.fromScreen(bytes);
      held.push(bytes);
      if (held.length > 1 || desktop.kind !== 'x11') return;
      stream.pause();
      const display = login === undefined ? desktop.display : login.display;
      void isDisplayOf(desktop.display, { uid: desktop.uid, display }).then((is_right) => {
        if (this.#is_over) return;
        // Another user may have bound the display's socket while the VNC server started.
        if (!is_right) return this.#give('unavailable', 'The screen of this computer is not the one of the signed-in person.');
        const waiting = held ?? [];
        held = undefined;
        for (const chunk of waiting) gate.fromScreen(chunk);
        stream.resume();
      });
    });
    stream.on('drain', () => this.#socket.resume());
    stream.on('error', () => {});
    stream.on('close', () => this.#give('unavailable', 'The VNC server on this computer ended.'));
  }

  #watchPointer(desktop: Extract<Desktop, { kind: 'x11' }>): void {
    this.#stopPointer = watchPointer(desktop, {
      every_ms: POINTER_EVERY_MS,
      onPointer: (at) => {
        if (this.#own_pointer.sees(at) && this.#allowed().input) this.#give('own_input', null);
      },
      // Without the pointer's position, the user could not take control back by moving the mouse.
      onFailure: (reason) => this.#give('unavailable', `Control ended because the pointer cannot be watched. ${reason}`),
    });
  }

  #allowed(): { input: boolean; clipboard: boolean } {
    const granted = this.#parts.granted();
    return { input: granted?.input === true, clipboard: granted?.clipboard === true };
  }

  #toViewer(bytes: Buffer): void {
    const sent = () => this.#resumeScreen();
    for (let at = 0; at < bytes.length; at += RFB_FRAME_BYTES) this.#socket.send(bytes.subarray(at, at + RFB_FRAME_BYTES), sent);
    if (this.#socket.bufferedAmount > RFB_WAITING_BYTES) this.#vnc?.stream.pause();
  }

  #resumeScreen(): void {
    const stream = this.#vnc?.stream;
    if (stream?.isPaused() === true && this.#socket.bufferedAmount < RFB_WAITING_BYTES / 2) stream.resume();
  }

  /** Ends the grant when the login session that gave consent is no longer the active one. */
  async #stayWith({ id, uid }: LoginSession): Promise<void> {
    const now = await readActiveSession(this.#parts.logind);
    if (now?.id !== id || now.uid !== uid)
      this.#give('unavailable', 'The person who allowed this is no longer the active user of this computer.');
  }
}
