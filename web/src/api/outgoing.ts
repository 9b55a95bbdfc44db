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
export function createOutgoing<Body, Sent>({ name, schema, send, onSent }: OutgoingParts<Body, Sent>): OutgoingQueue<Body> {
  const prefix = `palisade.outgoing.${name}.`;
  const kept = keptSchema(schema);
  const listeners = new Set<() => void>();
  let entries: readonly Outgoing<Body>[] = readKept();
  let isPumping = false;
  let isStopped = false;
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Value of a key; undefined where storage is blocked or corrupt. */
  function readOne(key: string): Outgoing<Body>[] {
    try {
      const read = kept.safeParse(JSON.parse(localStorage.getItem(key) ?? '')).data;
      return read ? [{ ...read, id: key.slice(prefix.length), sentence: read.sentence, tries: 1 }] : [];
    } catch {
      return [];
    }
  }

  function readKept(): Outgoing<Body>[] {
    return storedKeys()
      .filter((key) => key.startsWith(prefix))
      .flatMap(readOne)
      .toSorted((one, other) => (one.at < other.at ? -1 : 1));
  }

  function keep({ id, body, at, state, sentence }: Outgoing<Body>): void {
    try {
      localStorage.setItem(prefix + id, JSON.stringify({ body, at, sentence, state: state === 'failed' ? state : 'waiting' }));
    } catch {
      // Without storage it lives as long as the page.
    }
  }

  function isKept(id: string): boolean {
    try {
      return localStorage.getItem(prefix + id) !== null;
    } catch {
      return true;
    }
  }

  function forget(id: string): void {
    try {
      localStorage.removeItem(prefix + id);
    } catch {
      // Storage was empty, too.
    }
    become(entries.filter((entry) => entry.id !== id));
  }

  function become(next: readonly Outgoing<Body>[]): void {
    entries = next;
    for (const listener of listeners) listener();
  }

  function change(id: string, to: Partial<Outgoing<Body>>): void {
    become(
      entries.map((entry) => {
        if (entry.id !== id) return entry;
        const changed = { ...entry, ...to };
        keep(changed);
        return changed;
      }),
    );
  }

  function tryLater(seconds: number): void {
    clearTimeout(timer);
    const backoff = Math.min(BACKOFF.most, BACKOFF.first * 2 ** failures);
    failures += 1;
    timer = setTimeout(tryNow, seconds > 0 ? seconds * 1_000 : backoff);
  }

  function tryNow(): void {
    clearTimeout(timer);
    timer = undefined;
    void pump();
  }

  /** Whether the next one may be tried at once. */
  async function sendOne(entry: Outgoing<Body>): Promise<boolean> {
    change(entry.id, { state: 'sending', sentence: undefined, tries: entry.tries + 1 });
    try {
      const sent = await send(entry.body, entry.id);
      failures = 0;
      await onSent(sent);
      forget(entry.id);
      return true;
    } catch (error) {
      console.error(error);
      const wait = waitOf(error);
      change(entry.id, { state: wait === undefined ? 'failed' : 'waiting', sentence: sentenceOf(error) });
      if (wait !== undefined) tryLater(wait);
      return wait === undefined;
    }
  }

  async function pump(): Promise<void> {
    if (isPumping || isStopped) return;
    isPumping = true;
    await exclusively(prefix, async () => {
      let goesOn = true;
      while (goesOn && !isStopped) {
        const next = entries.find(({ state }) => state === 'waiting');
        if (!next) break;
        // Another tab has sent it meanwhile, or taken it back.
        if (isKept(next.id)) goesOn = await sendOne(next);
        else forget(next.id);
      }
    });
    isPumping = false;
  }

  /** Another tab has written, sent or taken back something. */
  function follow(event: StorageEvent): void {
    if (event.key !== null && !event.key.startsWith(prefix)) return;
    const own = new Map(entries.map((entry) => [entry.id, entry]));
    become(
      readKept().map((read) => {
        const known = own.get(read.id);
        return known?.state === 'sending' ? known : read;
      }),
    );
  }

  const stopFollowing = onReconnected(() => {
    failures = 0;
    tryNow();
  });
  window.addEventListener('storage', follow);
  void pump();

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    read: () => entries,
    add(body) {
      const entry = {
        id: randomUuid(),
        body,
        at: new Date().toISOString(),
        state: 'waiting',
        sentence: undefined,
        tries: 0,
      } as const;
      keep(entry);
      become([...entries, entry]);
      // Messages that wait for the connection go first.
      if (timer === undefined) void pump();
      return entry.id;
    },
    retry(id) {
      change(id, { state: 'waiting', sentence: undefined });
      tryNow();
    },
    discard(id) {
      const entry = entries.find((known) => known.id === id);
      if (!entry || entry.state === 'sending') return undefined;
      forget(id);
      return entry.body;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      stopFollowing();
      window.removeEventListener('storage', follow);
    },
  };
}
