import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { DomainList } from '@palisade/contract/web-protection';
import type { NameList } from '@palisade/names/name-list';
import { readList } from '@palisade/names/read-list';
import type { FastifyBaseLogger } from 'fastify';
import type { DomainListSource } from '#platform/dns-settings.ts';
import { refuse } from './web-protection.refusals.ts';

const DAY_MS = 86_400_000;
const LOOK_MS = 3_600_000;
const FETCH_MS = 300_000;
const BYTES_MAXIMUM = 256 * 1024 ** 2;
const NAMES_MAXIMUM = 5_000_000;

interface Loaded {
  names: NameList;
  as_of: string;
}

interface Entry {
  id: string;
  source: DomainListSource;
  loaded: Loaded | undefined;
  /** A new version that is less than half as long as the old one waits here until an administrator accepts it. */
  waiting: Loaded | undefined;
  fault: string | null;
}

/** Reads a list from a file. @throws Error for too many names, or none. */
async function load(path: string): Promise<Loaded> {
  const names = await readList(createReadStream(path), NAMES_MAXIMUM);
  return { names, as_of: (await stat(path)).mtime.toISOString() };
}

/** A stream that fails above the maximum size of a list. */
function bounded(): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > BYTES_MAXIMUM) done(new Error('It is larger than 256 MB.'));
      else done(null, chunk);
    },
  });
}

/** The lists of the setting DOMAIN_LISTS: downloaded daily, stored on disk, and replaced atomically. */
export class DomainLists {
  private readonly entries: Entry[];
  private readonly folder: string;
  private readonly now: () => number;
  private readonly logger: FastifyBaseLogger;
  private readonly onChange: () => void;
  private readonly closing = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private working: Promise<void> = Promise.resolve();

  constructor(options: {
    sources: readonly DomainListSource[];
    folder: string;
    now: () => number;
    logger: FastifyBaseLogger;
    onChange: () => void;
  }) {
    this.folder = options.folder;
    this.now = options.now;
    this.logger = options.logger;
    this.onChange = options.onChange;
    this.entries = options.sources.map((source) => {
      const id = createHash('sha256').update(`${source.category} ${source.url}`).digest('hex').slice(0, 16);
      return { id, source, loaded: undefined, waiting: undefined, fault: null };
    });
  }

  /** Reads the stored lists and starts to download newer ones in the background. */
  open(): void {
    if (this.entries.length === 0) return;
    this.working = this.look();
    this.timer = setInterval(() => {
      this.working = this.working.then(() => this.look());
    }, LOOK_MS);
    this.timer.unref();
  }

  private pathOf({ id }: Entry, kind: 'kept' | 'waiting' | 'new'): string {
    return join(this.folder, `${id}.${kind}`);
  }

  /** Checks for newer lists. It never rejects, so that a failure does not stop later checks. */
  private look(): Promise<void> {
    return this.lookNow().catch((error: unknown) => this.logger.warn({ err: error }, 'lists of names could not be looked at'));
  }

  private async lookNow(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    for (const entry of this.entries) {
      if (this.closing.signal.aborted) return;
      entry.loaded ??= await load(this.pathOf(entry, 'kept')).catch(() => undefined);
      entry.waiting ??= await load(this.pathOf(entry, 'waiting')).catch(() => undefined);
      this.onChange();
      const newest = entry.waiting ?? entry.loaded;
      if (newest === undefined || Math.abs(this.now() - Date.parse(newest.as_of)) > DAY_MS) await this.update(entry);
    }
  }

  private async update(entry: Entry): Promise<void> {
    const path = this.pathOf(entry, 'new');
    try {
      const signal = AbortSignal.any([this.closing.signal, AbortSignal.timeout(FETCH_MS)]);
      const answer = await fetch(entry.source.url, { signal });
      if (!answer.ok || answer.body === null) throw new Error(`Its server answered ${answer.status}.`);
      await pipeline(Readable.fromWeb(answer.body), bounded(), createWriteStream(path, { mode: 0o600 }), { signal });
      const fetched = await load(path);
      const hasShrunk = entry.loaded !== undefined && fetched.names.size < entry.loaded.names.size / 2;
      await rename(path, this.pathOf(entry, hasShrunk ? 'waiting' : 'kept'));
      entry.waiting = hasShrunk ? fetched : undefined;
      if (!hasShrunk) {
        entry.loaded = fetched;
        await rm(this.pathOf(entry, 'waiting'), { force: true });
      }
      entry.fault = null;
      this.onChange();
    } catch (error) {
      if (this.closing.signal.aborted) return;
      await rm(path, { force: true });
      entry.fault = error instanceof Error ? error.message : String(error);
      this.logger.warn({ err: error, list: entry.source.name }, 'a list of names could not be fetched');
    }
  }

  /** The lists of a category that are in use. */
  of(category: DomainListSource['category']): NameList[] {
    return this.entries.flatMap(({ source, loaded }) => (source.category === category && loaded ? [loaded.names] : []));
  }

  list(): DomainList[] {
    return this.entries.map(({ id, source: { name, category }, loaded, waiting, fault }) => ({
      ...{ id, name, category, fault },
      names: loaded?.names.size ?? 0,
      as_of: loaded?.as_of ?? null,
      waiting: waiting?.names.size ?? null,
    }));
  }

  /** Accepts a waiting list. @throws Problem `not_found` if none waits. */
  async accept(id: string): Promise<void> {
    const entry = this.entries.find((one) => one.id === id);
    if (entry?.waiting === undefined) throw refuse('domain_list.not_waiting');
    await rename(this.pathOf(entry, 'waiting'), this.pathOf(entry, 'kept'));
    entry.loaded = entry.waiting;
    entry.waiting = undefined;
    this.onChange();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    this.closing.abort();
    await this.working;
  }
}
