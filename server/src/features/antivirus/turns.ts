/** Who is scanned next, and how many at once. */
export interface TurnLimits {
  /** Files that are read at the same time: as many as there are engine processes. */
  slots: number;
  /** A file up to this size never waits for a larger one. Bytes. */
  small_bytes: number;
}

/** A file up to this size is read in some 10 ms. */
export const SMALL_BYTES = 1024 ** 2;

interface Applicant {
  user_id: string;
  /** Bytes. */
  size: number;
  /** Aborted: the file gives its place up. Whoever runs by then is told by their own means. */
  signal?: AbortSignal | undefined;
  /** Told the place in the queue, from 1 on, as far as there is a wait. */
  onPlace?: ((place: number) => void) | undefined;
}

export interface Turns {
  /** Does `work` when it is the file's turn; answers undefined when it gave its place up before, or when all is over. */
  take<T>(applicant: Applicant, work: () => Promise<T>): Promise<T | undefined>;
  /** Nobody else gets a turn. */
  close(): void;
}

type Size = 'small' | 'big';

interface Waiting {
  applicant: Applicant;
  /** The place that was told last. */
  told: number;
  begin: () => void;
  giveUp: () => void;
}

/** How often changed places are told, in ms. */
const PLACES_EVERY_MS = 250;

/** The files of one size: each person's in their order. */
type Lane = Map<string, Waiting[]>;

/** What a person has had of one size. */
interface Share {
  running: number;
  /** When they were served last, in turns of everybody. */
  served: number;
}

/** The order in which rows are served: everybody's first file, then everybody's second. */
function* orderOf(rows: readonly Waiting[][]): Generator<Waiting> {
  for (let round = 0; rows.some((row) => row.length > round); round += 1) {
    for (const row of rows) {
      const waiting = row[round];
      if (waiting !== undefined) yield waiting;
    }
  }
}

/**
 * Gives files their turn: people take turns, whoever has brought how many; one slot is never given to a big file, so that a small one never waits for
 * any; no person holds every slot with files of one size. Small files do not keep big ones out: where both wait, one slot is for the small ones and
 * the rest for the big.
 */
export function createTurns(limits: TurnLimits): Turns {
  const { slots, small_bytes } = limits;
  const big_maximum = Math.max(1, slots - 1);
  const per_person = Math.max(1, slots - 1);
  const lanes: Record<Size, Lane> = { small: new Map(), big: new Map() };
  const running: Record<Size, number> = { small: 0, big: 0 };
  const shares: Record<Size, Map<string, Share>> = { small: new Map(), big: new Map() };
  let turn = 0;
  let telling: NodeJS.Timeout | undefined;
  let closed = false;

  const shareOf = (size: Size, user_id: string): Share => shares[size].get(user_id) ?? { running: 0, served: 0 };

  /** The people of a lane, who was served longest ago first. */
  function rowsOf(size: Size): [user_id: string, row: Waiting[]][] {
    return [...lanes[size]].sort(([one], [other]) => shareOf(size, one).served - shareOf(size, other).served);
  }

  /** Who of a lane is next, if anybody may. */
  function nextOf(size: Size): Waiting | undefined {
    if (size === 'big' && running.big >= big_maximum) return undefined;
    return rowsOf(size).find(([user_id]) => shareOf(size, user_id).running < per_person)?.[1][0];
  }

  function remove(size: Size, waiting: Waiting): void {
    const { user_id } = waiting.applicant;
    const left = lanes[size].get(user_id)?.filter((other) => other !== waiting) ?? [];
    if (left.length === 0) {
      lanes[size].delete(user_id);
      if (shareOf(size, user_id).running === 0) shares[size].delete(user_id);
    } else lanes[size].set(user_id, left);
  }

  function serve(): void {
    while (!closed && running.small + running.big < slots) {
      const small = nextOf('small');
      const big = nextOf('big');
      const next = small !== undefined && (running.small === 0 || big === undefined) ? small : big;
      if (next === undefined) return;
      remove(next === small ? 'small' : 'big', next);
      next.begin();
    }
  }

  function tellPlaces(): void {
    for (const size of ['small', 'big'] as const) {
      let place = 0;
      for (const waiting of orderOf(rowsOf(size).map(([, row]) => row))) {
        place += 1;
        if (place === waiting.told) continue;
        waiting.told = place;
        waiting.applicant.onPlace?.(place);
      }
    }
  }

  /** Many small files may come and go while one waits: places are told now and then, not at each step. */
  function tellPlacesSoon(): void {
    if (closed || telling !== undefined || (lanes.small.size === 0 && lanes.big.size === 0)) return;
    telling = setTimeout(() => {
      telling = undefined;
      tellPlaces();
    }, PLACES_EVERY_MS);
    telling.unref();
  }

  function hold(user_id: string, size: Size, change: 1 | -1): void {
    running[size] += change;
    const share = shareOf(size, user_id);
    share.running += change;
    if (change > 0) {
      turn += 1;
      share.served = turn;
    }
    // Who has nothing here any more is forgotten.
    if (share.running === 0 && !lanes[size].has(user_id)) shares[size].delete(user_id);
    else shares[size].set(user_id, share);
  }

  return {
    async take(applicant, work) {
      const { user_id, signal } = applicant;
      if (closed || signal?.aborted) return undefined;
      const size = applicant.size <= small_bytes ? 'small' : 'big';
      const begun = Promise.withResolvers<boolean>();
      const waiting: Waiting = {
        applicant,
        told: 0,
        begin() {
          hold(user_id, size, 1);
          begun.resolve(true);
        },
        giveUp() {
          remove(size, waiting);
          begun.resolve(false);
          tellPlacesSoon();
        },
      };
      const row = lanes[size].get(user_id);
      if (row) row.push(waiting);
      else lanes[size].set(user_id, [waiting]);
      signal?.addEventListener('abort', waiting.giveUp, { once: true });
      serve();
      tellPlacesSoon();
      const hasBegun = await begun.promise;
      signal?.removeEventListener('abort', waiting.giveUp);
      if (!hasBegun) return undefined;
      try {
        return await work();
      } finally {
        hold(user_id, size, -1);
        serve();
        tellPlacesSoon();
      }
    },

    close() {
      closed = true;
      clearTimeout(telling);
      for (const lane of Object.values(lanes)) for (const waiting of orderOf([...lane.values()])) waiting.giveUp();
    },
  };
}
