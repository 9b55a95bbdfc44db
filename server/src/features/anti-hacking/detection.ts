import { isIP } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { Observe, SecurityEvent } from '#platform/security-event.ts';
import { logSecurityEvent } from '#platform/security-log.ts';
import { detect, type Finding, placesOf, vouchedFor, WINDOWS_MAXIMUM, type Windows } from './detection/detect.ts';
import type { DetectionTables } from './detection/detection.tables.ts';
import type { Asker } from './detection/flood.ts';
import type { KnownDevices } from './detection/known-devices.ts';
import { FLOOD, type Sighting } from './detection/rules.ts';
import { createVolumes } from './detection/volumes.ts';
import { windowSchema } from './detection/windows.ts';
import { changeWindows, emptyWindows, isAnyHeld, sweepWindows } from './detection/windows-store.ts';
import type { Evidence, Incident } from './incident.ts';

export interface Detection {
  observe: Observe;
  /** Somebody who may has ended a refusal: what led to it makes the next sign-in from there no intruder's. */
  forgive(block: { source: string; account: string | null }): Promise<void>;
  /** Counts a request of an account, or of a source without one. */
  countRequest(asker: Asker): void;
  /** Keeps the volumes that were counted since the last time, looks whether one is a flood, and forgets what has expired. Done by itself every minute. */
  look(): Promise<void>;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 60_000;
const SWEEP_DEVICES_EVERY_MS = 3_600_000;
/** Refused requests that wait to be looked at, and how many of them are at once. */
const WAITING_MAXIMUM = 500;
const LOOKED_AT_ONCE = 50;

/** What was found, in which event. */
interface Found {
  sighting: Sighting;
  finding: Finding;
}

export function createDetection(parts: {
  database: Kysely<DetectionTables>;
  devices: Pick<KnownDevices, 'signedIn' | 'sweep'>;
  raise: (incident: Incident) => Promise<void>;
  /** Whether sign-in to this account from this source is being refused just now. `account` as events name it. */
  isRefused: (pair: { source: string; account: string }) => Promise<boolean>;
  administrators: () => Promise<string[]>;
  now: () => number;
  logger: FastifyBaseLogger;
  /** How often volumes are looked at and what has expired is forgotten, in ms. */
  look_ms?: number | undefined;
}): Detection {
  const { database, devices, raise, administrators, now, logger, look_ms = LOOK_EVERY_MS } = parts;
  const windows = { database, now };
  const volumes = createVolumes(windows);
  let swept_at = Number.NEGATIVE_INFINITY;

  /** What could not be told to one does not keep it from the others. */
  async function raiseSafely(incident: Incident): Promise<void> {
    try {
      await raise(incident);
    } catch (error) {
      logger.error({ err: error, rule: incident.rule }, 'an alert could not be raised');
    }
  }

  async function isRefused({
    source,
    data,
  }: Extract<SecurityEvent, { kind: 'login_failed' | 'login_succeeded' }>): Promise<boolean> {
    return source !== null && (await parts.isRefused({ source, account: data.account }));
  }

  async function sight(event: SecurityEvent): Promise<Sighting> {
    if (event.kind !== 'login_succeeded') return { ...event, device: null, is_refused: false };
    // A passkey alone gets in through any refusal: it cannot be guessed.
    const is_refused = event.data.with_password && (await isRefused(event));
    return { ...event, is_refused, device: await devices.signedIn(event) };
  }

  async function find(sightings: readonly Sighting[]): Promise<Found[]> {
    const detectAll = (kept: Windows) => {
      let held = kept;
      const found = sightings.flatMap((sighting) => {
        const { windows: next, findings } = detect(held, sighting);
        held = next;
        return findings.map((finding) => ({ sighting, finding }));
      });
      return { held, found };
    };
    const places = placesOf(sightings);
    // A sign-in only empties windows, and hardly ever is there one.
    const only_empties = sightings.every(({ kind }) => kind === 'login_succeeded');
    if (places.length === 0 || (only_empties && !(await isAnyHeld(database, places)))) return detectAll(new Map()).found;
    return await changeWindows(windows, places, (before) => {
      const kept = [...before].map(([name, stored]) => {
        return [name, { ...stored, window: windowSchema.parse(JSON.parse(stored.state)) }] as const;
      });
      const { held, found } = detectAll(new Map(kept));
      const after = [...held.values()].map(({ window, ...place }) => ({ ...place, state: JSON.stringify(window) }));
      return { after, answer: found };
    });
  }

  /** `blocked` only where it is known that the thing itself did not happen, or no longer can. */
  async function outcomeOf(sighting: Sighting, { is_open }: Finding): Promise<Incident['outcome']> {
    switch (sighting.kind) {
      case 'login_failed':
        return (await isRefused(sighting)) ? 'blocked' : 'allowed';
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

  async function audienceOf(sighting: Sighting, { audience, targets }: Finding): Promise<string[]> {
    switch (audience) {
      case 'person':
        return sighting.user_id === null ? [] : [sighting.user_id];
      case 'targets':
        return targets.length > 0 ? [...targets] : await administrators();
      case 'targets_and_administrators':
        return [...new Set([...targets, ...(await administrators())])];
      case 'administrators': {
        // What was refused to somebody who is signed in is no news to that person.
        const own = sighting.kind === 'rate_limited' ? sighting.user_id : null;
        return (await administrators()).filter((id) => id !== own);
      }
    }
  }

  async function tell(sighting: Sighting, finding: Finding): Promise<void> {
    const { rule, key, threat_type, severity, description, threshold, samples } = finding;
    const outcome = await outcomeOf(sighting, finding);
    const evidence: Evidence = { threshold, events: samples };
    const has_session = sighting.kind === 'login_succeeded' || sighting.kind === 'token_moved';
    for (const user_id of await audienceOf(sighting, finding)) {
      await raiseSafely({
        ...{ rule, key, user_id, threat_type, severity, description, outcome, evidence },
        at: sighting.at,
        ip_address: sighting.address,
        device_id: sighting.device?.id ?? null,
        session_id: has_session ? sighting.data.session_id : null,
      });
    }
  }

  async function tellAll(all: readonly Found[]): Promise<void> {
    for (const { sighting, finding } of all) await tell(sighting, finding);
  }

  const underway = new Set<Promise<void>>();

  function afterwards(work: () => Promise<void>): void {
    const done = new Promise((resolve) => setImmediate(resolve))
      .then(work)
      .catch((error: unknown) => logger.error({ err: error }, 'what was found could not be told'))
      .finally(() => underway.delete(done));
    underway.add(done);
  }

  async function logged(kind: SecurityEvent['kind'], work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error({ err: error, kind }, 'an event could not be looked at');
    }
  }

  const waiting: SecurityEvent[] = [];
  let working: Promise<void> | undefined;

  async function lookAtWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const some = waiting.splice(0, LOOKED_AT_ONCE);
      await logged('request_refused', async () => tellAll(await find(await Promise.all(some.map(sight)))));
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
    for (const { asker, key, count, limit, at } of await volumes.fold()) {
      const who = asker.kind === 'source' ? asker.id : 'one account';
      const told = (await administrators()).filter((id) => id !== asker.id);
      for (const user_id of told) {
        await raiseSafely({
          ...{ rule: FLOOD.id, key, user_id, threat_type: FLOOD.threat_type, severity: FLOOD.severity, at },
          description: `Far more requests than usual came from ${who}: ${count} within 15 minutes.`,
          outcome: 'allowed',
          ip_address: isIP(asker.id) === 0 ? null : asker.id,
          evidence: { threshold: `more than ${limit} requests within 15 minutes, going by the 4 hours before`, events: [] },
          device_id: null,
          session_id: null,
        });
      }
    }
  }

  async function look(): Promise<void> {
    await fold();
    await sweepWindows(windows, WINDOWS_MAXIMUM);
    if (now() - swept_at < SWEEP_DEVICES_EVERY_MS) return;
    swept_at = now();
    await devices.sweep();
  }

  let looking: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking
      .then(look)
      .catch((error: unknown) => logger.error({ err: error }, 'detection could not look after its windows'));
  }, look_ms);
  timer.unref();

  return {
    async observe(event) {
      logSecurityEvent(logger, event);
      if (event.kind === 'request_refused' || event.kind === 'rate_limited') return await lookLater(event);
      await logged(event.kind, async () => {
        const found = await find([await sight(event)]);
        // Only a known account has somebody to tell: the time of an answer must not say which one is known.
        if (event.kind === 'login_failed') afterwards(() => tellAll(found));
        else await tellAll(found);
      });
    },

    forgive: (block) => emptyWindows(database, vouchedFor(block)),

    countRequest: volumes.count,

    look,

    async close() {
      clearInterval(timer);
      await looking;
      await working;
      await Promise.all(underway);
      await fold().catch((error: unknown) => logger.error({ err: error }, 'what was counted last could not be kept'));
    },
  };
}
