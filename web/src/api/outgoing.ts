import { z } from 'zod';
import { randomUuid } from './browser.ts';
import { CallError, sentenceOf } from './call.ts';
import { onReconnected } from './connection.ts';

/** Something that was sent and has not arrived yet. */
export interface Outgoing<Body> {
  /** Made here, once. However often it is sent, the server takes it once. */
  id: string;
  body: Body;
  /** When it was written. */
  at: string;
  /** `waiting`: for its turn, or for the connection; `failed`: it was refused, and is sent again only when somebody wants it. */
  state: 'waiting' | 'sending' | 'failed';
  /** Why it has not been sent. */
  sentence: string | undefined;
  /** Number of attempts of this page. */
  tries: number;
}

/** Whether something is on its way for the first time: nothing else is sent meanwhile. A repeated message delays no other. */
export function isFirstTry(outgoing: readonly Outgoing<unknown>[]): boolean {
  return outgoing.some(({ state, tries }) => state === 'sending' && tries === 1);
}

interface OutgoingParts<Body, Sent> {
  /** Their key in this browser; another one for each person. */
  name: string;
  /** Stored messages are parsed: a newer or an older version may have written it. */
  schema: z.ZodType<Body>;
  send: (body: Body, id: string) => Promise<Sent>;
  /** Puts what the server answered where it is shown; only then is it no longer among those that wait. */
  onSent: (sent: Sent) => Promise<void> | void;
}

export interface OutgoingQueue<Body> {
  subscribe: (listener: () => void) => () => void;
  /** The oldest first; the same array until something changes. */
  read: () => readonly Outgoing<Body>[];
  /** Has a body sent after all that wait; answers its id. */
  add: (body: Body) => string;
  retry: (id: string) => void;
  /** Takes it back; answers what it was, for the field. One that is on its way stays. */
  discard: (id: string) => Body | undefined;
  /** Sends nothing more; what waits stays kept. */
  stop: () => void;
}

/** Waiting time after a failed send, in ms: twice as long after each. */
const BACKOFF = { first: 2_000, most: 30_000 } as const;
/** A wait that the server asks for is waited out up to this, in seconds; of a longer one the person is told. */
const PATIENCE = 60;

function keptSchema<Body>(body: z.ZodType<Body>) {
  return z.object({ body, at: z.string(), sentence: z.string().optional(), state: z.enum(['waiting', 'failed']) });
}

/** Time until the next attempt is useful, in seconds; undefined for a refusal, which stays one. 0 stands for "the connection will tell". */
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

/** One tab at a time, so that the order stays. Without the browser's locks a message may be sent by two tabs, and is taken once all the same. */
async function exclusively(name: string, act: () => Promise<void>): Promise<void> {
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) await act();
  else await locks.request(name, act);
}

/**
 * Messages that the server has not confirmed yet. It is kept in this browser until then, so that neither a reload nor a lost connection loses it, and
 * sent one after the other in the order in which it was written.
 */
export function createOutgoing<Body, Sent>(parts: OutgoingParts<Body, Sent>): OutgoingQueue<Body> {
  return new KeptQueue(parts);
}

/** Entries in the storage of this browser. Where storage is blocked, an entry lives as long as the page. */
class Kept<Body> {
  readonly prefix: string;
  readonly #schema: ReturnType<typeof keptSchema<Body>>;

  constructor(name: string, schema: z.ZodType<Body>) {
    this.prefix = `palisade.outgoing.${name}.`;
    this.#schema = keptSchema(schema);
  }

  /** The oldest first. */
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
      // Storage was empty, too.
    }
  }

  /** The entry under a key; nothing where storage is blocked or corrupt. */
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
  readonly #listeners = new Set<() => void>();
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

  // Both are handed to React as they are.
  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

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
    // Entries that wait for the connection are sent before it.
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
    for (const listener of this.#listeners) listener();
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

  /** @param seconds that the server asks to wait; 0 for the next step of the backoff */
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
      // Without its copy in storage, another tab has sent it or taken it back.
      if (this.#kept.has(next.id)) goesOn = await this.#sendOne(next);
      else this.#forget(next.id);
    }
  }

  /** @returns whether the next one may be tried at once */
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

  /** Another tab has written, sent or taken back something. */
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
