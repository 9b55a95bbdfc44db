import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SignatureFeedStatus } from '@palisade/contract/engine';
import { type HashList, openHashList } from '@palisade/scanner/hash-list';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import { findHash } from '@palisade/scanner/signature-set';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { StoreAwayError } from '#platform/blobs/blobs.ts';
import type { JobTables } from '#platform/jobs/job-store.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { SignatureFeed } from '#platform/signature-feeds.ts';
import type { FetchLimits } from './fetch-feed.ts';
import { UPDATE_SIGNATURES } from './scan-jobs.ts';
import type { SharedSignatures } from './shared-signatures.ts';
import { openSignatureStore, type StoredSet, type UpdateState } from './signature-store.ts';
import { feedId, updateSignatures } from './signature-update.ts';

/** What is known of the signatures beside what an engine says. Times are ISO. */
interface SignaturesStatus {
  /** When the newest of them came: the pack's own day where there is nothing else, null where it does not say. */
  built_at: string | null;
  /** Until when they are known to be the newest; null where no feed could say. */
  as_of: string | null;
  last_update_at: string | null;
  /** One sentence for everyone; null before the first update. */
  last_outcome: string | null;
  /** Feeds that the last update could not use. */
  failed_sources: number;
  feeds: (Omit<SignatureFeedStatus, 'memory_bytes'> & { id: string })[];
}

export interface Signatures {
  /** What an engine is to use now. */
  files(): SignatureFiles;
  status(): SignaturesStatus;
  /** How long ago the feeds were known to be the newest, in ms; undefined where no feed could say. */
  age(): number | undefined;
  /** How many feeds were not known to be the newest within the time in which each is updated. */
  late(): number;
  /** The threat that the lists in use name for a SHA-256 (hex): for files that were scanned before. */
  matchHash(sha256: string): string | undefined;
  /** Begins to look for new sets, whoever made them, and to update daily. `apply` moves the engines over, and says whether they did. */
  watch(apply: (files: SignatureFiles) => Promise<boolean>): void;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 30_000;
/** The first look after a start: soon, but behind what people wait for. ms. */
const FIRST_LOOK_MS = 2_000;
/** An update that is planned for later than this was planned by a clock that was wrong. ms. */
const PLANNED_AT_MOST_MS = 48 * 3_600_000;

/** Feeds are updated daily, and hourly after a failure. ms. */
const LATE_AFTER_MS = 26 * 3_600_000;

const packSchema = z.object({ released_on: z.iso.date() });

/** The day of the pack's last change. A provider's own pack may go without. */
async function packDate(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? null : `${packSchema.parse(JSON.parse(text)).released_on}T00:00:00.000Z`;
}

/** Without what a maker may have given as a secret: account and query. */
function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** Opens the signatures of a server: the pack in `signatures_folder`, and what feeds brought into `folder` before. */
export async function createSignatures(parts: {
  folder: string;
  signatures_folder: string;
  feeds: readonly SignatureFeed[];
  now: () => number;
  logger: FastifyBaseLogger;
  look_ms?: number | undefined;
  fetch_limits?: FetchLimits | undefined;
  /** Where servers share a store: one of them fetches for all. */
  together?: { shared: SharedSignatures; database: Kysely<JobTables>; jobs: Jobs } | undefined;
}): Promise<Signatures> {
  const { folder, signatures_folder, feeds, now, logger, look_ms = LOOK_EVERY_MS, fetch_limits, together } = parts;
  const rules_folder = join(signatures_folder, 'rules');
  const pack_built_at = await packDate(join(signatures_folder, 'pack.json'));
  const ids = feeds.map(feedId);
  const store = await openSignatureStore(folder);

  /** Of a set only what the settings still name. */
  const wanted = (set: StoredSet | undefined) => (set?.feeds ?? []).filter(({ id }) => ids.includes(id));
  const severityOf = (id: string) => feeds[ids.indexOf(id)]?.severity ?? 'alarm';
  const filesOf = (set: StoredSet | undefined): SignatureFiles => ({
    rules_folder,
    feeds: wanted(set).map(({ id, kind, path, digest }) => ({ id, kind, path, digest, severity: severityOf(id) })),
  });

  let set: StoredSet | undefined;
  /** The newest set that was looked at, in use or not. */
  let seen: string | undefined;
  let state: UpdateState | undefined;
  let lists: HashList[] = [];
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const closing = new AbortController();
  let apply: (files: SignatureFiles) => Promise<boolean> = () => Promise.resolve(true);

  /** What was read before is asked for again in lists that make a file infected, not in those that only note. */
  const openLists = (of: StoredSet | undefined): HashList[] =>
    wanted(of).flatMap(({ id, kind, path }) => (kind === 'sha256' && severityOf(id) === 'alarm' ? [openHashList(path)] : []));
  const close = (some: readonly HashList[]) => {
    for (const list of some) list.close();
  };

  /** The lists change first: what is scanned again because the engines have moved over must find the new ones. */
  async function moveOver(next: StoredSet): Promise<boolean> {
    const before = lists;
    lists = openLists(next);
    const moved = await apply(filesOf(next));
    if (moved) {
      set = next;
      close(before);
    } else {
      close(lists);
      lists = before;
    }
    return moved;
  }

  async function look(): Promise<void> {
    await together?.shared.adopt(store);
    state = await store.readState();
    const name = await store.currentName();
    if (name === seen) return;
    const next = await store.readCurrent();
    if (next === undefined) {
      logger.error({ set: name }, 'the signatures on disk are damaged: the ones in memory stay in use');
    } else if (await moveOver(next)) {
      logger.info({ set: next.name, feeds: next.feeds.length }, 'new signatures are in use');
    } else if (!closing.signal.aborted) {
      logger.error({ set: next.name }, 'new signatures could not be taken into use: the ones before stay');
    }
    seen = name;
  }

  function isDue(): boolean {
    if (state === undefined) return true;
    const wait_ms = Date.parse(state.next_at) - now();
    const known = state.feeds.map(({ id }) => id);
    return wait_ms <= 0 || wait_ms > PLANNED_AT_MOST_MS || ids.some((id) => !known.includes(id));
  }

  async function update(): Promise<void> {
    const { signal } = closing;
    await updateSignatures({ store, feeds, signatures_folder, now, logger, fetch_limits, signal });
    await together?.shared.publish(store);
    await look();
  }

  async function lookAndUpdate(): Promise<void> {
    await look();
    if (!isDue()) return;
    if (together === undefined) return await update();
    await together.jobs.enqueue(together.database, UPDATE_SIGNATURES, {}, { once: 'feeds' });
    together.jobs.wake(UPDATE_SIGNATURES);
  }

  /** An update and a look are never at once. */
  function alone(work: () => Promise<void>): Promise<void> {
    const before = looking;
    const done = before.then(work);
    looking = done.catch(() => {});
    return done;
  }

  together?.jobs.handle(UPDATE_SIGNATURES, () =>
    alone(async () => {
      if (closing.signal.aborted || feeds.length === 0) return;
      // Another server may have done it meanwhile.
      await look();
      if (isDue()) await update();
    }),
  );

  function schedule(delay_ms: number): void {
    timer = setTimeout(() => {
      void alone(lookAndUpdate)
        .catch((error: unknown) => {
          if (closing.signal.aborted) return;
          if (error instanceof StoreAwayError) logger.warn({ err: error }, 'signatures could not be looked after');
          else logger.error({ err: error }, 'signatures could not be looked after');
        })
        .finally(() => {
          if (!closing.signal.aborted) schedule(look_ms);
        });
    }, delay_ms);
    timer.unref();
  }

  if (feeds.length > 0) {
    state = await store.readState();
    const first = await store.readCurrent();
    seen = first?.name;
    set = first;
    lists = openLists(first);
  }

  /** A feed with a pinned checksum cannot get newer, so nobody could say; of the others the oldest speaks. */
  function asOf(): string | null {
    const confirmed = feeds.flatMap(({ pin }, index) => {
      const used = pin.kind === 'sha256' ? undefined : wanted(set).find(({ id }) => id === ids[index]);
      return used === undefined ? [] : (state?.feeds.find(({ id }) => id === used.id)?.confirmed_at ?? used.changed_at);
    });
    return confirmed.sort()[0] ?? null;
  }

  return {
    files: () => filesOf(set),

    status() {
      const outcomes = feeds.map((feed, index) => {
        const id = ids[index] ?? '';
        const outcome = state?.feeds.find((one) => one.id === id);
        const used = wanted(set).find((one) => one.id === id);
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
          sentence: outcome?.sentence ?? 'Waiting for its first update.',
        };
      });
      const failed = outcomes.filter(({ ok }) => !ok).length;
      return {
        built_at:
          wanted(set)
            .map(({ changed_at }) => changed_at)
            .sort()
            .at(-1) ?? pack_built_at,
        as_of: asOf(),
        last_update_at: feeds.length > 0 ? (state?.attempted_at ?? null) : null,
        last_outcome:
          feeds.length === 0 || state === undefined
            ? null
            : failed === 0
              ? 'The last update went well.'
              : `The last update failed for ${failed} of ${feeds.length} sources; what was there before stays in use.`,
        failed_sources: failed,
        feeds: outcomes,
      };
    },

    age() {
      const as_of = asOf();
      return as_of === null ? undefined : now() - Date.parse(as_of);
    },

    late: () =>
      ids.filter((id) => {
        const confirmed_at = state?.feeds.find((one) => one.id === id)?.confirmed_at;
        return confirmed_at == null || now() - Date.parse(confirmed_at) > LATE_AFTER_MS;
      }).length,

    matchHash: (sha256) => findHash(lists, sha256),

    watch(engines) {
      apply = engines;
      if (feeds.length > 0) schedule(Math.min(look_ms, FIRST_LOOK_MS));
    },

    async close() {
      closing.abort();
      clearTimeout(timer);
      await looking;
      close(lists.splice(0));
    },
  };
}
