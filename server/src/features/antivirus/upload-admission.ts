import type { Counters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { Problem } from '#platform/problem.ts';
import type { SessionNews } from '#platform/session-news.ts';
import { refuse } from './antivirus.refusals.ts';

/** Maximum number of files without a verdict at once: being received, waiting, or being read. */
export interface UploadAdmissionLimits {
  per_person: number;
  all: number;
}

/** A file without a verdict. */
interface Arriving {
  user_id: string;
  abort: AbortController;
  /** Resolves at the end with whether the file was cancelled. */
  ended: PromiseWithResolvers<boolean>;
}

/** Seconds after which it is worth trying again. */
const RETRY_AFTER_S = { person: 5, all: 15, elsewhere: 1 } as const;

/** Whether a file's way ended because its person cancelled it. */
function wasCancelled(error: unknown): boolean {
  return error instanceof Problem && error.code === 'upload_cancelled';
}

/** A file counts for this many ms after its server's last renewal: uploads of a killed server then expire. */
const LEASE_MS = 60_000;
const PROLONGED_EVERY_MS = LEASE_MS / 3;
/** Time to wait for the server of an upload, in ms: it answers at once, and ends an upload as soon as its bytes are removed. */
const TOLD_WITHIN_MS = 2_000;
const ENDED_WITHIN_MS = 10_000;
const ALL = 'arrivals';
const keyOf = (user_id: string) => `${ALL}:${user_id}`;
/** The counter of an upload by its page's unguessable key. */
const keyOfName = (name: string) => `${ALL}:key:${name}`;

interface Shared {
  user_id: string;
  key: string | undefined;
}

/** The state of an upload, from the server that has it. */
interface Told {
  user_id: string;
  cancelled: boolean;
}

function end(arriving: Arriving): Promise<boolean> {
  arriving.abort.abort(new Problem('upload_cancelled'));
  return arriving.ended.promise;
}

const tooManyOfAll = () => refuse('upload.scanner_busy', {}, { retry_after: RETRY_AFTER_S.all });

/** Limits uploads. This server counts its own; `counters` counts those of all servers, and `news` asks the others about theirs. */
export class UploadAdmission {
  private readonly limits: UploadAdmissionLimits;
  private readonly counters: Pick<Counters, 'put' | 'remove' | 'count'>;
  private readonly news: Pick<SessionNews, 'tell' | 'listen'> | undefined;
  private readonly counts = new Map<string, number>();
  private readonly keyed = new Map<string, Arriving>();
  private readonly present = new Set<Arriving>();
  private all = 0;
  /** Files that are counted in `counters`, by id. */
  private readonly shared = new Map<string, Shared>();
  private readonly asked = new Map<string, (told: Told) => void>();

  constructor(
    limits: UploadAdmissionLimits,
    counters: Pick<Counters, 'put' | 'remove' | 'count'>,
    news?: Pick<SessionNews, 'tell' | 'listen'>,
  ) {
    this.limits = limits;
    this.counters = counters;
    this.news = news;
    setInterval(() => {
      for (const [member, { user_id, key }] of this.shared)
        void Promise.all([this.ofPerson(member, user_id), this.ofAll(member), this.ofName(member, key)]);
    }, PROLONGED_EVERY_MS).unref();
    this.news?.listen((said) => {
      if (said.kind === 'upload_told') this.asked.get(said.ask)?.(said);
      if (said.kind !== 'upload_asked') return;
      const { ask, key, cancel } = said;
      const arriving = this.keyed.get(key);
      if (arriving === undefined) return;
      const answer = (cancelled: boolean) => this.news?.tell({ kind: 'upload_told', ask, user_id: arriving.user_id, cancelled });
      if (cancel) void end(arriving).then(answer);
      else answer(false);
    });
  }

  private count(user_id: string, change: 1 | -1): void {
    this.all += change;
    const theirs = (this.counts.get(user_id) ?? 0) + change;
    if (theirs === 0) this.counts.delete(user_id);
    else this.counts.set(user_id, theirs);
  }

  private ofPerson(member: string, user_id: string) {
    return this.counters.put(keyOf(user_id), { member, most: this.limits.per_person, window_ms: LEASE_MS });
  }

  private ofAll(member: string) {
    return this.counters.put(ALL, { member, most: this.limits.all, window_ms: LEASE_MS });
  }

  private async ofName(member: string, key: string | undefined) {
    return key === undefined
      ? undefined
      : await this.counters.put(keyOfName(key), { member, most: this.limits.all, window_ms: LEASE_MS });
  }

  /** Asks the server that receives an upload; undefined if no server does. @throws Problem `on_another_server` when that server does not answer. */
  private async askOthers(key: string, cancel: boolean): Promise<Told | undefined> {
    if ((await this.counters.count(keyOfName(key), LEASE_MS)) === 0) return undefined;
    const ask = newId();
    const told = Promise.withResolvers<Told | undefined>();
    this.asked.set(ask, told.resolve);
    const timer = setTimeout(() => told.resolve(undefined), cancel ? ENDED_WITHIN_MS : TOLD_WITHIN_MS);
    this.news?.tell({ kind: 'upload_asked', ask, key, cancel });
    const answer = this.news === undefined ? undefined : await told.promise;
    clearTimeout(timer);
    this.asked.delete(ask);
    if (answer === undefined) throw new Problem('on_another_server', { retry_after: RETRY_AFTER_S.elsewhere });
    return answer;
  }

  private tooManyOfPerson() {
    return refuse('upload.too_many', { count: this.limits.per_person }, { retry_after: RETRY_AFTER_S.person });
  }

  /** Runs `work` for a file that is counted on all servers. */
  private async together<T>({ user_id, key }: Shared, work: () => Promise<T>): Promise<T> {
    const member = newId();
    try {
      if ((await this.ofPerson(member, user_id)).wait_ms > 0) throw this.tooManyOfPerson();
      if ((await this.ofAll(member)).wait_ms > 0) throw tooManyOfAll();
      await this.ofName(member, key);
      this.shared.set(member, { user_id, key });
      return await work();
    } finally {
      this.shared.delete(member);
      const names = [keyOf(user_id), ALL, ...(key === undefined ? [] : [keyOfName(key)])];
      await Promise.all(names.map((name) => this.counters.remove(name, member)));
    }
  }

  /**
   * Runs `work` for a counted file. `key` is the page's name for it; `signal` is aborted when the person cancels. @throws Problem `too_many_requests` before a byte is read,
   * if there are too many; `conflict` for a key that is in use.
   */
  async during<T>(
    { user_id, key }: { user_id: string; key: string | undefined },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if ((this.counts.get(user_id) ?? 0) >= this.limits.per_person) throw this.tooManyOfPerson();
    if (this.all >= this.limits.all) throw tooManyOfAll();
    if (key !== undefined && this.keyed.has(key)) throw refuse('upload.key_used');
    const arriving: Arriving = { user_id, abort: new AbortController(), ended: Promise.withResolvers() };
    if (key !== undefined) this.keyed.set(key, arriving);
    this.present.add(arriving);
    this.count(user_id, 1);
    let cancelled = false;
    try {
      return await this.together({ user_id, key }, () => work(arriving.abort.signal));
    } catch (error) {
      cancelled = wasCancelled(error);
      throw error;
    } finally {
      if (key !== undefined) this.keyed.delete(key);
      this.present.delete(arriving);
      this.count(user_id, -1);
      arriving.ended.resolve(cancelled);
    }
  }

  /** Undefined for an unknown key, or a file with a verdict. @throws Problem `on_another_server` when its server does not answer. */
  async find(key: string): Promise<{ user_id: string } | undefined> {
    return this.keyed.get(key) ?? (await this.askOthers(key, false));
  }

  /** Resolves once the file is removed, on any server; false if its verdict came first, and stays. @throws like `find`. */
  async cancel(key: string): Promise<boolean> {
    const arriving = this.keyed.get(key);
    return arriving === undefined ? (await this.askOthers(key, true))?.cancelled === true : await end(arriving);
  }

  /** Cancels all of a person's uploads, because their account is deleted. Resolves when they have ended. */
  async dismiss(user_id: string): Promise<void> {
    const theirs = [...this.present].filter((arriving) => arriving.user_id === user_id);
    for (const { abort } of theirs) abort.abort(refuse('upload.account_deleted'));
    await Promise.all(theirs.map(({ ended }) => ended.promise));
  }
}

export function createUploadAdmission(
  limits: UploadAdmissionLimits,
  counters: Pick<Counters, 'put' | 'remove' | 'count'>,
  news?: Pick<SessionNews, 'tell' | 'listen'>,
): UploadAdmission {
  return new UploadAdmission(limits, counters, news);
}
