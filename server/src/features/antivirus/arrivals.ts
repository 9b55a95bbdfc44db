import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { Problem } from '#platform/problem.ts';
import type { SessionNews } from '#platform/session-news.ts';

/** How many files may be on their way to a verdict at once: being received, waiting, or being read. */
export interface ArrivalLimits {
  per_person: number;
  all: number;
}

/** A file on its way. */
interface Arriving {
  user_id: string;
  abort: AbortController;
  /** Whether it was cancelled, once it is over. */
  ended: PromiseWithResolvers<boolean>;
}

export interface Arrivals {
  /**
   * Does `work` as one of the files on their way. `key` is what the page that sends it has named it; `signal` is aborted when the person cancels.
   * @throws Problem `too_many_requests` at once, before a byte was read, when there are too many; `conflict` for a key that is in use.
   */
  during<T>(file: { user_id: string; key: string | undefined }, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Undefined when nobody's file goes by this key, or it has its verdict. @throws Problem `on_another_server` when it is on its way to one that does not answer. */
  find(key: string): Promise<{ user_id: string } | undefined>;
  /** Answers once nothing of the file is left, at whichever server it was; false when its verdict came first, and stays. @throws as `find` does. */
  cancel(key: string): Promise<boolean>;
  /** Ends all that a person has on the way, because their account is deleted. Answers once it has. */
  dismiss(user_id: string): Promise<void>;
}

/** Seconds after which it is worth trying again. */
const RETRY_AFTER_S = { person: 5, all: 15, elsewhere: 1 } as const;

export const ACCOUNT_GONE = 'The account was deleted while the file was on its way. Nothing of it is kept.';

/** Whether a file's way ended because its person cancelled it. */
function wasCancelled(error: unknown): boolean {
  return error instanceof Problem && error.code === 'upload_cancelled';
}

/** A file is on its way for this long after its server said so last, in ms: what a server that was killed had under way is forgotten after it. */
const LEASE_MS = 60_000;
const PROLONGED_EVERY_MS = LEASE_MS / 3;
/** How long the server of an upload is waited for: it answers at once, and ends an upload as soon as nothing of it is left. */
const TOLD_WITHIN_MS = 2_000;
const ENDED_WITHIN_MS = 10_000;
const ALL = 'arrivals';
const keyOf = (user_id: string) => `${ALL}:${user_id}`;
/** By the name that a page has given a file; nobody guesses one. */
const keyOfName = (name: string) => `${ALL}:key:${name}`;

interface Shared {
  user_id: string;
  key: string | undefined;
}

/** What the server that has an upload says of it. */
interface Told {
  user_id: string;
  cancelled: boolean;
}

/** This server counts what it has itself; `counters` what all servers have together, and `news` asks the others for what they have. */
export function createArrivals(
  limits: ArrivalLimits,
  counters: Pick<Counters, 'put' | 'remove' | 'count'>,
  news?: Pick<SessionNews, 'tell' | 'listen'>,
): Arrivals {
  const counts = new Map<string, number>();
  const keyed = new Map<string, Arriving>();
  const present = new Set<Arriving>();
  let all = 0;

  function count(user_id: string, change: 1 | -1): void {
    all += change;
    const theirs = (counts.get(user_id) ?? 0) + change;
    if (theirs === 0) counts.delete(user_id);
    else counts.set(user_id, theirs);
  }

  /** Files that are counted in `counters`, by id. */
  const shared = new Map<string, Shared>();
  const ofPerson = (member: string, user_id: string) =>
    counters.put(keyOf(user_id), { member, most: limits.per_person, window_ms: LEASE_MS });
  const ofAll = (member: string) => counters.put(ALL, { member, most: limits.all, window_ms: LEASE_MS });
  const ofName = async (member: string, key: string | undefined) =>
    key === undefined ? undefined : await counters.put(keyOfName(key), { member, most: limits.all, window_ms: LEASE_MS });

  setInterval(() => {
    for (const [member, { user_id, key }] of shared)
      void Promise.all([ofPerson(member, user_id), ofAll(member), ofName(member, key)]);
  }, PROLONGED_EVERY_MS).unref();

  function end(arriving: Arriving): Promise<boolean> {
    arriving.abort.abort(new Problem('upload_cancelled'));
    return arriving.ended.promise;
  }

  const asked = new Map<string, (told: Told) => void>();
  news?.listen((said) => {
    if (said.kind === 'upload_told') asked.get(said.ask)?.(said);
    if (said.kind !== 'upload_asked') return;
    const { ask, key, cancel } = said;
    const arriving = keyed.get(key);
    if (arriving === undefined) return;
    const answer = (cancelled: boolean) => news.tell({ kind: 'upload_told', ask, user_id: arriving.user_id, cancelled });
    if (cancel) void end(arriving).then(answer);
    else answer(false);
  });

  /** Asks the server that an upload is on its way to; undefined when no server says that it is. @throws Problem `on_another_server` when that one does not answer. */
  async function askOthers(key: string, cancel: boolean): Promise<Told | undefined> {
    if ((await counters.count(keyOfName(key), LEASE_MS)) === 0) return undefined;
    const ask = newId();
    const told = Promise.withResolvers<Told | undefined>();
    asked.set(ask, told.resolve);
    const timer = setTimeout(() => told.resolve(undefined), cancel ? ENDED_WITHIN_MS : TOLD_WITHIN_MS);
    news?.tell({ kind: 'upload_asked', ask, key, cancel });
    const answer = news === undefined ? undefined : await told.promise;
    clearTimeout(timer);
    asked.delete(ask);
    if (answer === undefined) throw new Problem('on_another_server', { retry_after: RETRY_AFTER_S.elsewhere });
    return answer;
  }

  const tooManyOfPerson = () =>
    new Problem('too_many_requests', {
      detail: `You have ${limits.per_person} files on their way already. Wait until one of them is done.`,
      retry_after: RETRY_AFTER_S.person,
    });
  const tooManyOfAll = () =>
    new Problem('too_many_requests', {
      detail: 'The scanner has more files than it can take at once. Wait a moment and try again.',
      retry_after: RETRY_AFTER_S.all,
    });

  /** Does `work` as one of the files on their way to any server. */
  async function together<T>({ user_id, key }: Shared, work: () => Promise<T>): Promise<T> {
    const member = newId();
    try {
      if ((await ofPerson(member, user_id)).wait_ms > 0) throw tooManyOfPerson();
      if ((await ofAll(member)).wait_ms > 0) throw tooManyOfAll();
      await ofName(member, key);
      shared.set(member, { user_id, key });
      return await work();
    } finally {
      shared.delete(member);
      const names = [keyOf(user_id), ALL, ...(key === undefined ? [] : [keyOfName(key)])];
      await Promise.all(names.map((name) => counters.remove(name, member)));
    }
  }

  return {
    async during({ user_id, key }, work) {
      if ((counts.get(user_id) ?? 0) >= limits.per_person) throw tooManyOfPerson();
      if (all >= limits.all) throw tooManyOfAll();
      if (key !== undefined && keyed.has(key))
        throw new Problem('conflict', { detail: 'A file is on its way under this key already. Use a key once.' });
      const arriving: Arriving = { user_id, abort: new AbortController(), ended: Promise.withResolvers() };
      if (key !== undefined) keyed.set(key, arriving);
      present.add(arriving);
      count(user_id, 1);
      let cancelled = false;
      try {
        return await together({ user_id, key }, () => work(arriving.abort.signal));
      } catch (error) {
        cancelled = wasCancelled(error);
        throw error;
      } finally {
        if (key !== undefined) keyed.delete(key);
        present.delete(arriving);
        count(user_id, -1);
        arriving.ended.resolve(cancelled);
      }
    },

    async find(key) {
      return keyed.get(key) ?? (await askOthers(key, false));
    },

    async cancel(key) {
      const arriving = keyed.get(key);
      return arriving === undefined ? (await askOthers(key, true))?.cancelled === true : await end(arriving);
    },

    async dismiss(user_id) {
      const theirs = [...present].filter((arriving) => arriving.user_id === user_id);
      for (const { abort } of theirs) abort.abort(new Problem('unauthenticated', { detail: ACCOUNT_GONE }));
      await Promise.all(theirs.map(({ ended }) => ended.promise));
    },
  };
}
