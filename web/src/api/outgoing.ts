import { z } from 'zod';
import { randomUuid } from './browser.ts';
import { CallError, sentenceOf } from './call.ts';
import { onReconnected } from './connection.ts';
import { createListeners } from './listeners.ts';

/** A body that the server has not confirmed yet. */
export interface Outgoing<Body> {
  /** Created once in this browser. The server accepts a repeated id only once. */
  id: string;
  body: Body;
  /** Time of writing. */
  at: string;
  /** `waiting`: for its turn or for the connection. `failed`: refused, and sent again only on request. */
  state: 'waiting' | 'sending' | 'failed';
  /** The reason why it has not been sent. */
  sentence: string | undefined;
  /** Number of attempts by this page. */
  tries: number;
}

/** Whether an entry is being sent for the first time: no other entry is sent meanwhile. A repeated entry delays no other. */
export function isFirstTry(outgoing: readonly Outgoing<unknown>[]): boolean {
  return outgoing.some(({ state, tries }) => state === 'sending' && tries === 1);
}

interface OutgoingParts<Body, Sent> {
  /** Prefix of the storage keys, different for each person. */
  name: string;
  /** Parses stored entries, because another version of the app may have written them. */
  schema: z.ZodType<Body>;
  send: (body: Body, id: string) => Promise<Sent>;
  /** Shows the server's reply. The entry leaves the queue after it. */
  onSent: (sent: Sent) => Promise<void> | void;
}

export interface OutgoingQueue<Body> {
  subscribe: (listener: () => void) => () => void;
  /** Oldest first. Returns the same array until an entry changes. */
  read: () => readonly Outgoing<Body>[];
  /** Appends a body to the queue and returns its id. */
  add: (body: Body) => string;
  retry: (id: string) => void;
  /** Removes an entry and returns its body for the field. An entry that is being sent stays. */
  discard: (id: string) => Body | undefined;
  /** Stops sending; waiting entries stay in storage. */
  stop: () => void;
}

/** Delay after a failed send, in ms: doubles each time. */
const BACKOFF = { first: 2_000, most: 30_000 } as const;
/** Longest delay requested by the server that is waited out, in seconds; a longer one fails with its sentence. */
const PATIENCE = 60;

function keptSchema<Body>(body: z.ZodType<Body>) {
  return z.object({ body, at: z.string(), sentence: z.string().optional(), state: z.enum(['waiting', 'failed']) });
}

/** Delay until a new attempt, in seconds; undefined for a final refusal. 0 after a lost connection, for the next step of the backoff. */
function waitOf(error: unknown): number | undefined {
  if (!(error instanceof CallError)) return undefined;
  if (error.kind === 'network') return 0;
  if (error.status === 429 && error.retry_after !== undefined && error.retry_after <= PATIENCE) return error.retry_after;
  return undefined;
}

function storedKeys(): string[] {
  try {
    return Object.keys(localStorage);
  } catch {
    return [];
  }
}

/** Runs `act` in one tab at a time, to keep the order. Without the browser's locks two tabs may send the same entry; the server accepts it once. */
async function exclusively(name: string, act: () => Promise<void>): Promise<void> {
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) await act();
  else await locks.request(name, act);
}

/**
 * A queue of messages that the server has not confirmed yet. This browser stores them until then, so that neither a reload nor a lost connection loses them.
 * Sends them one after the other in the order of writing.
 */
export function createOutgoing<Body, Sent>(parts: OutgoingParts<Body, Sent>): OutgoingQueue<Body> {
  return new KeptQueue(parts);
}

/** Entries in the storage of this browser. If storage is blocked, an entry lives as long as the page. */
class Kept<Body> {
  readonly prefix: string;
  readonly #schema: ReturnType<typeof keptSchema<Body>>;

  constructor(name: string, schema: z.ZodType<Body>) {
    this.prefix = `palisade.outgoing.${name}.`;
    this.#schema = keptSchema(schema);
  }

  /** Oldest first. */
  readAll(): Outgoing<Body>[] {
    return storedKeys()
      .filter((key) => key.startsWith(this.prefix))
      .flatMap((key) => this.#read(key))
      .toSorted((one, other) => (one.at < other.at ? -1 : 1));
  }

  write({ id, body, at, state, sentence }: Outgoing<Body>): void {
    try {
      localStorage.setItem(
        this.prefix + id,
        JSON.stringify({ body, at, sentence, state: state === 'failed' ? state : 'waiting' }),
      );
    } catch {
      // Storage is blocked or full.
    }
  }

  has(id: string): boolean {
    try {
      return localStorage.getItem(this.prefix + id) !== null;
    } catch {
      return true;
    }
  }

  remove(id: string): void {
    try {
      localStorage.removeItem(this.prefix + id);
    } catch {
      // Storage is blocked, so it held no entry.
    }
  }

  /** The entry under a key; none if storage is blocked or corrupt. */
  #read(key: string): Outgoing<Body>[] {
    try {
      const read = this.#schema.safeParse(JSON.parse(localStorage.getItem(key) ?? '')).data;
      return read ? [{ ...read, id: key.slice(this.prefix.length), sentence: read.sentence, tries: 1 }] : [];
    } catch {
      return [];
    }
  }
}

class KeptQueue<Body, Sent> implements OutgoingQueue<Body> {
  readonly #parts: OutgoingParts<Body, Sent>;
  readonly #kept: Kept<Body>;
  readonly #listeners = createListeners();
  readonly #stopFollowing: () => void;
  #entries: readonly Outgoing<Body>[];
  #isPumping = false;
  #isStopped = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: OutgoingParts<Body, Sent>) {
    this.#parts = parts;
    this.#kept = new Kept(parts.name, parts.schema);
    this.#entries = this.#kept.readAll();
    this.#stopFollowing = onReconnected(() => {
      this.#failures = 0;
      this.#tryNow();
    });
    window.addEventListener('storage', this.#follow);
    void this.#pump();
  }

  // Stable functions, as `useSyncExternalStore` needs them.
  readonly subscribe = this.#listeners.subscribe;

  readonly read = () => this.#entries;

  add(body: Body): string {
    const entry = {
      id: randomUuid(),
      body,
      at: new Date().toISOString(),
      state: 'waiting',
      sentence: undefined,
      tries: 0,
    } as const;
    this.#kept.write(entry);
    this.#become([...this.#entries, entry]);
    // Entries that wait for the connection are sent first.
    if (this.#timer === undefined) void this.#pump();
    return entry.id;
  }

  retry(id: string): void {
    this.#change(id, { state: 'waiting', sentence: undefined });
    this.#tryNow();
  }

  discard(id: string): Body | undefined {
    const entry = this.#entries.find((known) => known.id === id);
    if (!entry || entry.state === 'sending') return undefined;
    this.#forget(id);
    return entry.body;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#stopFollowing();
    window.removeEventListener('storage', this.#follow);
  }

  #become(next: readonly Outgoing<Body>[]): void {
    this.#entries = next;
    this.#listeners.tell();
  }

  #change(id: string, to: Partial<Outgoing<Body>>): void {
    this.#become(
      this.#entries.map((entry) => {
        if (entry.id !== id) return entry;
        const changed = { ...entry, ...to };
        this.#kept.write(changed);
        return changed;
      }),
    );
  }

  #forget(id: string): void {
    this.#kept.remove(id);
    this.#become(this.#entries.filter((entry) => entry.id !== id));
  }

  /** @param seconds Delay requested by the server; 0 for the next step of the backoff. */
  #tryLater(seconds: number): void {
    clearTimeout(this.#timer);
    const backoff = Math.min(BACKOFF.most, BACKOFF.first * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer = setTimeout(() => this.#tryNow(), seconds > 0 ? seconds * 1_000 : backoff);
  }

  #tryNow(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#isPumping || this.#isStopped) return;
    this.#isPumping = true;
    await exclusively(this.#kept.prefix, () => this.#sendAll());
    this.#isPumping = false;
  }

  async #sendAll(): Promise<void> {
    let goesOn = true;
    while (goesOn && !this.#isStopped) {
      const next = this.#entries.find(({ state }) => state === 'waiting');
      if (!next) break;
      // An entry without its stored copy was sent or discarded by another tab.
      if (this.#kept.has(next.id)) goesOn = await this.#sendOne(next);
      else this.#forget(next.id);
    }
  }

  /** @returns whether the next entry may be sent at once */
  async #sendOne(entry: Outgoing<Body>): Promise<boolean> {
    this.#change(entry.id, { state: 'sending', sentence: undefined, tries: entry.tries + 1 });
    try {
      const sent = await this.#parts.send(entry.body, entry.id);
      this.#failures = 0;
      await this.#parts.onSent(sent);
      this.#forget(entry.id);
      return true;
    } catch (error) {
      console.error(error);
      const wait = waitOf(error);
      this.#change(entry.id, { state: wait === undefined ? 'failed' : 'waiting', sentence: sentenceOf(error) });
      if (wait !== undefined) this.#tryLater(wait);
      return wait === undefined;
    }
  }

  /** Follows changes that another tab has stored. */
  readonly #follow = (event: StorageEvent): void => {
    if (event.key !== null && !event.key.startsWith(this.#kept.prefix)) return;
    const own = new Map(this.#entries.map((entry) => [entry.id, entry]));
    this.#become(
      this.#kept.readAll().map((read) => {
        const known = own.get(read.id);
        return known?.state === 'sending' ? known : read;
      }),
    );
  };
}
