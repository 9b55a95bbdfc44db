import { isIP } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { Observe, SecurityEvent } from '#platform/security-event.ts';
import { detect, type Finding, placesOf, WINDOWS_MAXIMUM } from './detection/detect.ts';
import type { DetectionTables } from './detection/detection.tables.ts';
import { type Asker, addVolume, isWorthKeeping, NO_VOLUME, volumeExpiry, volumeSchema } from './detection/flood.ts';
import type { KnownDevices } from './detection/known-devices.ts';
import { FLOOD, type Sighting } from './detection/rules.ts';
import { windowSchema } from './detection/windows.ts';
import { changeWindows, type Stored, sweepWindows } from './detection/windows-store.ts';
import type { Evidence, Incident } from './incident.ts';

export interface Detection {
  observe: Observe;
  /** Counts a request of an account, or of a source without one. */
  countRequest(asker: Asker): void;
  /** Keeps what was counted since the last time, and looks whether it is a flood. */
  fold(): Promise<void>;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 60_000;
const SWEEP_DEVICES_EVERY_MS = 3_600_000;
/** Askers that are counted between two looks. More at once are no single asker's flood. */
const ASKERS_MAXIMUM = 10_000;
const FOLDED_AT_ONCE = 100;

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
  let volumes = new Map<string, { asker: Asker; requests: number }>();
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
    return { ...event, is_refused: await isRefused(event), device: await devices.signedIn(event) };
  }

  async function find(sighting: Sighting): Promise<Finding[]> {
    const places = placesOf(sighting);
    if (places.length === 0) return detect(new Map(), sighting).findings;
    return await changeWindows(windows, places, (before) => {
      const kept = [...before].map(([name, stored]) => {
        return [name, { ...stored, window: windowSchema.parse(JSON.parse(stored.state)) }] as const;
      });
      const { windows: after, findings } = detect(new Map(kept), sighting);
      const stored = [...after.values()].map(({ window, ...place }) => ({ ...place, state: JSON.stringify(window) }));
      return { after: stored, answer: findings };
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
      case 'request_refused':
        return 'blocked';
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

  /** Keeps the volumes of some askers, and answers those that are floods. */
  async function keepVolumes(some: readonly { asker: Asker; requests: number }[], at: number) {
    const placed = some.map((entry) => ({ ...entry, rule: FLOOD.id, key: `${entry.asker.kind} ${entry.asker.id}` }));
    placed.sort((a, b) => (a.key < b.key ? -1 : 1));
    return await changeWindows(windows, placed, (before) => {
      const after: Stored[] = [];
      const floods: { asker: Asker; key: string; count: number; limit: number }[] = [];
      for (const { rule, key, asker, requests } of placed) {
        const state = before.get(`${rule} ${key}`)?.state;
        const earlier = state === undefined ? NO_VOLUME : volumeSchema.parse(JSON.parse(state));
        const { volume, count, limit } = addVolume(earlier, asker, at, requests);
        after.push({ rule, key, state: JSON.stringify(volume), expires_at: volumeExpiry(at) });
        if (limit !== undefined) floods.push({ asker, key, count, limit });
      }
      return { after, answer: floods };
    });
  }

  async function fold(): Promise<void> {
    const at = now();
    const counted = [...volumes.values()].filter(({ asker, requests }) => isWorthKeeping(asker, requests));
    volumes = new Map();
    for (let begin = 0; begin < counted.length; begin += FOLDED_AT_ONCE) {
      for (const { asker, key, count, limit } of await keepVolumes(counted.slice(begin, begin + FOLDED_AT_ONCE), at)) {
        const who = asker.kind === 'source' ? asker.id : 'one account';
        for (const user_id of await administrators()) {
          if (user_id === asker.id) continue;
          await raiseSafely({
            ...{ rule: FLOOD.id, key, user_id, threat_type: FLOOD.threat_type, severity: FLOOD.severity },
            description: `Far more requests than usual came from ${who}: ${count} within 15 minutes.`,
            at: new Date(at).toISOString(),
            outcome: 'allowed',
            ip_address: isIP(asker.id) === 0 ? null : asker.id,
            evidence: { threshold: `more than ${limit} requests within 15 minutes, going by the 4 hours before`, events: [] },
            device_id: null,
            session_id: null,
          });
        }
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
      try {
        const sighting = await sight(event);
        for (const finding of await find(sighting)) await tell(sighting, finding);
      } catch (error) {
        logger.error({ err: error, kind: event.kind }, 'an event could not be looked at');
      }
    },

    countRequest(asker) {
      const name = `${asker.kind} ${asker.id}`;
      const known = volumes.get(name);
      if (known !== undefined) known.requests += 1;
      else if (volumes.size < ASKERS_MAXIMUM) volumes.set(name, { asker, requests: 1 });
    },

    fold,

    async close() {
      clearInterval(timer);
      await looking;
      await fold().catch((error: unknown) => logger.error({ err: error }, 'what was counted last could not be kept'));
    },
  };
}
