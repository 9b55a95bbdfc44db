import type { LookupFunction } from 'node:net';
import { RFB_CLOSED } from '@palisade/contract/remote-control';
import { LOGIND_FOLDER, type LoginSession, readActiveSession } from './login-session.ts';
import { type Granted, ScreenConnection } from './screen-connection.ts';

const AGAIN_MS = { least: 100, most: 10_000 };

export interface ControlParts {
  server: URL;
  identity: { device_id: string; token: string };
  lookup: LookupFunction;
  /** A folder that only the agent can enter. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  log: (line: string) => void;
  /** The folder of logind's state files. */
  logind?: string;
}

/** Lets the technician of a remote session see and control this computer, as far as the user grants it. Connects to the server, and reconnects after a lost connection. */
export class Control {
  readonly #parts: Required<ControlParts>;
  /** The login session that was active at the time of the grant. The grant covers only the desktop of this login session. */
  #consent: { session_id: string; login: Promise<LoginSession | undefined> } | undefined;
  #granted: Granted = null;
  #connection: ScreenConnection | undefined;
  #redial_timer: NodeJS.Timeout | undefined;
  #failures = 0;

  constructor(parts: ControlParts) {
    this.#parts = { logind: LOGIND_FOLDER, ...parts };
  }

  /** Replaces the current grant. */
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

  /** Closes a connection of another remote session, and connects for the granted one. */
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
