import type { NameHashes, NameSet } from '@palisade/names/name-list';
import { endingOf } from '@palisade/names/wire';
import { domainSum } from '@palisade/scanner/domain-list';
import { type HashList, openHashList } from '@palisade/scanner/hash-list';
import { parse } from 'tldts';

/** A list of dangerous domains, stored in the format of `openHashList`. */
export interface DangerousList {
  path: string;
  digest: string;
}

const KNOWN_MAXIMUM = 50_000;
/** Interval between checks for changed lists, in ms. */
const LOOK_MS = 5_000;

/** The lists of dangerous domains that the scam check also uses. Only entries of whole hosts count: a listed page does not block its host. */
export class DangerousNames implements NameSet {
  private readonly lists: () => readonly DangerousList[];
  private readonly now: () => number;
  private opened: HashList[] = [];
  private digests = '';
  private looked_at = Number.NEGATIVE_INFINITY;
  /** Cache of lookups by name. */
  private readonly known = new Map<string, boolean>();

  constructor(options: { lists: () => readonly DangerousList[]; now: () => number }) {
    this.lists = options.lists;
    this.now = options.now;
  }

  private look(): void {
    const now = this.now();
    if (Math.abs(now - this.looked_at) < LOOK_MS) return;
    this.looked_at = now;
    const lists = this.lists();
    const digests = lists.map(({ digest }) => digest).join();
    if (digests === this.digests) return;
    const opened = lists.map(({ path }) => openHashList(path));
    this.close();
    this.opened = opened;
    this.digests = digests;
    this.known.clear();
  }

  get hasLists(): boolean {
    this.look();
    return this.opened.length > 0;
  }

  has({ name }: NameHashes, depth: number): boolean {
    this.look();
    if (this.opened.length === 0 || depth === 0) return false;
    const host = endingOf(name, depth);
    let isListed = this.known.get(host);
    if (isListed === undefined) {
      const sum = domainSum(host);
      isListed = this.opened.some((list) => list.find(sum) !== undefined) && !isShared(host);
      if (this.known.size >= KNOWN_MAXIMUM) this.known.clear();
      this.known.set(host, isListed);
    }
    return isListed;
  }

  close(): void {
    for (const list of this.opened.splice(0)) list.close();
  }
}

/** Whether a name is a public suffix, below which websites have different owners: `co.uk`, `github.io`. */
export function isShared(host: string): boolean {
  return parse(host, { allowPrivateDomains: true, validateHostname: false }).publicSuffix === host;
}
