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
import { LOGIND_FOLDER, type LoginSession, readActiveSession } from './login-session.ts';
import { type Gate, RfbGate } from './rfb-gate.ts';
import { findVnc, type Vnc } from './vnc.ts';
import { watchPointer } from './x-pointer.ts';

/** What is granted of this computer's screen; null for nothing. */
export type Granted = Desired['control'];

export interface Control {
  /** From now on. */
  want(granted: Granted): void;
  close(): void;
}

const HANDSHAKE_MS = 10_000;
/** How often the active login session is looked at while a screen is shown. ms. */
const LOGIN_EVERY_MS = 500;
const AGAIN_MS = { least: 100, most: 10_000 };
/** How often it is asked where the pointer is, and how far it is moved when its person did, in ms and pixels. */
const POINTER = { every_ms: 20, far: 3, kept: 64 };

const isNear = (one: { x: number; y: number }, other: { x: number; y: number }) =>
  Math.abs(one.x - other.x) <= POINTER.far && Math.abs(one.y - other.y) <= POINTER.far;

/** Whatever a server sends, the agent goes on. */
function isPaired(text: string): boolean {
  try {
    return pairedSchema.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

/**
 * Tells when somebody else than the technician moves the pointer: it is where nobody put it from afar. Armed by the technician's first input, since until then nothing is
 * to be taken back.
 */
function createOwnHand(): {
  put(at: { x: number; y: number } | undefined): void;
  /** Whether its person moved it. */
  sees(at: { x: number; y: number }): boolean;
} {
  let is_armed = false;
  let puts: { x: number; y: number }[] = [];
  let seen: { x: number; y: number } | undefined;
  return {
    put(at) {
      is_armed = true;
      if (at !== undefined) puts = [...puts, at].slice(-POINTER.kept);
    },
    sees(at) {
      const before = seen;
      seen = at;
      if (before === undefined || isNear(before, at)) return false;
      const place = puts.findLastIndex((put) => isNear(put, at));
      // The pointer comes by where it was put, in that order: what is behind it is over.
      if (place >= 0) puts = puts.slice(place);
      return is_armed && place < 0;
    },
  };
}

/** Lets the technician of a remote session see and control this computer, as far as its person grants: dials the server, and passes on what the gate lets through. */
export function createControl(parts: {
  server: URL;
  identity: { device_id: string; token: string };
  lookup: LookupFunction;
  /** A folder that is the agent's alone. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** The folder of logind's records. */
  logind?: string;
}): Control {
  const { server, identity, lookup, folder, environment, log, logind = LOGIND_FOLDER } = parts;
  /** The login session that was active when the remote session was granted: its desktop is the only one that this grant shows. */
  let consent: { session_id: string; login: Promise<LoginSession | undefined> } | undefined;
  let granted: Granted = null;
  let dialled: { session_id: string; end: () => void; allow: (granted: NonNullable<Granted>) => void } | undefined;
  let redial: NodeJS.Timeout | undefined;
  let failures = 0;

  function dial({ session_id }: NonNullable<Granted>): void {
    const url = addressOf(server, SCREEN_PATH);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(url, {
      ...{ maxPayload: RFB_FRAME_BYTES, perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS, lookup },
    });
    let gate: Gate | undefined;
    let vnc: Vnc | undefined;
    let stopPointer: (() => void) | undefined;
    let looking: NodeJS.Timeout | undefined;
    let is_over = false;

    const allowed = () => ({ input: granted?.input === true, clipboard: granted?.clipboard === true });

    function end(code: number = RFB_CLOSED.going_away): void {
      if (is_over) return;
      is_over = true;
      gate?.allow({ input: false, clipboard: false });
      stopPointer?.();
      clearInterval(looking);
      vnc?.stop();
      socket.close(code === RFB_CLOSED.going_away ? 1000 : code);
      setTimeout(() => socket.terminate(), 500).unref();
    }

    /** The agent ends it: what was granted is granted no longer, and why is told to both sides. */
    function give(why: ScreenEnds['why'], detail: string | null): void {
      if (is_over) return;
      log(`remote control ends: ${detail ?? why}`);
      const said: ScreenEnds = { kind: 'ends', why, detail: detail?.slice(0, 300) ?? null };
      socket.send(JSON.stringify(said));
      // Until the server says anew that it is granted, it is not.
      granted = null;
      end();
    }

    function toViewer(bytes: Buffer): void {
      for (let at = 0; at < bytes.length; at += RFB_FRAME_BYTES) socket.send(bytes.subarray(at, at + RFB_FRAME_BYTES), passed);
      if (socket.bufferedAmount > RFB_WAITING_BYTES) vnc?.stream.pause();
    }
    function passed(): void {
      if (vnc?.stream.isPaused() === true && socket.bufferedAmount < RFB_WAITING_BYTES / 2) vnc.stream.resume();
    }

    async function begin(): Promise<void> {
      const login = await consent?.login;
      const desktop: Desktop = await findDesktop(environment, login);
      const found = await findVnc(desktop, { folder, path: environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin' });
      if (is_over) return;
      if ('missing' in found) return give('unavailable', found.missing);
      const opened = await found.open();
      vnc = opened;
      if (is_over) return opened.stop();
      if (login !== undefined) looking = setInterval(() => void stayWith(login), LOGIN_EVERY_MS);
      const hand = createOwnHand();
      const made = new RfbGate({
        allowed: allowed(),
        toViewer,
        toScreen(bytes) {
          if (!opened.stream.write(bytes)) socket.pause();
        },
        onMalformed: (reason) => give('malformed', reason),
        onInput: hand.put,
      });
      gate = made;
      // The first bytes of an X11 VNC server wait until it is known that it reached the right X server.
      let held: Buffer[] | undefined = desktop.kind === 'x11' ? [] : undefined;
      opened.stream.on('data', (bytes: Buffer) => {
        if (held === undefined) return made.fromScreen(bytes);
        held.push(bytes);
        if (held.length > 1 || desktop.kind !== 'x11') return;
        opened.stream.pause();
        void isDisplayOf(desktop.display, {
          uid: desktop.uid,
          display: login === undefined ? desktop.display : login.display,
        }).then((is_right) => {
          if (is_over) return;
          // Another user may have taken the name of the display while the VNC server started.
          if (!is_right) return give('unavailable', 'The screen of this computer is not the one of the signed-in person.');
          const pieces = held ?? [];
          held = undefined;
          for (const piece of pieces) made.fromScreen(piece);
          opened.stream.resume();
        });
      });
      opened.stream.on('drain', () => socket.resume());
      opened.stream.on('error', () => {});
      opened.stream.on('close', () => give('unavailable', 'The VNC server on this computer ended.'));
      if (desktop.kind !== 'x11') return;
      stopPointer = watchPointer(desktop, {
        every_ms: POINTER.every_ms,
        onPointer(at) {
          if (hand.sees(at) && allowed().input) give('own_input', null);
        },
        // Without it, a person’s own mouse could not take control back.
        onFailure: (reason) => give('unavailable', `Control ended because the pointer cannot be watched. ${reason}`),
      });
    }

    /** Ends it when the session that gave consent is no longer the active one. */
    async function stayWith({ id, uid }: LoginSession): Promise<void> {
      const now = await readActiveSession(logind);
      if (now?.id !== id || now.uid !== uid)
        give('unavailable', 'The person who allowed this is no longer the active user of this computer.');
    }

    socket.on('open', () => socket.send(JSON.stringify({ kind: 'hello', ...identity, session_id })));
    socket.on('message', (bytes: Buffer, is_binary) => {
      if (is_over) return;
      if (is_binary) {
        gate?.fromViewer(bytes);
        return;
      }
      if (!isPaired(bytes.toString()) || vnc !== undefined) return end(RFB_CLOSED.malformed);
      failures = 0;
      begin().catch((error: unknown) => give('unavailable', error instanceof Error ? error.message : String(error)));
    });
    socket.on('error', (error) => log(`remote control: ${error.message}`));
    socket.on('close', (code) => {
      end();
      if (dialled !== mine) return;
      dialled = undefined;
      if (granted?.session_id !== session_id || code === RFB_CLOSED.not_granted) return;
      failures = code === RFB_CLOSED.again ? 0 : failures + 1;
      redial = setTimeout(look, Math.min(AGAIN_MS.most, AGAIN_MS.least * 2 ** failures));
    });
    const mine = { session_id, end, allow: (next: NonNullable<Granted>) => gate?.allow(next) };
    dialled = mine;
  }

  function look(): void {
    clearTimeout(redial);
    if (dialled !== undefined && dialled.session_id !== granted?.session_id) {
      const { end } = dialled;
      dialled = undefined;
      end();
    }
    if (granted === null) return;
    if (dialled === undefined) dial(granted);
    else dialled.allow(granted);
  }

  return {
    want(next) {
      granted = next;
      if (next === null) consent = undefined;
      else if (consent?.session_id !== next.session_id)
        consent = { session_id: next.session_id, login: readActiveSession(logind) };
      look();
    },
    close() {
      granted = null;
      look();
    },
  };
}
