import { isIP } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { logFailure } from '#platform/database-patience.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Observe, SecurityEvent } from '#platform/security-event.ts';
import { logSecurityEvent } from '#platform/security-log.ts';
import { detect, type Finding, placesOf, vouchedFor, WINDOWS_MAXIMUM, type Windows } from './detect.ts';
import type { DetectionTables } from './detection.tables.ts';
import { type Found, type KeptFinding, keepFindings } from './findings-store.ts';
import type { Asker } from './flood.ts';
import type { KnownBrowsers } from './known-browsers.ts';
import { FLOOD, type Sighting } from './rules.ts';
import type { Telling } from './telling.ts';
import { createVolumes, type Flood } from './volumes.ts';
import { windowSchema } from './windows.ts';
import { changeWindows, emptyWindows, isAnyHeld, sweepWindows } from './windows-store.ts';

export interface Detection {
  observe: Observe;
  /** Somebody who may has ended a refusal: what led to it makes the next sign-in from there no intruder's. */
  forgive(block: { source: string; account: string | null }): Promise<void>;
  /** Counts a request of an account, or of a source without one. */
  countRequest(asker: Asker): void;
  /** Keeps the volumes that were counted here since the last time and looks whether one is a flood; then tells what was not told, and forgets what has expired. Done by itself every minute: the former by each server, the latter by one of them. */
  look(): Promise<void>;
  close(): Promise<void>;
}

const FOLD_EVERY_MS = 60_000;
/** Tells what a server that stopped has found and not told, and forgets what has expired. */
const SECOND_LOOK = jobKind({ name: 'detection', payload: z.object({}), every_ms: 60_000 });
const SWEEP_BROWSERS = jobKind({ name: 'known-browsers', payload: z.object({}), every_ms: 3_600_000 });
/** Refused requests that wait to be looked at, and how many of them are at once. */
const WAITING_MAXIMUM = 500;
const LOOKED_AT_ONCE = 50;

export function createDetection(parts: {
  database: Kysely<DetectionTables>;
  browsers: Pick<KnownBrowsers, 'recognise' | 'learn' | 'sweep'>;
  telling: Telling;
  /** Whether sign-in to this account from this source was being refused at that time (ISO). `account` as events name it. */
  wasRefused: (pair: { source: string; account: string }, at: string) => Promise<boolean>;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
  logger: FastifyBaseLogger;
  /** How often the volumes that were counted here are kept, in ms. */
  fold_ms?: number | undefined;
}): Detection {
  const { database, browsers, telling, wasRefused, jobs, now, logger, fold_ms = FOLD_EVERY_MS } = parts;
  const volumes = createVolumes({ database, now });
  const at = () => new Date(now()).toISOString();

  /** What is known around an event before it is counted. */
  async function sight(event: SecurityEvent): Promise<Sighting> {
    if (event.kind !== 'login_succeeded') return { ...event, browser: null, is_refused: false };
    const { source, data } = event;
    // A passkey alone gets in through any refusal: it cannot be guessed.
    const is_refused = data.with_password && source !== null && (await wasRefused({ source, account: data.account }, event.at));
    return { ...event, is_refused, browser: (await browsers.recognise(event)) ?? null };
  }

  async function learn(transaction: Kysely<DetectionTables>, sighting: Sighting): Promise<Sighting> {
    if (sighting.kind !== 'login_succeeded' || sighting.browser !== null) return sighting;
    return { ...sighting, browser: await browsers.learn(transaction, sighting) };
  }

  /** Counts events, and keeps what was found in them in the same transaction: a server that stops between the two has done neither. */
  async function find(sightings: readonly Sighting[]): Promise<KeptFinding[]> {
    const places = placesOf(sightings);
    // A sign-in as ever only empties windows, and hardly ever is there one.
    const is_as_ever = sightings.every(({ kind, browser }) => kind === 'login_succeeded' && browser !== null);
    if (is_as_ever && (places.length === 0 || !(await isAnyHeld(database, places))))
      return await keepFindings(findingTables(database), detectAll(new Map(), sightings).found, at());
    return await database.transaction().execute(async (transaction) => {
      const learned: Sighting[] = [];
      for (const sighting of sightings) learned.push(await learn(transaction, sighting));
      const found = await changeWindows(transaction, { places, at: now() }, (before) => {
        const kept = [...before].map(([name, stored]) => {
          return [name, { ...stored, window: windowSchema.parse(JSON.parse(stored.state)) }] as const;
        });
        const { held, found: answer } = detectAll(new Map(kept), learned);
        const after = [...held.values()].map(({ window, ...place }) => ({ ...place, state: JSON.stringify(window) }));
        return { after, answer };
      });
      return await keepFindings(findingTables(transaction), found, at());
    });
  }

  const underway = new Set<Promise<void>>();

  function afterwards(work: () => Promise<void>): void {
    const done = new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => logFailure(logger, error, 'what was found could not be told'))
      .finally(() => underway.delete(done));
    underway.add(done);
  }

  async function logged(kind: SecurityEvent['kind'], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logFailure(logger, error, 'an event could not be looked at', { kind });
    }
  }

  const waiting: SecurityEvent[] = [];
  let working: Promise<void> | undefined;

  async function lookAtWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const some = waiting.splice(0, LOOKED_AT_ONCE);
      await logged('request_refused', async () => telling.tell(await find(await Promise.all(some.map(sight)))));
    }
    working = undefined;
  }

  /** Anybody can make these, as fast as the server answers: together they are one transaction at a time, however many they are. */
  async function lookLater(event: SecurityEvent): Promise<void> {
    // Whoever makes so many at once has been found by then.
    if (waiting.length >= WAITING_MAXIMUM) return;
    waiting.push(event);
    working ??= lookAtWaiting();
    await working;
  }

  async function fold(): Promise<void> {
    await volumes.fold(
      async (transaction, floods) => void (await keepFindings(findingTables(transaction), floods.map(floodFound), at())),
    );
  }

  async function secondLook(): Promise<void> {
    await telling.tellUntold();
    await sweepWindows({ database, now }, WINDOWS_MAXIMUM);
  }
  jobs.handle(SECOND_LOOK, secondLook);
  jobs.handle(SWEEP_BROWSERS, browsers.sweep);

  // What is counted in this process can be kept by no other.
  let folding: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    folding = folding.then(fold).catch((error: unknown) => logFailure(logger, error, 'volumes could not be kept'));
  }, fold_ms).unref();

  return {
    async observe(event) {
      logSecurityEvent(logger, event);
      if (event.kind === 'request_refused' || event.kind === 'rate_limited') return await lookLater(event);
      await logged(event.kind, async () => {
        const found = await find([await sight(event)]);
        // Only a known account has somebody to tell: the time of an answer must not say which one is known.
        if (event.kind === 'login_failed') afterwards(() => telling.tell(found));
        else await telling.tell(found);
      });
    },

    forgive: (block) => emptyWindows(database, vouchedFor(block)),

    countRequest: volumes.count,

    async look() {
      await fold();
      await secondLook();
    },

    async close() {
      clearInterval(timer);
      await folding;
      await working;
      await Promise.all(underway);
      await fold()
        .then(telling.tellUntold)
        .catch((error: unknown) => logFailure(logger, error, 'what was counted last could not be kept'));
    },
  };
}

const findingTables = (database: Kysely<DetectionTables>) => database.$pickTables<'detection_findings'>();

/** Looks at events one after the other. What was found, and the windows that hold something then. */
function detectAll(kept: Windows, sightings: readonly Sighting[]): { held: Windows; found: Found[] } {
  let held = kept;
  const found = sightings.flatMap((sighting) => {
    const { windows: next, findings } = detect(held, sighting);
    held = next;
    return findings.map((finding) => foundIn(sighting, finding));
  });
  return { held, found };
}

function foundIn(sighting: Sighting, { is_open, samples, targets, tried, ...finding }: Finding): Found {
  const { at, user_id, address, browser } = sighting;
  const has_session = sighting.kind === 'login_succeeded' || sighting.kind === 'token_moved';
  return {
    ...finding,
    ...{ at, user_id, address, samples: [...samples], targets: [...targets], tried: [...tried] },
    browser_id: browser?.id ?? null,
    session_id: has_session ? sighting.data.session_id : null,
    outcome: outcomeOf(sighting, is_open),
  };
}

/** Undefined for failed sign-ins: of these it hangs on what is refused. */
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
      // What was answered may be what was attacked.
      return is_open ? 'unknown' : 'blocked';
  }
}

function floodFound({ asker, key, count, limit, at }: Flood): Found {
  const who = asker.kind === 'source' ? asker.id : 'one account';
  return {
    ...{ rule: FLOOD.id, key, threat_type: FLOOD.threat_type, severity: FLOOD.severity, at },
    description: `Far more requests than usual came from ${who}: ${count} within 15 minutes.`,
    threshold: `more than ${limit} requests within 15 minutes, going by the 4 hours before`,
    ...{ audience: 'administrators', samples: [], targets: [], tried: [], outcome: 'allowed' },
    user_id: asker.kind === 'account' ? asker.id : null,
    address: isIP(asker.id) === 0 ? null : asker.id,
    browser_id: null,
    session_id: null,
  };
}
