import { randomBytes } from 'node:crypto';
import type { WebProtectionState } from '@palisade/contract/agent';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import type { Store } from '#agent/store.ts';
import { type Forwarder, PROBE_DOMAIN } from './forwarder.ts';
import type { SystemNames } from './system-names.ts';
import { NAMES_ADDRESS } from './way.ts';

/** The key of this device, while its person wants web protection on it. Kept over restarts. */
export const wishSchema = z.object({ key: z.string() });
export type Wish = z.infer<typeof wishSchema>;

/** Names must work so soon after they were taken up, else the settings from before come back. ms. */
const TRIAL_MS = 2_000;
const BETWEEN_MS = 50;
/** A refusal or failure is tried again after this time, and a computer without names with the next look. ms. */
const RETRY_MS = 10 * 60_000;
/** The server is asked where no program has asked for this long. ms. */
const IDLE_MS = 5 * 60_000;
/** Looks in a row that found the agent not asked. */
const MISSES = 2;
const NO_NAMES = 'Names don’t work on this computer now. Web protection starts once they do.';

export interface WebProtectionParts {
  system: Pick<SystemNames, 'way' | 'takeUp' | 'giveBack' | 'isTaken'>;
  forwarder: Pick<Forwarder, 'works' | 'lookAtServer' | 'absent'>;
  store: Store<Wish>;
  /** Says whose names are asked. */
  setKey: (key: string) => void;
  /** Begins to answer. @throws Error where the address is taken */
  listen: () => Promise<{ close(): Promise<void> }>;
  /** Asks for a name as every program of the system does, within a time. Its address, or undefined. */
  lookUp: (name: string, within_ms: number) => Promise<string | undefined>;
  wait: (ms: number) => Promise<void>;
  log: (line: string) => void;
  now?: () => number;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Web protection of this computer: takes up its names on trial, looks whether they still come here, and gives them back. */
export class WebProtection {
  private readonly parts: WebProtectionParts;
  private readonly now: () => number;
  private wish: Wish | undefined;
  private listener: { close(): Promise<void> } | undefined;
  private failure: { reason: string; retry_at: number } | undefined;
  private is_on = false;
  private misses = 0;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(parts: WebProtectionParts) {
    this.parts = parts;
    this.now = parts.now ?? (() => performance.now());
  }

  /** One thing at a time. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => undefined);
    return done;
  }

  /** Undoes the settings of an agent that was killed, and takes names up again where its person wants that. */
  start(): Promise<void> {
    return this.inTurn(async () => {
      await this.giveBack();
      this.wish = await this.parts.store.read();
      if (this.wish !== undefined) await this.take(this.wish);
    });
  }

  /** The server says whether web protection is wanted, and by which key. Whether that is new. */
  want(wish: Wish | null): Promise<boolean> {
    return this.inTurn(async () => {
      if (wish?.key === this.wish?.key) return false;
      await (wish === null ? this.turnOff() : this.turnOn(wish));
      return true;
    });
  }

  private async turnOff(): Promise<void> {
    await this.end();
    this.wish = undefined;
    this.failure = undefined;
    await this.parts.store.remove();
    this.parts.log('web protection: off');
  }

  private async turnOn(wish: Wish): Promise<void> {
    this.wish = wish;
    try {
      // Before anything is changed: what could not be kept on the disk is not taken up.
      await this.parts.store.write(wish);
    } catch (error) {
      return this.fail(`This computer couldn’t keep the setting: ${messageOf(error)}.`, RETRY_MS);
    }
    if (this.is_on) this.parts.setKey(wish.key);
    else await this.take(wish);
  }

  /** Looks whether names still come here, and tries again what failed. */
  check(): Promise<void> {
    return this.inTurn(async () => {
      const { wish } = this;
      if (wish === undefined) return;
      if (!this.is_on) {
        if (this.failure === undefined || this.now() >= this.failure.retry_at) await this.take(wish);
        return;
      }
      await this.parts.forwarder.lookAtServer(IDLE_MS);
      if (await this.isAsked()) this.misses = 0;
      else if (++this.misses >= MISSES) await this.putRight(wish);
    });
  }

  /** Gives names back, and stops answering. The wish stays for the next start. */
  close(): Promise<void> {
    return this.inTurn(() => this.end());
  }

  /** Null while nobody wants it. */
  state(): WebProtectionState | null {
    if (this.wish === undefined) return null;
    if (!this.is_on) return this.failure === undefined ? null : { state: 'failed', reason: this.failure.reason };
    const absence = this.parts.forwarder.absent();
    return absence === undefined ? { state: 'on', reason: null } : { state: 'open', reason: lineOf(absence, 300) };
  }

  private fail(reason: string, retry_ms: number): void {
    if (this.failure?.reason !== reason) this.parts.log(`web protection: ${reason}`);
    this.failure = { reason: lineOf(reason, 300), retry_at: this.now() + retry_ms };
  }

  /** Asks the system for a name that only the agent answers; a new one each time, which no cache has. */
  private async isAsked(): Promise<boolean> {
    const until = this.now() + TRIAL_MS;
    do {
      const name = `${randomBytes(8).toString('hex')}.${PROBE_DOMAIN}`;
      if ((await this.parts.lookUp(name, Math.max(until - this.now(), 1))) === NAMES_ADDRESS) return true;
      await this.parts.wait(BETWEEN_MS);
    } while (this.now() < until);
    return false;
  }

  private async take({ key }: Wish): Promise<void> {
    const { system, forwarder, listen, setKey, log } = this.parts;
    this.failure = undefined;
    const way = system.way();
    if (way.kind === 'refused') return this.fail(way.reason, RETRY_MS);
    try {
      this.listener ??= await listen();
    } catch (error) {
      return this.fail(`Web protection can’t answer names at ${NAMES_ADDRESS}: ${messageOf(error)}.`, RETRY_MS);
    }
    setKey(key);
    if (!(await forwarder.works())) {
      await this.stopListening();
      return this.fail(NO_NAMES, 0);
    }
    let reason = 'names did not work within 2 seconds';
    try {
      await system.takeUp();
      if (await this.isAsked()) {
        this.is_on = true;
        this.misses = 0;
        return log('web protection: on');
      }
    } catch (error) {
      reason = messageOf(error);
    }
    await this.end();
    this.fail(`Web protection couldn’t be turned on: ${reason}. This computer asks for names as before.`, RETRY_MS);
  }

  /** Names do not come here any more. A file that another program wrote stays as it is. */
  private async putRight(wish: Wish): Promise<void> {
    const is_taken = this.parts.system.isTaken();
    await this.end();
    if (is_taken) await this.take(wish);
    else
      this.fail('Another program changed what this computer asks for names. Web protection tries again in 10 minutes.', RETRY_MS);
  }

  /** Gives the settings back before it stops listening, so that names work throughout. */
  private async end(): Promise<void> {
    this.is_on = false;
    await this.giveBack();
    await this.stopListening();
  }

  private async giveBack(): Promise<void> {
    await this.parts.system.giveBack().catch((error: unknown) => {
      this.parts.log(`web protection: what was asked for names before could not be put back: ${messageOf(error)}`);
    });
  }

  private async stopListening(): Promise<void> {
    const { listener } = this;
    this.listener = undefined;
    await listener?.close();
  }
}
