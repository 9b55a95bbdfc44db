import type { LookupFunction } from 'node:net';
import { RFB_CLOSED } from '@palisade/contract/remote-control';
import { LOGIND_FOLDER, type LoginSession, readActiveSession } from './login-session.ts';
import { type Granted, ScreenConnection } from './screen-connection.ts';

const AGAIN_MS = { least: 100, most: 10_000 };

export interface ControlParts {
  server: URL;
  identity: { device_id: string; token: string };
  lookup: LookupFunction;
  /** A folder that is the agent's alone. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** The folder of logind's records. */
  logind?: string;
}

/** Lets the technician of a remote session see and control this computer, as far as its person grants it: dials the server, and again after a lost connection. */
export class Control {
  readonly #parts: Required<ControlParts>;
  /** The login session that was active when the remote session was granted: its desktop is the only one that this grant shows. */
  #consent: { session_id: string; login: Promise<LoginSession | undefined> } | undefined;
  #granted: Granted = null;
  #connection: ScreenConnection | undefined;
  #redial_timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(parts: ControlParts) {
    this.#parts = { logind: LOGIND_FOLDER, ...parts };
  }

  /** Uses these grants from now on. */
  want(granted: Granted): void {
    this.#granted = granted;
    if (granted === null) this.#consent = undefined;
    else if (this.#consent?.session_id !== granted.session_id)
      this.#consent = { session_id: granted.session_id, login: readActiveSession(this.#parts.logind) };
    this.#follow();
  }

  close(): void {
    this.#granted = null;
    this.#follow();
  }

  /** Ends the connection of another session, and dials for the granted one. */
  #follow(): void {
    clearTimeout(this.#redial_timer);
    const granted = this.#granted;
    if (this.#connection !== undefined && this.#connection.session_id !== granted?.session_id) {
      const ended = this.#connection;
      this.#connection = undefined;
      ended.end();
    }
    if (granted === null) return;
    if (this.#connection === undefined) this.#dial(granted.session_id);
    else this.#connection.allow(granted);
  }

  #dial(session_id: string): void {
    const connection = new ScreenConnection(
      {
        ...this.#parts,
        login: () => this.#consent?.login,
        granted: () => this.#granted,
        onPaired: () => {
          this.#failures = 0;
        },
        onEnds: () => {
          this.#granted = null;
        },
        onClose: (code) => this.#onClose(connection, code),
      },
      session_id,
    );
    this.#connection = connection;
  }

  #onClose(connection: ScreenConnection, code: number): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (this.#granted?.session_id !== connection.session_id || code === RFB_CLOSED.not_granted) return;
    this.#failures = code === RFB_CLOSED.again ? 0 : this.#failures + 1;
    const wait_ms = Math.min(AGAIN_MS.most, AGAIN_MS.least * 2 ** this.#failures);
    this.#redial_timer = setTimeout(() => this.#follow(), wait_ms);
  }
}
