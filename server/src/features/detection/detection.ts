import { isIP } from 'node:net';
import { alertEnglish, alertPhrase } from '@palisade/contract/alert-phrases';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { SecurityEvent } from '#platform/security-event.ts';
import { logSecurityEvent } from '#platform/security-log.ts';
import { detect, type Finding, placesOf, vouchedFor, WINDOWS_MAXIMUM, type Windows } from './detect.ts';
import type { DetectionTables } from './detection.tables.ts';
import type { FindingNotifier } from './finding-notifier.ts';
import { type Found, type KeptFinding, keepFindings } from './findings-store.ts';
import type { Asker } from './flood.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { FLOOD, type Sighting } from './rules.ts';
import { createVolumes, type Flood, type Volumes } from './volumes.ts';
import { windowSchema } from './windows.ts';
import { changeWindows, emptyWindows, isAnyHeld, sweepWindows } from './windows-store.ts';

const FOLD_EVERY_MS = 60_000;
/** Reports the findings of a server that stopped before, and removes expired data. */
const SECOND_LOOK = jobKind({ name: 'detection', payload: z.object({}), every_ms: 60_000 });
const SWEEP_BROWSERS = jobKind({ name: 'known-browsers', payload: z.object({}), every_ms: 3_600_000 });
/** Maximum number of refused requests that wait to be examined. */
const WAITING_MAXIMUM = 500;
const LOOKED_AT_ONCE = 50;

interface DetectionOptions {
  database: Kysely<DetectionTables>;
  browsers: Pick<KnownBrowsers, 'recognise' | 'learn' | 'sweep'>;
  notifier: FindingNotifier;
  /** Whether sign-in to this account from this source was refused at that time (ISO). `account` is as in events. */
  wasRefused: (pair: { source: string; account: string }, at: string) => Promise<boolean>;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
  logger: FastifyBaseLogger;
  /** Interval at which the volumes counted here are stored, in ms. */
  fold_ms?: number | undefined;
}

const at = (now: () => number) => new Date(now()).toISOString();

export class Detection {
  private readonly database: Kysely<DetectionTables>;
  private readonly browsers: Pick<KnownBrowsers, 'recognise' | 'learn' | 'sweep'>;
  private readonly notifier: FindingNotifier;
  private readonly wasRefused: (pair: { source: string; account: string }, at: string) => Promise<boolean>;
  private readonly now: () => number;
  private readonly logger: FastifyBaseLogger;
  private readonly volumes: Volumes;
  private readonly underway = new Set<Promise<void>>();
  private readonly waiting: SecurityEvent[] = [];
  private working: Promise<void> | undefined;
  // Folds run one at a time; only this process can store its own counts.
  private folding: Promise<void> = Promise.resolve();
  private readonly timer: NodeJS.Timeout;

  constructor(options: DetectionOptions) {
    this.database = options.database;
    this.browsers = options.browsers;
    this.notifier = options.notifier;
    this.wasRefused = options.wasRefused;
    this.now = options.now;
    this.logger = options.logger;
    const { fold_ms = FOLD_EVERY_MS } = options;
    this.volumes = createVolumes({ database: this.database, now: this.now });
    options.jobs.handle(SECOND_LOOK, this.secondLook);
    options.jobs.handle(SWEEP_BROWSERS, this.browsers.sweep);
    this.timer = setInterval(() => {
      this.folding = this.folding
        .then(this.fold)
        .catch((error: unknown) => logFailure(this.logger, error, 'could not store request volumes'));
    }, fold_ms).unref();
  }

  /** Loads the facts about an event that are needed before it is counted. */
  private readonly sight = async (event: SecurityEvent): Promise<Sighting> => {
    if (event.kind !== 'login_succeeded') return { ...event, browser: null, is_refused: false };
    const { source, data } = event;
    // A passkey alone is accepted despite refusals: it cannot be guessed.
    const is_refused =
      data.with_password && source !== null && (await this.wasRefused({ source, account: data.account }, event.at));
    return { ...event, is_refused, browser: (await this.browsers.recognise(event)) ?? null };
  };

  private async learn(transaction: Kysely<DetectionTables>, sighting: Sighting): Promise<Sighting> {
    if (sighting.kind !== 'login_succeeded' || sighting.browser !== null) return sighting;
    return { ...sighting, browser: await this.browsers.learn(transaction, sighting) };
  }

  /** Counts events and stores their findings in the same transaction, so that a server that stops does both or neither. */
  private async find(sightings: readonly Sighting[]): Promise<KeptFinding[]> {
    const places = placesOf(sightings);
    // An ordinary sign-in only empties windows, which rarely exist.
    const is_as_ever = sightings.every(({ kind, browser }) => kind === 'login_succeeded' && browser !== null);
    if (is_as_ever && (places.length === 0 || !(await isAnyHeld(this.database, places))))
      return await keepFindings(findingTables(this.database), detectAll(new Map(), sightings).found, at(this.now));
    return await inTransaction(this.database, async (transaction) => {
      const learned: Sighting[] = [];
      for (const sighting of sightings) learned.push(await this.learn(transaction, sighting));
      const found = await changeWindows(transaction, { places, at: this.now() }, (before) => {
        const kept = [...before].map(([name, stored]) => {
          return [name, { ...stored, window: windowSchema.parse(JSON.parse(stored.state)) }] as const;
        });
        const { held, found: answer } = detectAll(new Map(kept), learned);
        const after = [...held.values()].map(({ window, ...place }) => ({ ...place, state: JSON.stringify(window) }));
        return { after, answer };
      });
      return await keepFindings(findingTables(transaction), found, at(this.now));
    });
  }

  private afterwards(work: () => Promise<void>): void {
    const done = new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => logFailure(this.logger, error, 'could not report a finding'))
      .finally(() => this.underway.delete(done));
    this.underway.add(done);
  }

  private async logged(kind: SecurityEvent['kind'], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logFailure(this.logger, error, 'could not process an event', { kind });
    }
  }

  private async lookAtWaiting(): Promise<void> {
    while (this.waiting.length > 0) {
      const some = this.waiting.splice(0, LOOKED_AT_ONCE);
      await this.logged('request_refused', async () =>
        this.notifier.notify(await this.find(await Promise.all(some.map(this.sight)))),
      );
    }
    this.working = undefined;
  }

  /** Anyone can cause these events, as fast as the server answers: they are batched into one transaction at a time. */
  private async lookLater(event: SecurityEvent): Promise<void> {
    // A source with so many events at once has been detected by then.
    if (this.waiting.length >= WAITING_MAXIMUM) return;
    this.waiting.push(event);
    this.working ??= this.lookAtWaiting();
    await this.working;
  }

  private readonly fold = async (): Promise<void> => {
    await this.volumes.fold(
      async (transaction, floods) => void (await keepFindings(findingTables(transaction), floods.map(floodFound), at(this.now))),
    );
  };

  private readonly secondLook = async (): Promise<void> => {
    await this.notifier.notifyRemaining();
    await sweepWindows({ database: this.database, now: this.now }, WINDOWS_MAXIMUM);
  };

  async observe(event: SecurityEvent): Promise<void> {
    logSecurityEvent(this.logger, event);
    if (event.kind === 'request_refused' || event.kind === 'rate_limited') return await this.lookLater(event);
    await this.logged(event.kind, async () => {
      const found = await this.find([await this.sight(event)]);
      // Only a known account has a recipient: the time of an answer must not reveal which emails are known.
      if (event.kind === 'login_failed') this.afterwards(() => this.notifier.notify(found));
      else await this.notifier.notify(found);
    });
  }

  /** An authorized person has ended a refusal: the attempts before it no longer make the next sign-in from there suspicious. */
  forgive(block: { source: string; account: string | null }): Promise<void> {
    return emptyWindows(this.database, vouchedFor(block));
  }

  /** Counts a request of an account, or of a source without one. */
  countRequest(asker: Asker): void {
    this.volumes.count(asker);
  }

  /**
   * Stores the volumes counted since the last time and checks them for floods, on each server; then reports remaining findings and deletes expired data, on one server. Runs
   * every minute.
   */
  async look(): Promise<void> {
    await this.fold();
    await this.secondLook();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.folding;
    await this.working;
    await Promise.all(this.underway);
    await this.fold()
      .then(this.notifier.notifyRemaining)
      .catch((error: unknown) => logFailure(this.logger, error, 'could not store the latest counts'));
  }
}

export function createDetection(options: DetectionOptions): Detection {
  return new Detection(options);
}

const findingTables = (database: Kysely<DetectionTables>) => database.$pickTables<'detection_findings'>();

/** Applies the rules to events one after the other. Returns the findings, and the windows that are then not empty. */
function detectAll(kept: Windows, sightings: readonly Sighting[]): { held: Windows; found: Found[] } {
  let held = kept;
  const found = sightings.flatMap((sighting) => {
    const { windows: next, findings } = detect(held, sighting);
    held = next;
    return findings.map((finding) => foundIn(sighting, finding));
  });
  return { held, found };
}

function foundIn(sighting: Sighting, { is_open, samples, tried, phrase, threshold, ...finding }: Finding): Found {
  const { at, user_id, address, browser } = sighting;
  const has_session = sighting.kind === 'login_succeeded' || sighting.kind === 'token_moved';
  return {
    ...finding,
    ...inBoth(phrase, threshold),
    at,
    user_id,
    address,
    samples: [...samples],
    tried: [...tried],
    browser_id: browser?.id ?? null,
    session_id: has_session ? sighting.data.session_id : null,
    outcome: outcomeOf(sighting, is_open),
  };
}

/** The sentences of a finding, as phrases and in English, which a server of an earlier version reads. */
function inBoth(phrase: Finding['phrase'], threshold: Finding['threshold']) {
  return {
    description: alertEnglish(phrase),
    phrase,
    threshold: alertEnglish(threshold),
    threshold_phrase: threshold,
  };
}

/** Undefined for failed sign-ins, whose outcome depends on the refusals. */
function outcomeOf(sighting: Sighting, is_open: boolean): Found['outcome'] {
  switch (sighting.kind) {
    case 'login_failed':
      return undefined;
    case 'login_succeeded':
    case 'token_moved':
      return 'allowed';
    case 'scan_finished':
      if (!is_open) return 'blocked';
      return sighting.data.copy === 'waiting' ? 'unknown' : 'allowed';
    case 'rate_limited':
      return 'blocked';
    case 'request_refused':
      // A successful answer may be the attack itself.
      return is_open ? 'unknown' : 'blocked';
  }
}

function floodFound({ asker, key, count, limit, at }: Flood): Found {
  const phrase =
    asker.kind === 'source'
      ? alertPhrase('ddos_attempt.flood.source', { source: asker.id, count })
      : alertPhrase('ddos_attempt.flood.account', { count });
  return {
    rule: FLOOD.id,
    key,
    threat_type: FLOOD.threat_type,
    severity: FLOOD.severity,
    at,
    ...inBoth(phrase, alertPhrase('threshold.ddos_attempt.flood', { limit })),
    audience: 'administrators',
    samples: [],
    tried: [],
    outcome: 'allowed',
    user_id: asker.kind === 'account' ? asker.id : null,
    address: isIP(asker.id) === 0 ? null : asker.id,
    browser_id: null,
    session_id: null,
  };
}
