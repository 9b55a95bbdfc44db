/**
 * Waiting items by person. Each person has a part with a bound, and their turn comes as often as everybody else's, however much they have waiting. One person's items
 * never take the room or the turn of another.
 */
export class FairQueue<T> {
  readonly #bound: number;
  /** In the order of the turns: the first one's is next. */
  readonly #parts = new Map<number, T[]>();
  #size = 0;

  /** @param bound what one person may have waiting */
  constructor(bound: number) {
    this.#bound = bound;
  }

  get size(): number {
    return this.#size;
  }

  sizeOf(person: number): number {
    return this.#parts.get(person)?.length ?? 0;
  }

  /** False where the person's part is full. */
  offer(person: number, item: T): boolean {
    const part = this.#parts.get(person);
    if (part === undefined) this.#parts.set(person, [item]);
    else if (part.length >= this.#bound) return false;
    else part.push(item);
    this.#size += 1;
    return true;
  }

  /** The next item: of the person who has waited longest for a turn, but for those who have one now. */
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

/** Ranges of subordinate user ids (subuid(5)) with the person whose they are: a person can make files with any of them. */
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

/** The person whose a file of this user is: a user id of a person's range counts as theirs. */
export function personOf(uid: number, ranges: readonly SubordinateRange[]): number {
  return ranges.find(({ first, count }) => uid >= first && uid < first + count)?.person ?? uid;
}
