import { createHash } from 'node:crypto';
import { constants, copyFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LEFT_OUT_NAMED } from '@palisade/contract/engine';
import { formatList, formatNumber, plural } from '@palisade/contract/intl';
import { TRIAL_TIME_MS, tryFeed } from '@palisade/scanner/trial';
import type { FastifyBaseLogger } from 'fastify';
import { takeExclusive } from '#platform/exclusive.ts';
import type { SignatureFeed } from '#platform/signature-feeds.ts';
import { FETCH_LIMITS, FeedRefused, type FetchLimits, fetchFeed } from './fetch-feed.ts';
import type { FeedOutcome, SignatureStore, StoredFeed, StoredSet } from './signature-store.ts';

/** The result of an update. `busy`: another one is running, and this one did nothing. */
export type UpdateOutcome = 'updated' | 'unchanged' | 'failed' | 'busy';

/** The points at which an update may be interrupted; each leaves a complete set in use. */
export type UpdateStep = 'locked' | 'fetched' | 'tried' | 'published' | 'pointed' | 'cleaned';

export interface UpdateParts {
  store: SignatureStore;
  feeds: readonly SignatureFeed[];
  /** `server/signatures`. */
  signatures_folder: string;
  /** The folder with the files of the kept set; by default the installation around `signatures_folder`. */
  installation_folder?: string | undefined;
  now: () => number;
  logger: FastifyBaseLogger;
  /** From 0 up to, not including, 1: spreads the updates of many servers. */
  random?: (() => number) | undefined;
  fetch_limits?: FetchLimits | undefined;
  trial_ms?: number | undefined;
  signal?: AbortSignal | undefined;
  onStep?: ((step: UpdateStep) => void) | undefined;
}

const HOUR_MS = 3_600_000;
/** Time until the next update in ms, plus up to a tenth; sooner if a feed failed. */
const EVERY_MS = { good: 24 * HOUR_MS, failed: HOUR_MS } as const;
const NAMED_MAXIMUM = 3;
const KEPT = 'We still use the last good version.';

/** An id for a feed with its pin: the same address with another pin is another feed. */
export function feedId({ kind, url, pin, strict }: SignatureFeed): string {
  const proof = pin.kind === 'sha256' ? pin.hex : pin.kind === 'ed25519' ? pin.key : '';
  // A strict trial may have another result.
  const wish = strict ? '&strict' : '';
  return createHash('sha256').update(`${kind}+${url}#${pin.kind}=${proof}${wish}`).digest('hex').slice(0, 16);
}

function describeCount(kind: StoredFeed['kind'], rules: number, hashes: number): string {
  const figures = { rules: formatNumber(rules), hashes: formatNumber(hashes) };
  if (kind === 'domains') return plural(hashes, { one: '1 domain or address', other: `${figures.hashes} domains and addresses` });
  if (rules > 0) return plural(rules, { one: '1 rule', other: `${figures.rules} rules` });
  return plural(hashes, { one: '1 hash', other: `${figures.hashes} hashes` });
}

function describe({ kind, rules, hashes, left_out, left_out_total }: StoredFeed): string {
  const count = describeCount(kind, rules, hashes);
  if (left_out_total === 0) return `In use: ${count}.`;
  const names = left_out.slice(0, NAMED_MAXIMUM).map(({ name }) => name);
  const more = left_out_total - names.length;
  return `In use: ${count}. Left out: ${more > 0 ? formatList([...names, `${formatNumber(more)} more`]) : formatList(names, 'plain')}.`;
}

interface Obtained {
  /** Undefined: the feed has no usable part. */
  stored: StoredFeed | undefined;
  outcome: FeedOutcome;
}

/**
 * Updates the signatures: fetches each feed, verifies and tries it in a separate process, stores a new set beside the one in use, and switches to it. A feed that fails
 * keeps its last valid content. May run beside a server and other updates; killed at any moment it leaves the set in use unchanged. @throws the signal's reason.
 */
export async function updateSignatures(
  parts: UpdateParts,
): Promise<{ outcome: UpdateOutcome; feeds: { url: string; ok: boolean; sentence: string }[] }> {
  const { store, feeds, signatures_folder, now, logger, random = Math.random, onStep = () => {} } = parts;
  const { fetch_limits = FETCH_LIMITS, trial_ms = TRIAL_TIME_MS, signal = new AbortController().signal } = parts;
  // signatures/ lies in the server's folder, and that in the installation's.
  const { installation_folder = resolve(signatures_folder, '..', '..') } = parts;
  const release = takeExclusive(store.lock_file);
  if (release === undefined) return { outcome: 'busy', feeds: [] };
  const at = () => new Date(now()).toISOString();

  async function obtain(feed: SignatureFeed, staged: string, before: StoredSet | undefined, last: readonly FeedOutcome[]) {
    const id = feedId(feed);
    const target = join(staged, id);
    const previous = before?.feeds.find((one) => one.id === id);
    const known = last.find((one) => one.id === id && one.digest !== null && one.digest === previous?.digest);
    const nothing = { id, confirmed_at: null, digest: null, etag: null, last_modified: null };

    async function keep(outcome: Pick<FeedOutcome, 'ok' | 'sentence'> & Partial<FeedOutcome>): Promise<Obtained> {
      if (previous === undefined) return { stored: undefined, outcome: { ...nothing, ...outcome } };
      const { path, ...stored } = previous;
      await copyFile(path, target, constants.COPYFILE_FICLONE);
      return { stored, outcome: { ...(known ?? { ...nothing, digest: stored.digest }), ...outcome } };
    }

    if (previous !== undefined && feed.pin.kind === 'sha256') {
      return await keep({ ok: true, sentence: `${describe(previous)} Its checksum is pinned, so it stays as it is.` });
    }
    const download = `${target}.download`;
    try {
      const fetched = await fetchFeed(feed, { path: download, known, limits: fetch_limits, signal });
      onStep('fetched');
      if (fetched === undefined && previous !== undefined) {
        return await keep({ ok: true, sentence: `${describe(previous)} Nothing new.`, confirmed_at: at() });
      }
      const answer = await tryFeed(
        {
          rules_folder: join(signatures_folder, 'rules'),
          samples_folder: join(signatures_folder, 'samples'),
          installation_folder,
          feed: {
            id,
            kind: feed.kind,
            pin: feed.pin,
            strict: feed.strict,
            path: download,
            signature: fetched?.signature?.toString('base64'),
            target,
          },
        },
        trial_ms,
        signal,
      );
      signal.throwIfAborted();
      onStep('tried');
      if (answer.kind === 'refused') throw new FeedRefused(answer.sentence);
      const { digest, rules, hashes, left_out } = answer.feed;
      const is_new = digest !== previous?.digest;
      const stored: StoredFeed = {
        id,
        kind: feed.kind,
        digest,
        rules,
        hashes,
        changed_at: is_new ? at() : previous.changed_at,
        left_out: left_out.slice(0, LEFT_OUT_NAMED),
        left_out_total: left_out.length,
      };
      const { etag = null, last_modified = null } = fetched ?? {};
      const sentence = `${describe(stored)}${is_new ? '' : ' Nothing new.'}`;
      return { stored, outcome: { id, ok: true, sentence, confirmed_at: at(), digest, etag, last_modified } };
    } catch (error) {
      if (!(error instanceof FeedRefused)) throw error;
      logger.warn({ feed: new URL(feed.url).host, reason: error.message }, 'signature feed refused');
      await rm(target, { force: true });
      return await keep({ ok: false, sentence: previous === undefined ? error.message : `${error.message} ${KEPT}` });
    } finally {
      await rm(download, { force: true });
    }
  }

  try {
    onStep('locked');
    const before = await store.readCurrent();
    const last = (await store.readState())?.feeds ?? [];
    const staged = await store.stage();
    const obtained: Obtained[] = [];
    for (const feed of feeds) obtained.push(await obtain(feed, staged, before, last));
    const stored = obtained.flatMap((one) => one.stored ?? []);
    const key = (set: readonly StoredFeed[]) => set.map(({ id, digest }) => `${id} ${digest}`).join('\n');
    const changed = key(stored) !== key(before?.feeds ?? []);
    if (changed) {
      const name = await store.publish(staged, stored);
      onStep('published');
      await store.point(name);
      onStep('pointed');
      await store.clean();
      onStep('cleaned');
    }
    const all_good = obtained.every(({ outcome }) => outcome.ok);
    await store.writeState({
      attempted_at: at(),
      next_at: new Date(now() + (all_good ? EVERY_MS.good : EVERY_MS.failed) * (1 + random() / 10)).toISOString(),
      feeds: obtained.map(({ outcome }) => outcome),
    });
    return {
      outcome: all_good ? (changed ? 'updated' : 'unchanged') : 'failed',
      feeds: feeds.map(({ url }, index) => ({
        url,
        ok: obtained[index]?.outcome.ok ?? false,
        sentence: obtained[index]?.outcome.sentence ?? '',
      })),
    };
  } finally {
    release();
  }
}
