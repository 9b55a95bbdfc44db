import { FILES_TOGETHER } from '@palisade/scanner/together';

/** Limits of the queue. */
export interface ScanQueueLimits {
  /** Files that are read at the same time: as many as there are engine processes. */
  slots: number;
  /** A file up to this size is held to be quick to read, until it is not. Bytes. */
  small_bytes: number;
  /** A small file that is read for longer than this is slow, and makes room for the small ones that wait. ms. */
  quick_ms: number;
  /** Engine time that a person may use in a minute before they come behind those who have used less. ms. */
  budget_ms: number;
}

/** A file up to this size is read in some 10 ms. */
export const SMALL_BYTES = 1024 ** 2;

/** The result of work that was told to stop before its end: its next turn starts it again. */
export const SET_ASIDE = Symbol('set aside');

interface Applicant {
  user_id: string;
  /** Bytes. */
  size: number;
  /** It is in memory and small: it shares a place with others, until it shows that it is slow. */
  is_held?: boolean;
  /** The account is younger than a day: its files come after those of others, until they have waited long. */
  is_new?: boolean;
  /** Aborted: the file gives its place up. A running file is told by its own signal. */
  signal?: AbortSignal | undefined;
  /** Called with the place in the queue, from 1 on, as long as there is a wait. */
  onPlace?: ((place: number) => void) | undefined;
}

/** Small files are quick, big ones slow, until the reading has shown otherwise. */
type Pace = 'quick' | 'slow';

interface Waiting {
  applicant: Applicant;
  shares: boolean;
  since: number;
  /** The place that was reported last. */
  told: number;
  begin: (runner: Runner) => void;
  giveUp: () => void;
}

interface Runner {
  user_id: string;
  pace: Pace;
  /** Up to FILES_TOGETHER files that share take one place. */
  shares: boolean;
  /** When an engine took it up; undefined while it waits for a process to start. */
  began: number | undefined;
  /** It has run for longer than a quick file does. */
  overdue: boolean;
  stop: AbortController;
  timer: NodeJS.Timeout | undefined;
}

/** A person's use of the engines. */
interface Share {
  /** Over both paces. */
  running: number;
  /** When they were served last, in turns of everybody. */
  served: Record<Pace, number>;
  /** Engine time by the period in which it was used. ms. */
  used: Map<number, number>;
}

/** Interval at which changed places are reported, in ms. */
const PLACES_EVERY_MS = 250;
const MINUTE_MS = 60_000;
/** Engine time is kept by periods of this length. */
const PERIOD_MS = 5_000;
/** A file of a new account that has waited for so long does not come behind others any more. */
const NEW_WAITS_MS = 60_000;
/** People who have nothing here are forgotten when there are more than this. */
const IDLE_MAXIMUM = 256;

/** The files of one pace: each person's in their order. */
type Lane = Map<string, Waiting[]>;

/** The order in which rows are served: everybody's first file, then everybody's second. */
function* orderOf(rows: readonly Waiting[][]): Generator<Waiting> {
  for (let round = 0; rows.some((row) => row.length > round); round += 1) {
    for (const row of rows) {
      const waiting = row[round];
      if (waiting !== undefined) yield waiting;
    }
  }
}

const now = () => performance.now();

/** The places that files take. */
function placesOf(files: readonly { shares: boolean }[]): number {
  const sharing = files.filter(({ shares }) => shares).length;
  return files.length - sharing + Math.ceil(sharing / FILES_TOGETHER);
}

/** Adds to a file's engine time of the last minute. */
function charge({ used }: Share, from: number, to: number): void {
  for (let at = Math.max(from, to - MINUTE_MS); at < to; ) {
    const period = Math.floor(at / PERIOD_MS);
    const end = Math.min(to, (period + 1) * PERIOD_MS);
    used.set(period, (used.get(period) ?? 0) + end - at);
    at = end;
  }
}

/**
 * Gives files their turn. People take turns, however many files they bring, and no person holds every slot. People who have used up the engine time of a minute
 * come behind those who have not, and accounts of the last day behind older ones; both are served when no others wait. One slot is never given to a slow file. A
 * file that looked quick and is not counts as slow as soon as it shows; if all slots are taken then and a quick file waits, the file on which least time was
 * spent is set aside, and starts again among the slow ones.
 */
export class ScanQueue {
  private readonly slots: number;
  private readonly small_bytes: number;
  private readonly quick_ms: number;
  private readonly budget_ms: number;
  private readonly slow_maximum: number;
  private readonly per_person: number;
  private readonly lanes: Record<Pace, Lane> = { quick: new Map(), slow: new Map() };
  private readonly shares = new Map<string, Share>();
  private readonly runners = new Set<Runner>();
  private turn = 0;
  private placesTimer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(options: ScanQueueLimits) {
    this.slots = options.slots;
    this.small_bytes = options.small_bytes;
    this.quick_ms = options.quick_ms;
    this.budget_ms = options.budget_ms;
    this.slow_maximum = Math.max(1, this.slots - 1);
    this.per_person = Math.max(1, this.slots - 1);
  }

  private count(pace: Pace) {
    return [...this.runners].filter((runner) => runner.pace === pace).length;
  }

  private shareOf(user_id: string): Share {
    const known = this.shares.get(user_id);
    if (known !== undefined) return known;
    const share: Share = { running: 0, served: { quick: 0, slow: 0 }, used: new Map() };
    this.shares.set(user_id, share);
    return share;
  }

  /** Engine time of a person in the last minute, with running files. */
  private usedBy(user_id: string, at: number): number {
    const share = this.shareOf(user_id);
    let sum = 0;
    for (const [period, ms] of share.used) {
      if ((period + 1) * PERIOD_MS <= at - MINUTE_MS) share.used.delete(period);
      else sum += ms;
    }
    for (const runner of this.runners) if (runner.user_id === user_id) sum += Math.min(MINUTE_MS, at - (runner.began ?? at));
    return sum;
  }

  /** The rank of a person's files: 0 before all others. */
  private rankOf(user_id: string, row: readonly Waiting[], at: number): number {
    const [first] = row;
    const is_new = first?.applicant.is_new === true && at - first.since < NEW_WAITS_MS;
    return (this.usedBy(user_id, at) > this.budget_ms ? 2 : 0) + (is_new ? 1 : 0);
  }

  /** The people of a lane in the order of their turns: by rank, then who was served longest ago. */
  private rowsOf(pace: Pace): { user_id: string; row: Waiting[]; rank: number }[] {
    const at = now();
    return [...this.lanes[pace]]
      .map(([user_id, row]) => ({
        user_id,
        row,
        rank: this.rankOf(user_id, row, at),
        served: this.shareOf(user_id).served[pace],
      }))
      .sort((one, other) => one.rank - other.rank || one.served - other.served);
  }

  /** The next file of a lane, if any may run. */
  private nextOf(pace: Pace): { waiting: Waiting; rank: number } | undefined {
    for (const { user_id, row, rank } of this.rowsOf(pace)) {
      const [waiting] = row;
      const theirs = [...this.runners].filter((runner) => runner.user_id === user_id);
      if (waiting !== undefined && placesOf([...theirs, waiting]) <= this.per_person) return { waiting, rank };
    }
    return undefined;
  }

  /** Whether a file has a place beside the running files. */
  private hasPlace(waiting: Waiting): boolean {
    return placesOf([...this.runners, waiting]) <= this.slots;
  }

  /**
   * Small files share one place, up to `FILES_TOGETHER`. A small file may join them although a slow file that has no place yet
   * comes before it: that keeps nobody waiting for longer. Once the small files would need a second place, the slow file is next.
   */
  private mayJoin(waiting: Waiting): boolean {
    const sharing = [...this.runners].filter(({ shares }) => shares).length;
    return waiting.shares && sharing > 0 && sharing < FILES_TOGETHER;
  }

  /** The next file, and how it is held to be; undefined while no slot is free for anyone. */
  private pick(): { waiting: Waiting; pace: Pace } | undefined {
    const quick = this.nextOf('quick');
    const slow = this.count('slow') < this.slow_maximum ? this.nextOf('slow') : undefined;
    const slow_first =
      slow !== undefined &&
      (quick === undefined || slow.rank < quick.rank || (slow.rank === quick.rank && this.count('quick') > 0));
    if (slow_first && this.hasPlace(slow.waiting)) return { waiting: slow.waiting, pace: 'slow' };
    const has_place = quick !== undefined && (slow_first ? this.mayJoin(quick.waiting) : this.hasPlace(quick.waiting));
    return has_place ? { waiting: quick.waiting, pace: 'quick' } : undefined;
  }

  private remove(pace: Pace, waiting: Waiting): void {
    const { user_id } = waiting.applicant;
    const left = this.lanes[pace].get(user_id)?.filter((other) => other !== waiting) ?? [];
    if (left.length === 0) this.lanes[pace].delete(user_id);
    else this.lanes[pace].set(user_id, left);
  }

  private begin(waiting: Waiting, pace: Pace): void {
    const { user_id } = waiting.applicant;
    this.remove(pace, waiting);
    const share = this.shareOf(user_id);
    share.running += 1;
    this.turn += 1;
    share.served[pace] = this.turn;
    const runner: Runner = {
      ...{ user_id, pace, shares: waiting.shares, began: undefined, overdue: false },
      ...{ stop: new AbortController(), timer: undefined },
    };
    this.runners.add(runner);
    waiting.begin(runner);
  }

  /** An engine reads the file. Were the start of a process counted as well, one that was ended for another file would have that one ended in its turn. */
  private takeUp(runner: Runner): void {
    if (runner.began !== undefined || !this.runners.has(runner)) return;
    runner.began = now();
    if (runner.pace === 'slow') return;
    runner.timer = setTimeout(() => {
      runner.overdue = true;
      this.serve();
    }, this.quick_ms);
    runner.timer.unref();
  }

  private end(runner: Runner): void {
    clearTimeout(runner.timer);
    this.runners.delete(runner);
    const share = this.shareOf(runner.user_id);
    share.running -= 1;
    if (runner.began !== undefined) charge(share, runner.began, now());
    if (this.shares.size > IDLE_MAXIMUM) this.forgetIdle();
  }

  private forgetIdle(): void {
    const at = now();
    for (const [user_id, { running }] of this.shares) {
      const waits = this.lanes.quick.has(user_id) || this.lanes.slow.has(user_id);
      if (running === 0 && !waits && this.usedBy(user_id, at) === 0) this.shares.delete(user_id);
    }
  }

  /**
   * A file that has shown that it is slow takes the place of a slow file; without a free one, the youngest of all is set aside, if a quick
   * one waits.
   */
  private makeRoom(): void {
    for (const runner of this.runners) {
      if (runner.overdue) runner.shares = false;
      if (runner.overdue && runner.pace === 'quick' && this.count('slow') < this.slow_maximum) runner.pace = 'slow';
    }
    const next = this.nextOf('quick');
    const waits = this.slots > 1 && next !== undefined && !this.hasPlace(next.waiting);
    const isStopping = [...this.runners].some(({ stop }) => stop.signal.aborted);
    const late = [...this.runners].find(({ pace, overdue }) => overdue && pace === 'quick');
    if (this.closed || !waits || isStopping || late === undefined) return;
    const [youngest = late] = [...this.runners]
      .filter((runner) => runner === late || (runner.pace === 'slow' && runner.began !== undefined))
      .sort((one, other) => (other.began ?? 0) - (one.began ?? 0));
    youngest.pace = 'quick';
    if (youngest !== late) late.pace = 'slow';
    youngest.stop.abort();
  }

  private serve(): void {
    for (let next = this.closed ? undefined : this.pick(); next !== undefined; next = this.pick())
      this.begin(next.waiting, next.pace);
    this.makeRoom();
  }

  private tellPlaces(): void {
    for (const pace of ['quick', 'slow'] as const) {
      let place = 0;
      for (const waiting of orderOf(this.rowsOf(pace).map(({ row }) => row))) {
        place += 1;
        if (place === waiting.told) continue;
        waiting.told = place;
        waiting.applicant.onPlace?.(place);
      }
    }
  }

  /** Many small files may come and go while one waits: places are reported now and then, not at each step. */
  private tellPlacesSoon(): void {
    if (this.closed || this.placesTimer !== undefined || (this.lanes.quick.size === 0 && this.lanes.slow.size === 0)) return;
    this.placesTimer = setTimeout(() => {
      this.placesTimer = undefined;
      this.tellPlaces();
    }, PLACES_EVERY_MS);
    this.placesTimer.unref();
  }

  /** Waits for a turn; undefined when the place was given up. A file that was set aside is the next of its person's. */
  private async wait(
    applicant: Applicant,
    { pace, shares, is_next }: { pace: Pace; shares: boolean; is_next: boolean },
  ): Promise<Runner | undefined> {
    const { user_id, signal } = applicant;
    if (this.closed || signal?.aborted) return undefined;
    const begun = Promise.withResolvers<Runner | undefined>();
    const waiting: Waiting = {
      applicant,
      shares,
      since: now(),
      told: 0,
      begin: begun.resolve,
      giveUp: () => {
        this.remove(pace, waiting);
        begun.resolve(undefined);
        this.tellPlacesSoon();
      },
    };
    const row = this.lanes[pace].get(user_id) ?? [];
    this.lanes[pace].set(user_id, is_next ? [waiting, ...row] : [...row, waiting]);
    signal?.addEventListener('abort', waiting.giveUp, { once: true });
    this.serve();
    this.tellPlacesSoon();
    const runner = await begun.promise;
    signal?.removeEventListener('abort', waiting.giveUp);
    return runner;
  }

  /**
   * Does `work` when it is the file's turn; answers undefined when it gave its place up before, or when all is over. `work` calls `begun` when an engine takes the
   * file up: from then on its time counts. `stop` is aborted when another file needs the place more: then `work` ends soon, with its answer or with SET_ASIDE. `together` is there while the file shares
   * its place: `onLong` says that it needs one for itself. A file that is set aside then gets a place for itself.
   */
  async take<T>(
    applicant: Applicant,
    work: (stop: AbortSignal, begun: () => void, together?: { onLong: () => void }) => Promise<T | typeof SET_ASIDE>,
  ): Promise<T | undefined> {
    let pace: Pace = applicant.size <= this.small_bytes ? 'quick' : 'slow';
    for (let shares = applicant.is_held === true, is_next = false; ; shares = false, is_next = true) {
      const runner = await this.wait(applicant, { pace, shares, is_next });
      if (runner === undefined) return undefined;
      const onLong = () => {
        runner.shares = false;
      };
      try {
        const answer = await work(runner.stop.signal, () => this.takeUp(runner), shares ? { onLong } : undefined);
        if (answer !== SET_ASIDE) return answer;
        // One that only came together with a slow one is not slow for that.
        if (!shares || runner.stop.signal.aborted) pace = 'slow';
      } finally {
        this.end(runner);
        this.serve();
        this.tellPlacesSoon();
      }
    }
  }

  /** The number of files that wait for their turn, and the longest wait. */
  waiting(): { files: number; oldest_ms: number } {
    const since = Object.values(this.lanes).flatMap((lane) => [...lane.values()].flatMap((row) => row.map((one) => one.since)));
    return { files: since.length, oldest_ms: since.length === 0 ? 0 : now() - Math.min(...since) };
  }

  /** Ends the queue: no file gets a turn any more. */
  close(): void {
    this.closed = true;
    clearTimeout(this.placesTimer);
    for (const lane of Object.values(this.lanes)) for (const waiting of orderOf([...lane.values()])) waiting.giveUp();
  }
}

export function createScanQueue(options: ScanQueueLimits): ScanQueue {
  return new ScanQueue(options);
}
