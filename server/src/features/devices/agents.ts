import type { Ack, Desired, Hello, Said, Told } from '@palisade/contract/agent';
import type { Kysely } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { type DatabaseClock, databaseClock } from '#platform/database-clock.ts';
import { newId } from '#platform/id.ts';
import { createDesiredStates, type DesiredStates, type GrantedOf, type NameKeys, type PersonsRules } from './desired-state.ts';
import { type DeviceIncident, incidentOfEvent } from './device-alerts.ts';
import { createDeviceFiles, type DeviceFiles, type FoundRecords } from './device-files.ts';
import { momentOn } from './device-moment.ts';
import { type DeviceRow, desiredRev } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';
import { hashOf } from './enrolment.ts';
import type { MeasuredSessions } from './measured-sessions.ts';
import { createReports, type Reports } from './reports.ts';
import type { SecondLooks } from './second-looks.ts';
import type { SignatureEditions } from './signature-editions.ts';

/** The holder of a device's single connection. */
export interface AgentPrincipal {
  kind: 'device';
  id: string;
  user_id: string;
  connection_id: string;
  instance: string;
}

type Meeting = { principal: AgentPrincipal } | { refused: 'revoked' | 'in_use' };

/** Time for which a silent connection keeps its agent's lease: two and a half heartbeats, in ms. */
const LEASE_MS = 50_000;
const EVENTS_KEPT = 500;
const NOT_SENT = 'The device couldn’t send the file.';

const FINAL: readonly Ack['state'][] = ['applied', 'rolled_back', 'rejected', 'unavailable'];

interface AgentsOptions {
  database: Kysely<DeviceTables>;
  rules: PersonsRules;
  raise: (incident: DeviceIncident) => Promise<void>;
  records: FoundRecords;
  signatureEditions: Pick<SignatureEditions, 'current'>;
  measuredSessions: Pick<MeasuredSessions, 'hear' | 'wanted'>;
  secondLooks: Pick<SecondLooks, 'wanted' | 'failed'>;
  nameKeys: Pick<NameKeys, 'keyOf'>;
  grantedOf: GrantedOf;
  now: () => number;
  /** Findings of one device that are kept; fewer in tests. */
  findings_kept?: number | undefined;
}

const at = (now: () => number) => new Date(now()).toISOString();

const find = (database: Kysely<DeviceTables>, id: string) =>
  database.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst();

/** The agents' side of devices: their identity, their orders, and their reports. */
export class Agents implements DesiredStates {
  private readonly database: Kysely<DeviceTables>;
  private readonly rules: PersonsRules;
  private readonly raise: (incident: DeviceIncident) => Promise<void>;
  private readonly measuredSessions: Pick<MeasuredSessions, 'hear' | 'wanted'>;
  private readonly secondLooks: Pick<SecondLooks, 'wanted' | 'failed'>;
  private readonly now: () => number;
  private readonly desiredStates: DesiredStates;
  private readonly reports: Reports;
  private readonly files: DeviceFiles;
  private readonly clock: DatabaseClock;

  constructor(options: AgentsOptions) {
    this.database = options.database;
    this.rules = options.rules;
    this.raise = options.raise;
    this.measuredSessions = options.measuredSessions;
    this.secondLooks = options.secondLooks;
    this.now = options.now;
    this.desiredStates = createDesiredStates(options);
    this.reports = createReports(options);
    this.files = createDeviceFiles(options);
    this.clock = databaseClock(this.database);
  }

  private async hearAck(device: DeviceRow, { rev, state, applied_rev, errors }: Ack): Promise<void> {
    const [rules_rev, ids] = await Promise.all([this.rules.rev(device.user_id), this.rules.ruleIds(device.user_id)]);
    const desired_rev = desiredRev(device, rules_rev);
    // An answer for an unknown revision, or for one older than the last answer, is ignored.
    if (rev > desired_rev || applied_rev > desired_rev || rev < device.ack_rev) return;
    const is_known = rev === device.ack_rev && device.ack_state !== null && FINAL.includes(device.ack_state);
    if (is_known && state === 'trial') return;
    const own = new Set(ids);
    const kept = errors.map(({ rule_id, message }) => ({
      rule_id: rule_id !== null && own.has(rule_id) ? rule_id : null,
      message,
    }));
    const is_applied = state === 'applied' && rev === desired_rev;
    await this.database
      .updateTable('devices')
      .set({
        ack_rev: rev,
        ack_state: state,
        ack_errors: JSON.stringify(kept),
        applied_rev,
        // Repeated with each connection; the time of the first report counts.
        ...(state === 'applied' && !(rev === device.ack_rev && device.ack_state === 'applied') && { applied_at: at(this.now) }),
        // Repeated; the time of the first report counts.
        trial_at:
          state !== 'trial' ? null : rev === device.ack_rev && device.ack_state === 'trial' ? device.trial_at : at(this.now),
        ...(is_applied ? { pending_since: null } : device.pending_since === null && { pending_since: at(this.now) }),
      })
      .where('id', '=', device.id)
      .where('ack_rev', '<=', rev)
      .execute();
  }

  private async hearEvent(device: DeviceRow, { id, at: said_at, event }: Extract<Said, { kind: 'event' }>): Promise<Told[]> {
    const noted: Told[] = [{ kind: 'noted', seq: null, events: [id] }];
    const heard = await this.database
      .selectFrom('device_events')
      .select('id')
      .where('device_id', '=', device.id)
      .where('id', '=', id)
      .executeTakeFirst();
    if (heard !== undefined) return noted;
    const happened_at = momentOn(device, said_at, this.now());
    if (event.event === 'order_done') {
      if (!event.ok) await this.secondLooks.failed(device, event.order_id, event.message ?? NOT_SENT);
      await this.files.finishOrder(device, event);
    }
    if (event.event === 'session_changes') await this.measuredSessions.hear(device.id, event.session_id, event.measured);
    const incident = incidentOfEvent(device, event, happened_at);
    if (incident !== undefined) await this.raise(incident);
    // Last: a report that was interrupted is repeated, and a repeated alert counts once.
    await this.database
      .insertInto('device_events')
      .values({ device_id: device.id, id, heard_at: at(this.now) })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const old = this.database
      .selectFrom('device_events')
      .select('id')
      .where('device_id', '=', device.id)
      .orderBy('heard_at', 'desc')
      .orderBy('id', 'desc')
      .limit(EVENTS_KEPT);
    await this.database.deleteFrom('device_events').where('device_id', '=', device.id).where('id', 'not in', old).execute();
    return noted;
  }

  /** A mark that changes with the state to send; undefined for a revoked device. */
  markOf(device_id: string): Promise<string | undefined> {
    return this.desiredStates.markOf(device_id);
  }

  /** The complete desired state of a device, and its mark. */
  desired(device_id: string): Promise<{ mark: string; desired: Desired } | undefined> {
    return this.desiredStates.desired(device_id);
  }

  /** The device with an id and a token; undefined if revoked or missing. */
  async authenticate({ device_id, token }: { device_id: string; token: string }): Promise<DeviceRow | undefined> {
    const row = await find(this.database, device_id);
    return row === undefined || row.revoked_at !== null || row.token_hash !== hashOf(token) ? undefined : row;
  }

  /** Gives an agent the single connection of its device. The same run of an agent may reconnect at any time; another one only when the connection is free. */
  async connect(hello: Hello): Promise<Meeting> {
    const connection_id = newId();
    const said_at = Date.parse(hello.at);
    const row = await this.database
      .updateTable('devices')
      .set(({ eb, ref }) => ({
        // A new start has its time to report; one that reconnects without a report keeps its state.
        reported_at: eb.case().when('instance', '=', hello.instance).then(ref('reported_at')).else(at(this.now)).end(),
        instance: hello.instance,
        connection_id,
        connected_until: this.clock(LEASE_MS),
        last_seen_at: at(this.now),
        agent_version: hello.agent_version,
        capabilities: JSON.stringify(hello.capabilities),
        skew_ms: Math.round(said_at - this.now()),
        silence_told_at: null,
      }))
      .where('id', '=', hello.device_id)
      .where('token_hash', '=', hashOf(hello.token))
      .where('revoked_at', 'is', null)
      .where(({ or, eb }) =>
        or([eb('connected_until', 'is', null), eb('connected_until', '<=', this.clock()), eb('instance', '=', hello.instance)]),
      )
      .returning(['id', 'user_id'])
      .executeTakeFirst();
    if (row !== undefined)
      return { principal: { kind: 'device', id: row.id, user_id: row.user_id, connection_id, instance: hello.instance } };
    const there = await find(this.database, hello.device_id);
    const is_known = there !== undefined && there.revoked_at === null && there.token_hash === hashOf(hello.token);
    return { refused: is_known ? 'in_use' : 'revoked' };
  }

  /** Renews the leases of connections; returns those that were lost, and why. */
  async renew(some: readonly AgentPrincipal[]): Promise<ReadonlyMap<AgentPrincipal, 'revoked' | 'in_use'>> {
    const kept = await inBatches(some, (batch) =>
      this.database
        .updateTable('devices')
        .set({ connected_until: this.clock(LEASE_MS), last_seen_at: at(this.now) })
        .where(
          'connection_id',
          'in',
          batch.map(({ connection_id }) => connection_id),
        )
        .where('revoked_at', 'is', null)
        .returning('connection_id')
        .execute(),
    );
    const mine = new Set(kept.map(({ connection_id }) => connection_id));
    const lost = some.filter(({ connection_id }) => !mine.has(connection_id));
    if (lost.length === 0) return new Map();
    const there = await inBatches(lost, (batch) =>
      this.database
        .selectFrom('devices')
        .select('id')
        .where(
          'id',
          'in',
          batch.map(({ id }) => id),
        )
        .where('revoked_at', 'is', null)
        .execute(),
    );
    const living = new Set(there.map(({ id }) => id));
    return new Map(lost.map((principal) => [principal, living.has(principal.id) ? ('in_use' as const) : ('revoked' as const)]));
  }

  async leave({ connection_id }: AgentPrincipal): Promise<void> {
    await this.database
      .updateTable('devices')
      .set({ connection_id: null, connected_until: null, last_seen_at: at(this.now) })
      .where('connection_id', '=', connection_id)
      .execute();
  }

  /** Stores an agent's frame. Returns the frames to send back. Frames never reach another device. */
  async hear({ id, instance }: AgentPrincipal, said: Said): Promise<Told[]> {
    const device = await find(this.database, id);
    // Reports of a device that its person has not confirmed are ignored: the agent repeats them.
    if (device === undefined || device.revoked_at !== null || device.confirmed_at === null) return [];
    switch (said.kind) {
      case 'ack':
        await this.hearAck(device, said);
        return [];
      case 'report':
        return await this.reports.hear(device, instance, said);
      case 'event':
        return await this.hearEvent(device, said);
      case 'scan_report':
        return await this.files.hearScan(device, said);
    }
  }
}

export function createAgents(options: AgentsOptions): Agents {
  return new Agents(options);
}
