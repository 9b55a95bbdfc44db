import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignatureFeedStatus } from '@palisade/contract/engine';
import { findHash, type HashList, openHashList } from '@palisade/scanner/hash-list';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { StoreAwayError } from '#platform/blobs/blobs.ts';
import type { JobTables } from '#platform/jobs/job-tables.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { SignatureFeed } from '#platform/signature-feeds.ts';
import type { FetchLimits } from './fetch-feed.ts';
import { UPDATE_SIGNATURES } from './scan-jobs.ts';
import type { SharedSignatures } from './shared-signatures.ts';
import { openSignatureStore, type SignatureStore, type StoredSet, type UpdateState } from './signature-store.ts';
import { feedId, updateSignatures } from './signature-update.ts';

/** Facts about the signatures beside the engine's own. Times are ISO. */
interface SignaturesStatus {
  /** When the newest of them arrived: the pack's own date if there are no feeds, null if it has none. */
  built_at: string | null;
  /** The time until which they are known to be the newest; null if no feed could tell. */
  as_of: string | null;
  last_update_at: string | null;
  /** One sentence for everyone; null before the first update. */
  last_outcome: string | null;
  /** Feeds that the last update could not use. */
  failed_sources: number;
  feeds: (Omit<SignatureFeedStatus, 'memory_bytes'> & { id: string })[];
}

const LOOK_EVERY_MS = 30_000;
/** Delay of the first look after a start, in ms: soon, but after people's first requests. */
const FIRST_LOOK_MS = 2_000;
/** An update planned later than this many ms from now was planned by a wrong clock. */
const PLANNED_AT_MOST_MS = 48 * 3_600_000;

/** Feeds count as late after this many ms: they are updated daily, and hourly after a failure. */
const LATE_AFTER_MS = 26 * 3_600_000;

const packSchema = z.object({ released_on: z.iso.date() });

/** The day of the pack's last change. A provider's own pack may go without. */
async function packDate(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? null : `${packSchema.parse(JSON.parse(text)).released_on}T00:00:00.000Z`;
}

/** The address without parts that may be secret: account and query. */
function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

interface SignaturesOptions {
  signatures_folder: string;
  feeds: readonly SignatureFeed[];
  now: () => number;
  logger: FastifyBaseLogger;
  look_ms?: number | undefined;
  fetch_limits?: FetchLimits | undefined;
  /** Set if servers share a store: one of them fetches for all. */
  together?: { shared: SharedSignatures; database: Kysely<JobTables>; jobs: Jobs } | undefined;
  /** The day of the pack's last change. */
  pack_built_at: string | null;
  store: SignatureStore;
  /** The result of the last update; undefined for both without feeds. */
  stored: { state: UpdateState | undefined; set: StoredSet | undefined };
}

const close = (some: readonly HashList[]) => {
  for (const list of some) list.close();
};

/** The signatures of a server: the pack in `signatures_folder`, and earlier downloads of feeds in `folder`. */
export class Signatures {
  private readonly options: SignaturesOptions;
  private readonly look_ms: number;
  private readonly together: { shared: SharedSignatures; database: Kysely<JobTables>; jobs: Jobs } | undefined;
  private readonly rules_folder: string;
  private readonly ids: readonly string[];
  private set: StoredSet | undefined;
  /** The newest set that was examined, in use or not. */
  private seen: string | undefined;
  private state: UpdateState | undefined;
  private lists: HashList[] = [];
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private readonly closing = new AbortController();
  private apply: (files: SignatureFiles) => Promise<boolean> = () => Promise.resolve(true);

  constructor(options: SignaturesOptions) {
    this.options = options;
    this.look_ms = options.look_ms ?? LOOK_EVERY_MS;
    this.together = options.together;
    this.rules_folder = join(this.options.signatures_folder, 'rules');
    this.ids = this.options.feeds.map(feedId);
    this.together?.jobs.handle(UPDATE_SIGNATURES, () =>
      this.alone(async () => {
        if (this.closing.signal.aborted || this.options.feeds.length === 0) return;
        // Another server may have updated in the meantime.
        await this.look();
        if (this.isDue()) await this.update();
      }),
    );
    if (this.options.feeds.length > 0) {
      this.state = options.stored.state;
      this.seen = options.stored.set?.name;
      this.set = options.stored.set;
      this.lists = this.openLists(options.stored.set);
    }
  }

  /** The feeds of a set that the settings still name. */
  private wanted(set: StoredSet | undefined) {
    return (set?.feeds ?? []).filter(({ id }) => this.ids.includes(id));
  }

  private severityOf(id: string) {
    return this.options.feeds[this.ids.indexOf(id)]?.severity ?? 'alarm';
  }

  private filesOf(set: StoredSet | undefined): SignatureFiles {
    return {
      rules_folder: this.rules_folder,
      feeds: this.wanted(set).flatMap(({ id, kind, path, digest }) =>
        kind === 'domains' ? [] : [{ id, kind, path, digest, severity: this.severityOf(id) }],
      ),
    };
  }

  /** Earlier scans are looked up only in lists that make a file infected, not in those that add notes. */
  private openLists(of: StoredSet | undefined): HashList[] {
    return this.wanted(of).flatMap(({ id, kind, path }) =>
      kind === 'sha256' && this.severityOf(id) === 'alarm' ? [openHashList(path)] : [],
    );
  }

  /** Changes the lists before the engines: the recheck after the engines have changed must use the new lists. */
  private async moveOver(next: StoredSet): Promise<boolean> {
    const before = this.lists;
    this.lists = this.openLists(next);
    const moved = await this.apply(this.filesOf(next));
    if (moved) {
      this.set = next;
      close(before);
    } else {
      close(this.lists);
      this.lists = before;
    }
    return moved;
  }

  private async look(): Promise<void> {
    await this.together?.shared.adopt(this.options.store);
    this.state = await this.options.store.readState();
    const name = await this.options.store.currentName();
    if (name === this.seen) return;
    const next = await this.options.store.readCurrent();
    if (next === undefined) {
      this.options.logger.error({ set: name }, 'the signatures on disk are damaged: the ones in memory stay in use');
    } else if (await this.moveOver(next)) {
      this.options.logger.info({ set: next.name, feeds: next.feeds.length }, 'new signatures are in use');
    } else if (!this.closing.signal.aborted) {
      this.options.logger.error({ set: next.name }, 'new signatures could not be taken into use: the ones before stay');
    }
    this.seen = name;
  }

  private isDue(): boolean {
    if (this.state === undefined) return true;
    const wait_ms = Date.parse(this.state.next_at) - this.options.now();
    const known = this.state.feeds.map(({ id }) => id);
    return wait_ms <= 0 || wait_ms > PLANNED_AT_MOST_MS || this.ids.some((id) => !known.includes(id));
  }

  private async update(): Promise<void> {
    const { signal } = this.closing;
    await updateSignatures({
      store: this.options.store,
      feeds: this.options.feeds,
      signatures_folder: this.options.signatures_folder,
      now: this.options.now,
      logger: this.options.logger,
      fetch_limits: this.options.fetch_limits,
      signal,
    });
    await this.together?.shared.publish(this.options.store);
    await this.look();
  }

  private readonly lookAndUpdate = async (): Promise<void> => {
    await this.look();
    if (!this.isDue()) return;
    if (this.together === undefined) return await this.update();
    await this.together.jobs.enqueue(this.together.database, UPDATE_SIGNATURES, {}, { once: 'feeds' });
    this.together.jobs.wake(UPDATE_SIGNATURES);
  };

  /** Runs updates and looks one at a time. */
  private alone(work: () => Promise<void>): Promise<void> {
    const before = this.looking;
    const done = before.then(work);
    this.looking = done.catch(() => {});
    return done;
  }

  private schedule(delay_ms: number): void {
    this.timer = setTimeout(() => {
      void this.alone(this.lookAndUpdate)
        .catch((error: unknown) => {
          if (this.closing.signal.aborted) return;
          if (error instanceof StoreAwayError) this.options.logger.warn({ err: error }, 'signatures could not be looked after');
          else this.options.logger.error({ err: error }, 'signatures could not be looked after');
        })
        .finally(() => {
          if (!this.closing.signal.aborted) this.schedule(this.look_ms);
        });
    }, delay_ms);
    this.timer.unref();
  }

  /** A feed with a pinned checksum cannot get newer, so it says nothing; of the others the oldest counts. */
  private asOf(): string | null {
    const confirmed = this.options.feeds.flatMap(({ pin }, index) => {
      const used = pin.kind === 'sha256' ? undefined : this.wanted(this.set).find(({ id }) => id === this.ids[index]);
      return used === undefined ? [] : (this.state?.feeds.find(({ id }) => id === used.id)?.confirmed_at ?? used.changed_at);
    });
    return confirmed.sort()[0] ?? null;
  }

  /** The files that an engine is to use now. */
  files(): SignatureFiles {
    return this.filesOf(this.set);
  }

  status(): SignaturesStatus {
    const outcomes = this.options.feeds.map((feed, index) => {
      const id = this.ids[index] ?? '';
      const outcome = this.state?.feeds.find((one) => one.id === id);
      const used = this.wanted(this.set).find((one) => one.id === id);
      return {
        id,
        address: shownAddress(feed.url),
        kind: feed.kind,
        severity: feed.severity,
        rules: used?.rules ?? 0,
        hashes: used?.hashes ?? 0,
        left_out: used?.left_out ?? [],
        left_out_total: used?.left_out_total ?? 0,
        changed_at: used?.changed_at ?? null,
        confirmed_at: outcome?.confirmed_at ?? null,
        ok: outcome?.ok ?? true,
        sentence: outcome?.sentence ?? 'Waiting for the first update.',
      };
    });
    const failed = outcomes.filter(({ ok }) => !ok).length;
    return {
      built_at:
        this.wanted(this.set)
          .map(({ changed_at }) => changed_at)
          .sort()
          .at(-1) ?? this.options.pack_built_at,
      as_of: this.asOf(),
      last_update_at: this.options.feeds.length > 0 ? (this.state?.attempted_at ?? null) : null,
      last_outcome:
        this.options.feeds.length === 0 || this.state === undefined
          ? null
          : failed === 0
            ? 'The last update succeeded.'
            : `The last update failed for ${failed} of ${this.options.feeds.length} sources; we still use the previous version.`,
      failed_sources: failed,
      feeds: outcomes,
    };
  }

  /** Time since the feeds were known to be the newest, in ms; undefined if no feed could say. */
  age(): number | undefined {
    const as_of = this.asOf();
    return as_of === null ? undefined : this.options.now() - Date.parse(as_of);
  }

  /** Number of feeds that were not known to be the newest within their update interval. */
  late(): number {
    return this.ids.filter((id) => {
      const confirmed_at = this.state?.feeds.find((one) => one.id === id)?.confirmed_at;
      return confirmed_at == null || this.options.now() - Date.parse(confirmed_at) > LATE_AFTER_MS;
    }).length;
  }

  /** The threat that the lists in use name for a SHA-256 (hex): for files that were scanned before. */
  matchHash(sha256: string): string | undefined {
    return findHash(this.lists, sha256);
  }

  /** The lists of dangerous domains in use, as files of `openHashList`, with the host of their source as their name. */
  domainLists(): { name: string; path: string; digest: string }[] {
    return this.wanted(this.set).flatMap(({ id, kind, path, digest }) => {
      const feed = this.options.feeds[this.ids.indexOf(id)];
      return kind === 'domains' && feed !== undefined ? [{ name: new URL(feed.url).host, path, digest }] : [];
    });
  }

  /** Starts looking for new sets, of any server, and updating daily. `apply` switches the engines, and returns whether they did. */
  watch(engines: (files: SignatureFiles) => Promise<boolean>): void {
    this.apply = engines;
    if (this.options.feeds.length > 0) this.schedule(Math.min(this.look_ms, FIRST_LOOK_MS));
  }

  async close(): Promise<void> {
    this.closing.abort();
    clearTimeout(this.timer);
    await this.looking;
    close(this.lists.splice(0));
  }
}

/** Opens the signatures of a server: the pack in `signatures_folder`, and earlier downloads of feeds in `folder`. */
export async function createSignatures(
  options: Omit<SignaturesOptions, 'pack_built_at' | 'store' | 'stored'> & { folder: string },
): Promise<Signatures> {
  const pack_built_at = await packDate(join(options.signatures_folder, 'pack.json'));
  const store = await openSignatureStore(options.folder);
  const stored =
    options.feeds.length === 0
      ? { state: undefined, set: undefined }
      : { state: await store.readState(), set: await store.readCurrent() };
  return new Signatures({ ...options, pack_built_at, store, stored });
}
