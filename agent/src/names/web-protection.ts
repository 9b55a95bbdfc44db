import { randomBytes } from 'node:crypto';
import type { WebProtectionState } from '@palisade/contract/agent';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import type { Store } from '#agent/store.ts';
import { type Forwarder, PROBE_DOMAIN } from './forwarder.ts';
import type { SystemNames } from './system-names.ts';
import { NAMES_ADDRESS } from './way.ts';

/** The key of this device while its user wants web protection. It is stored on disk. */
export const wishSchema = z.object({ key: z.string() });
export type Wish = z.infer<typeof wishSchema>;

/** Name resolution must work within this time after the change of settings; otherwise the previous settings are restored. In ms. */
const TRIAL_MS = 2_000;
const BETWEEN_MS = 50;
/** Delay before a retry after a refusal or failure, in ms. A computer without name resolution is retried at the next check. */
const RETRY_MS = 10 * 60_000;
/** After this time without queries, a check sends a test query to the server. In ms. */
const IDLE_MS = 5 * 60_000;
/** Consecutive checks without a query at the agent before it acts. */
const MISSES = 2;
const NO_NAMES = 'Names don’t work on this computer now. Web protection starts once they do.';

export interface WebProtectionParts {
  system: Pick<SystemNames, 'way' | 'takeUp' | 'giveBack' | 'isTaken'>;
  forwarder: Pick<Forwarder, 'works' | 'lookAtServer' | 'absent'>;
  store: Store<Wish>;
  /** Sets the key that queries to the server carry. */
  setKey: (key: string) => void;
  /** Starts to listen for DNS queries. @throws Error if the address is in use */
  listen: () => Promise<{ close(): Promise<void> }>;
  /** Resolves a name with the system's resolver within a time limit. Returns its address, or undefined. */
  lookUp: (name: string, within_ms: number) => Promise<string | undefined>;
  wait: (ms: number) => Promise<void>;
  log: (line: string) => void;
  now?: () => number;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Web protection of this computer: redirects DNS queries to the agent on trial, checks that they still arrive, and restores the previous settings. */
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

  /** Runs work in sequence, after all earlier work. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => undefined);
    return done;
  }

  /** Restores the settings that a killed agent left behind, and turns web protection on again if the user wants it. */
  start(): Promise<void> {
    return this.inTurn(async () => {
      await this.giveBack();
      this.wish = await this.parts.store.read();
      if (this.wish !== undefined) await this.take(this.wish);
    });
  }

  /** Turns web protection on with a key, or off for null. @returns whether the wish has changed */
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
      // Stored before the settings change: if the write fails, web protection is not turned on.
      await this.parts.store.write(wish);
    } catch (error) {
      return this.fail(`This computer couldn’t keep the setting: ${messageOf(error)}.`, RETRY_MS);
    }
    if (this.is_on) this.parts.setKey(wish.key);
    else await this.take(wish);
  }

  /** Checks that queries still reach the agent, and retries after a failure. */
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

  /** Restores the previous settings and stops listening. The wish stays stored for the next start. */
  close(): Promise<void> {
    return this.inTurn(() => this.end());
  }

  /** Null while web protection is not wanted, and before its first result. */
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

  /** Whether queries reach the agent: resolves a random name, which no cache holds and only the agent answers. */
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

  /** Handles queries that no longer reach the agent. If another program changed the settings, they stay as they are. */
  private async putRight(wish: Wish): Promise<void> {
    const is_taken = this.parts.system.isTaken();
    await this.end();
    if (is_taken) await this.take(wish);
    else
      this.fail('Another program changed what this computer asks for names. Web protection tries again in 10 minutes.', RETRY_MS);
  }

  /** Restores the settings before the agent stops listening, so that name resolution works throughout. */
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
