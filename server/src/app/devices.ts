import { join } from 'node:path';
import { VERSION } from '@palisade/contract/constants';
import type { DashboardDevices } from '@palisade/contract/dashboard';
import { type Device, OFFLINE_ALERT_MS } from '@palisade/contract/devices';
import type { LiveEvent } from '@palisade/contract/events';
import type { FastifyInstance } from 'fastify';
import type { Kysely } from 'kysely';
import type { Signatures } from '#features/antivirus/signatures.ts';
import { type AgentService, createDeviceNews, serveAgents } from '#features/devices/agent-channel.ts';
import { createAgents } from '#features/devices/agents.ts';
import { type GrantedOf, type NameKeys, raiseToldRev } from '#features/devices/desired-state.ts';
import type { DeviceIncident } from '#features/devices/device-alerts.ts';
import type { FoundRecords } from '#features/devices/device-files.ts';
import { sentence } from '#features/devices/devices.refusals.ts';
import { serveDevices } from '#features/devices/devices.routes.ts';
import type { DeviceTables } from '#features/devices/devices.tables.ts';
import { createDevices } from '#features/devices/devices.ts';
import { createEnrolment, type DeviceLimit } from '#features/devices/enrolment.ts';
import { createMeasuredSessions } from '#features/devices/measured-sessions.ts';
import { createSecondLooks } from '#features/devices/second-looks.ts';
import { createSignatureEditions } from '#features/devices/signature-editions.ts';
import type { Firewall } from '#features/firewall/firewall.ts';
import type { DeviceFacts } from '#features/posture/posture-facts.ts';
import { deviceLimit } from '#features/subscriptions/device-limit.ts';
import type { Audit } from '#platform/audit.ts';
import { SOCKET_LIMITS, type SocketLimits } from '#platform/channels/channel-service.ts';
import type { Counters } from '#platform/counters.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { KeptAnswers } from '#platform/kept-answers.ts';
import { asWritten } from '#platform/sentence.ts';
import type { Api } from '#platform/serve.ts';
import type { Tables } from '#platform/tables.ts';
import { deviceTopic, personTopic, type Topics } from '#platform/topics/topics.ts';
import type { AppOptions } from './app-options.ts';
import type { Scanner } from './scanner.ts';

/** Maximum sockets of one device: an agent may reconnect before its old socket is detected as dead. */
const SOCKETS_PER_DEVICE = 4;
const NUDGE: LiveEvent = { kind: 'changed', topic: 'devices' };

interface DevicesParts {
  database: Kysely<Tables>;
  audit: Audit;
  counters: Counters;
  firewall: Firewall;
  /** The signature files of this server's engines. */
  signatures: Pick<Signatures, 'files'>;
  jobs: Jobs;
  topics: Topics;
  raise: (incident: DeviceIncident) => Promise<void>;
  records: FoundRecords<Kysely<Pick<Tables, 'scans'>>>;
  /** Receives and scans files that devices send for a second look, and reads scans by id. */
  scanner: Pick<Scanner, 'receive'> & { antivirus: Pick<Scanner['antivirus'], 'some'> };
  changed: (user_id: string) => void;
  grantedOf: GrantedOf;
  /** A function, because name keys are built after devices. */
  nameKeys: () => NameKeys;
  keptAnswers: Pick<KeptAnswers, 'keepList' | 'told'>;
  now: () => number;
}

/** The data that posture uses. */
function factsOf(living: readonly Device[], plan_holds: number, now: number): DeviceFacts | undefined {
  const known = living.filter(({ capabilities }) => capabilities !== null);
  if (known.length === 0) return undefined;
  const named = (matches: (device: Device) => boolean) =>
    known.filter(matches).map(({ id, device_name }) => ({ id, name: device_name }));
  const week_ago = new Date(now - OFFLINE_ALERT_MS).toISOString();
  const updatesOf = ({ posture }: Device) => posture.find(({ check }) => check === 'security_updates')?.state ?? 'unknown';
  return {
    count: known.length,
    plan_holds,
    unapplied: named(({ enforcement }) => !['applied', 'trial'].includes(enforcement.state)),
    silent: named(({ last_seen_at }) => last_seen_at !== null && last_seen_at <= week_ago),
    outdated: named(({ agent_version }) => agent_version !== VERSION),
    unprotected: named(({ capabilities }) => capabilities?.firewall === 'unavailable'),
    updates_waiting: known.every((device) => updatesOf(device) === 'unknown')
      ? undefined
      : named((device) => updatesOf(device) === 'fail'),
  };
}

/** The dashboard's values. */
function shownOf(living: readonly Device[], blocked: { packets: number; packets_total: number }): DashboardDevices {
  const newest = living
    .flatMap(({ device_name, telemetry, telemetry_at }) =>
      telemetry && telemetry_at ? [{ device_name, telemetry, at: telemetry_at }] : [],
    )
    .sort((one, other) => (one.at < other.at ? 1 : -1))[0];
  const scanned = living
    .flatMap(({ device_name, last_full_scan_at: at }) => (at === null ? [] : [{ device_name, at }]))
    .sort((one, other) => (one.at < other.at ? 1 : -1))[0];
  return {
    count: living.length,
    online: living.filter(({ state }) => state === 'online').length,
    health: newest
      ? {
          ...{ device_name: newest.device_name, at: newest.at, cpu_percent: newest.telemetry.cpu_percent },
          ...{ memory_percent: newest.telemetry.memory_percent, network_percent: newest.telemetry.network_percent },
        }
      : null,
    last_deep_scan: scanned ?? null,
    blocked_last_hour: blocked.packets,
    blocked_total: blocked.packets_total,
  };
}

/** A device whose screen can be shared in a remote session; `refusal` is the reason if it cannot be shared now. */
function grantableOf(device: Device | undefined) {
  if (device === undefined) return undefined;
  const { id, device_name, state, capabilities } = device;
  if (state !== 'online') return { id, device_name, refusal: sentence('device.not_connected') };
  if (capabilities?.control === true) return { id, device_name, refusal: null };
  // This sentence comes from the device.
  const reason = capabilities?.control_reason ?? undefined;
  return { id, device_name, refusal: reason === undefined ? sentence('device.cannot_share_screen') : asWritten(reason) };
}

function socketLimits({ agent_heartbeat_ms = 20_000 }: AppOptions): SocketLimits {
  return {
    ...SOCKET_LIMITS,
    heartbeat_ms: agent_heartbeat_ms,
    sockets_per_principal: SOCKETS_PER_DEVICE,
    // Enough for a desired state with 1,000 rules that waits for a slow agent.
    waiting_bytes: 32 * 1024 ** 2,
  };
}

const scansOf = (transaction: Kysely<DeviceTables>) => transaction.$extendTables<Pick<Tables, 'scans'>>().$pickTables<'scans'>();

/** Reads the maximum number of devices in a person's current plan. */
function limitAt(now: () => number): DeviceLimit {
  return (transaction, user_id) =>
    deviceLimit(transaction.$extendTables<Pick<Tables, 'subscriptions'>>().$pickTables<'subscriptions'>(), user_id, now());
}

/** Builds devices: the API for their owners, the API for agents, and the agents' socket. */
export function buildDevices(appOptions: AppOptions, parts: DevicesParts) {
  const { settings, logger } = appOptions;
  const { database, audit, counters, firewall, signatures, jobs, topics, raise, records, scanner, changed, grantedOf } = parts;
  const nameKeys: NameKeys = { keyOf: (id) => parts.nameKeys().keyOf(id), end: (id) => parts.nameKeys().end(id) };
  const { keptAnswers, now } = parts;
  const tables = database.$pickTables<keyof DeviceTables | 'audit_entries' | 'audit_head'>();
  const nudge = (device_id: string) => topics.publish(deviceTopic(device_id), NUDGE);
  const news = createDeviceNews(changed);
  /** Clears cached answers before it notifies pages, so that each reload returns the new state. */
  const onNews = (user_id: string) => {
    keptAnswers.told(personTopic(user_id));
    news.told(user_id);
  };
  const secondLooks = createSecondLooks({ database: tables, audit, scans: (ids) => scanner.antivirus.some(ids), nudge, now });
  const devices = createDevices({ database: tables, audit, rules: firewall, jobs, raise, secondLooks, nudge, now });
  const signatureEditions = createSignatureEditions({
    database: database.$pickTables<keyof DeviceTables>(),
    files: () => signatures.files(),
    samples_folder: join(appOptions.signatures_folder, 'samples'),
    folder: join(settings.data_dir, 'device-signatures'),
    ...{ logger, now },
  });
  const measuredSessions = createMeasuredSessions({ database: database.$pickTables<keyof DeviceTables>(), nudge, now });
  const agents = createAgents({
    database: database.$pickTables<keyof DeviceTables>(),
    rules: firewall,
    raise,
    records: {
      add: (transaction, found) => records.add(scansOf(transaction), found),
      settle: (transaction, copy, is_deleted) => records.settle(scansOf(transaction), copy, is_deleted),
    },
    signatureEditions,
    ...{ measuredSessions, secondLooks, nameKeys, grantedOf, now },
  });
  const limitOf = limitAt(now);
  const enrolment = createEnrolment({ database: tables, audit, counters, limitOf, now });
  let service: AgentService | undefined;
  const readFacts = async (user_id: string, living: readonly Device[]) => factsOf(living, await limitOf(tables, user_id), now());

  return {
    devices,
    /** Measures changes on devices during remote sessions. */
    measuredSessions,

    facts: async (user_id: string): Promise<DeviceFacts | undefined> => readFacts(user_id, await devices.living(user_id)),

    /** The dashboard's values (null without devices) and the data for posture, from one read of the devices. */
    async ofDashboard(user_id: string): Promise<{ shown: DashboardDevices | null; facts: DeviceFacts | undefined }> {
      const living = await devices.living(user_id);
      if (living.length === 0) return { shown: null, facts: undefined };
      const [blocked, facts] = await Promise.all([devices.blocked(user_id), readFacts(user_id, living)]);
      return { shown: shownOf(living, blocked), facts };
    },

    /** A person's device whose screen can be shared in a remote session, with the reason if it cannot be shared now. */
    grantable: async (user_id: string, device_id: string) =>
      grantableOf((await devices.living(user_id)).find(({ id }) => id === device_id)),

    authenticate: (identity: Parameters<typeof agents.authenticate>[0]) => agents.authenticate(identity),

    /** Sends the desired state to a device. */
    nudge,

    /** Increments the revision of the desired state, and sends the state to the device. */
    tellAgain: (id: string) => raiseToldRev(database.$pickTables<keyof DeviceTables>(), id).then(() => nudge(id)),

    /** Handles a change of a person's rules in the background; errors are logged. */
    rulesChanged(user_id: string): void {
      devices
        .rulesChanged(user_id)
        // Pages must also show the changed state of an offline device, which does not report it itself.
        .then((count) => (count === 0 ? undefined : onNews(user_id)))
        .catch((error: unknown) => logFailure(logger, error, 'could not send new rules to devices; retrying later'));
    },

    serve(api: Api): void {
      serveDevices(api, {
        ...{
          devices,
          enrolment,
          agents,
          signatureEditions,
          secondLooks,
          receive: scanner.receive,
          ...{ onChange: changed, nameKeys },
          keptAnswers,
        },
        database: tables,
        ...{ public_url: settings.public_url, now },
        agentService() {
          if (service === undefined) throw new Error('the agents’ socket is not ready yet');
          return service;
        },
      });
    },

    /** To be called after `openSockets`. */
    serveSocket(fastify: FastifyInstance): void {
      service = serveAgents(fastify, {
        ...{ agents, topics, counters, onNews, now, poll_wait_ms: appOptions.poll_wait_ms },
        opening: { rate: settings.limits['sockets.source'], counters },
        limits: socketLimits(appOptions),
        public_url: settings.public_url,
      });
    },

    endSockets(): void {
      service?.sockets.close();
    },

    close(): void {
      service?.sockets.close();
      news.close();
    },
  };
}

export type BuiltDevices = ReturnType<typeof buildDevices>;
