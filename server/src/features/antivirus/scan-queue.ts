import { FILES_TOGETHER } from '@palisade/scanner/together';

/** Limits of the queue. */
export interface ScanQueueLimits {
  /** Number of files that are read at the same time: the number of engine processes. */
  slots: number;
  /** Files up to this size in bytes are assumed to be quick to read, until proved otherwise. */
  small_bytes: number;
  /** A small file that is read for longer than this many ms is slow, and makes room for waiting small ones. */
  quick_ms: number;
  /** Engine time in ms that a person may use per minute before they come after people who have used less. */
  budget_ms: number;
}

/** A file up to this size in bytes is read in about 10 ms. */
export const SMALL_BYTES = 1024 ** 2;

/** The result of work that was stopped before its end: its next turn starts it again. */
export const SET_ASIDE = Symbol('set aside');

interface Applicant {
  user_id: string;
  /** Bytes. */
  size: number;
  /** It is small and in memory: it shares a slot with others, until it turns out to be slow. */
  is_held?: boolean;
  /** The account is younger than a day: its files come after those of others, until they have waited long. */
  is_new?: boolean;
  /** Aborted: the waiting file leaves the queue. A running file has its own signal. */
  signal?: AbortSignal | undefined;
  /** Called with the position in the queue, from 1, while it waits. */
  onPlace?: ((place: number) => void) | undefined;
}

/** Small files are assumed quick and large ones slow, until the reading shows otherwise. */
type Pace = 'quick' | 'slow';

interface Waiting {
  applicant: Applicant;
  shares: boolean;
  since: number;
  /** The last reported position. */
  told: number;
  begin: (runner: Runner) => void;
  giveUp: () => void;
}

interface Runner {
  user_id: string;
  pace: Pace;
  /** Up to FILES_TOGETHER sharing files take one slot. */
  shares: boolean;
  /** When an engine started it; undefined while it waits for a process to start. */
  began: number | undefined;
  /** It has run for longer than a quick file. */
  overdue: boolean;
  stop: AbortController;
  timer: NodeJS.Timeout | undefined;
}

/** A person's use of the engines. */
interface Share {
  /** Running files of both paces. */
  running: number;
  /** When they were last served, counted in turns of the queue. */
  served: Record<Pace, number>;
  /** Engine time in ms, by the period in which it was used. */
  used: Map<number, number>;
}

/** Interval at which changed positions are reported, in ms. */
const PLACES_EVERY_MS = 250;
const MINUTE_MS = 60_000;
/** Length of a period of engine time, in ms. */
const PERIOD_MS = 5_000;
/** A new account's file that has waited this many ms no longer comes after others. */
const NEW_WAITS_MS = 60_000;
/** If there are more people than this, those without files are forgotten. */
const IDLE_MAXIMUM = 256;

/** The files of one pace, in order for each person. */
type Lane = Map<string, Waiting[]>;

/** The order in which rows are served: each person's first file, then each person's second. */
function* orderOf(rows: readonly Waiting[][]): Generator<Waiting> {
  for (let round = 0; rows.some((row) => row.length > round); round += 1) {
    for (const row of rows) {
      const waiting = row[round];
      if (waiting !== undefined) yield waiting;
    }
  }
}

const now = () => performance.now();

/** The number of slots that files take. */
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
 * Schedules files. People take turns, however many files they have, and no person takes all slots. People who have used up their engine time per minute come after those who
 * have not, and new accounts after older ones; both are served when no others wait. One slot is never given to a slow file. A file that was assumed quick counts as slow as
 * soon as it runs too long; if all slots are taken then and a quick file waits, the file with the least time spent is set aside, and starts again among the slow ones.
 */
export class ScanQueue {
  private readonly options: ScanQueueLimits;
  private readonly slow_maximum: number;
  private readonly per_person: number;
  private readonly lanes: Record<Pace, Lane> = { quick: new Map(), slow: new Map() };
  private readonly shares = new Map<string, Share>();
  private readonly runners = new Set<Runner>();
  private turn = 0;
  private placesTimer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(options: ScanQueueLimits) {
    this.options = options;
    this.slow_maximum = Math.max(1, this.options.slots - 1);
    this.per_person = Math.max(1, this.options.slots - 1);
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

  /** Engine time of a person in the last minute, including running files. */
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

  /** The rank of a person's files: 0 comes first. */
  private rankOf(user_id: string, row: readonly Waiting[], at: number): number {
    const [first] = row;
    const is_new = first?.applicant.is_new === true && at - first.since < NEW_WAITS_MS;
    return (this.usedBy(user_id, at) > this.options.budget_ms ? 2 : 0) + (is_new ? 1 : 0);
  }

  /** The people of a lane in the order of their turns: by rank, then by the time since they were served. */
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

  /** Whether there is a slot for a file besides the running ones. */
  private hasPlace(waiting: Waiting): boolean {
    return placesOf([...this.runners, waiting]) <= this.options.slots;
  }

  /**
   * Small files share one slot, up to `FILES_TOGETHER`. A small file may join it before a waiting slow file, which does not delay that one. Once the small files would need
   * a second slot, the slow file is next.
   */
  private mayJoin(waiting: Waiting): boolean {
    const sharing = [...this.runners].filter(({ shares }) => shares).length;
    return waiting.shares && sharing > 0 && sharing < FILES_TOGETHER;
  }

  /** The next file and its assumed pace; undefined while no slot is free for it. */
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

  /** An engine has started the file. Process start is not counted: otherwise a file that waits for the replacement of a stopped process would be stopped in turn. */
  private takeUp(runner: Runner): void {
    if (runner.began !== undefined || !this.runners.has(runner)) return;
    runner.began = now();
    if (runner.pace === 'slow') return;
    runner.timer = setTimeout(() => {
      runner.overdue = true;
      this.serve();
    }, this.options.quick_ms);
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

  /** A file that has turned out to be slow takes a slow slot; without a free one, the youngest slow file is set aside if a quick one waits. */
  private makeRoom(): void {
    for (const runner of this.runners) {
      if (runner.overdue) runner.shares = false;
      if (runner.overdue && runner.pace === 'quick' && this.count('slow') < this.slow_maximum) runner.pace = 'slow';
    }
    const next = this.nextOf('quick');
    const waits = this.options.slots > 1 && next !== undefined && !this.hasPlace(next.waiting);
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

  /** Many small files may pass while one waits, so positions are reported at intervals and not at each step. */
  private tellPlacesSoon(): void {
    if (this.closed || this.placesTimer !== undefined || (this.lanes.quick.size === 0 && this.lanes.slow.size === 0)) return;
    this.placesTimer = setTimeout(() => {
      this.placesTimer = undefined;
      this.tellPlaces();
    }, PLACES_EVERY_MS);
    this.placesTimer.unref();
  }

  /** Waits for a turn; undefined if the file left the queue. A file that was set aside is its person's next one. */
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
   * Runs `work` at the file's turn; returns undefined if it left the queue before, or the queue was closed. `work` calls `begun` when an engine starts the file: from then
   * on its time counts. `stop` is aborted when another file needs the slot: `work` then ends soon, with its result or SET_ASIDE. `together` is set while the file shares its
   * slot: its `onLong` means that the file needs a slot of its own, which it gets after being set aside.
   */
  async take<T>(
    applicant: Applicant,
    work: (stop: AbortSignal, begun: () => void, together?: { onLong: () => void }) => Promise<T | typeof SET_ASIDE>,
  ): Promise<T | undefined> {
    let pace: Pace = applicant.size <= this.options.small_bytes ? 'quick' : 'slow';
    for (let shares = applicant.is_held === true, is_next = false; ; shares = false, is_next = true) {
      const runner = await this.wait(applicant, { pace, shares, is_next });
      if (runner === undefined) return undefined;
      const onLong = () => {
        runner.shares = false;
      };
      try {
        const answer = await work(runner.stop.signal, () => this.takeUp(runner), shares ? { onLong } : undefined);
        if (answer !== SET_ASIDE) return answer;
        // A file that only shared a slot with a slow one is not slow itself.
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

  /** Closes the queue: no further file gets a turn. */
  close(): void {
    this.closed = true;
    clearTimeout(this.placesTimer);
    for (const lane of Object.values(this.lanes)) for (const waiting of orderOf([...lane.values()])) waiting.giveUp();
  }
}

export function createScanQueue(options: ScanQueueLimits): ScanQueue {
  return new ScanQueue(options);
}
