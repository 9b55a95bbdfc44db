/**
 * Queue of items by user. Each user has a queue of limited length, and the users take turns (round robin). One user's items
 * never delay or displace another's.
 */
export class FairQueue<T> {
  readonly #bound: number;
  /** Queues by user, in the order of their turns. */
  readonly #parts = new Map<number, T[]>();
  #size = 0;

  /** @param bound maximum waiting items of one user */
  constructor(bound: number) {
    this.#bound = bound;
  }

  get size(): number {
    return this.#size;
  }

  sizeOf(person: number): number {
    return this.#parts.get(person)?.length ?? 0;
  }

  /** False if the user's queue is full. */
  offer(person: number, item: T): boolean {
    const part = this.#parts.get(person);
    if (part === undefined) this.#parts.set(person, [item]);
    else if (part.length >= this.#bound) return false;
    else part.push(item);
    this.#size += 1;
    return true;
  }

  /** Removes and returns the next item, without users for whom `isBusy` is true. */
  take(isBusy: (person: number) => boolean = () => false): { person: number; item: T } | undefined {
    for (const [person, part] of this.#parts) {
      if (isBusy(person)) continue;
      const item = part.shift();
      this.#parts.delete(person);
      if (part.length > 0) this.#parts.set(person, part);
      if (item === undefined) continue;
      this.#size -= 1;
      return { person, item };
    }
    return undefined;
  }

  clear(): void {
    this.#parts.clear();
    this.#size = 0;
  }
}

interface SubordinateRange {
  person: number;
  first: number;
  count: number;
}

const RANGES_MAXIMUM = 2_000;

/** Parses ranges of subordinate user ids (subuid(5)) and their users. A user can create files with any of these ids. */
export function readSubordinates(subuid: string, passwd: string): SubordinateRange[] {
  const uids = new Map(
    passwd.split('\n').flatMap((line): [string, number][] => {
      const [name = '', , uid = ''] = line.split(':');
      return /^\d{1,10}$/u.test(uid) ? [[name, Number(uid)]] : [];
    }),
  );
  return subuid
    .split('\n')
    .slice(0, RANGES_MAXIMUM)
    .flatMap((line) => {
      const [name = '', first = '', count = ''] = line.trim().split(':');
      const person = uids.get(name) ?? (/^\d{1,10}$/u.test(name) ? Number(name) : undefined);
      return person !== undefined && /^\d{1,10}$/u.test(first) && /^\d{1,10}$/u.test(count)
        ? [{ person, first: Number(first), count: Number(count) }]
        : [];
    });
}

/** Maps a file's user id to the user: subordinate ids belong to the user of their range. */
export function personOf(uid: number, ranges: readonly SubordinateRange[]): number {
  return ranges.find(({ first, count }) => uid >= first && uid < first + count)?.person ?? uid;
}
