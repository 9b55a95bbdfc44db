import { createHash } from 'node:crypto';
import {
  type Ack,
  canonicalRules,
  DEVICE_RULES_MAXIMUM,
  type Desired,
  type Found,
  type Hello,
  type Report,
  type Said,
  type ScanReport,
  type Signatures,
  type Told,
} from '@palisade/contract/agent';
import { BLOCKED_WINDOW_MS } from '@palisade/contract/devices';
import type { Rule } from '@palisade/contract/firewall';
import { type Kysely, type Selectable, sql } from 'kysely';
import { inBatches } from '#platform/batches.ts';
import { databaseClock } from '#platform/database-clock.ts';
import { newId } from '#platform/id.ts';
import { type DeviceIncident, incidentOfEvent, incidentOfFile } from './device-alerts.ts';
import { type DeviceRow, desiredRev, foldersSchema } from './device-record.ts';
import type { DeviceTables } from './devices.tables.ts';
import { hashOf } from './enrolment.ts';
import type { MeasuredSessions } from './measured-sessions.ts';
import type { SignatureEditions } from './signature-editions.ts';

/** What devices need to know of their persons' rules. */
export interface PersonsRules {
  /** How often they were changed, and those that are on; never older than `rev`. */
  enforced(user_id: string): Promise<{ rev: number; rules: Rule[] }>;
  rev(user_id: string): Promise<number>;
  ruleIds(user_id: string): Promise<string[]>;
}

/** What of a device's screen is granted in a remote session just now. */
export type GrantedOf = (device: {
  id: string;
  user_id: string;
}) => Promise<{ session_id: string; grants: readonly string[] } | undefined>;

/** A file that was found, as a record of its person's scans. */
export interface FoundOnDevice {
  user_id: string;
  device: { id: string; device_name: string };
  file: Found;
}

/** Who has a device's one connection. */
export interface AgentPrincipal {
  kind: 'device';
  id: string;
  user_id: string;
  connection_id: string;
  instance: string;
}

type Meeting = { principal: AgentPrincipal } | { refused: 'revoked' | 'in_use' };

/** The agents' side of devices: who they are, what they are told, and what becomes of what they say. */
export interface Agents {
  /** The device of an id and a token; undefined where it is revoked, or there is none. */
  authenticate(identity: { device_id: string; token: string }): Promise<DeviceRow | undefined>;
  /** Gives an agent the one connection of its device. The same start of an agent may come again at any time; another one only when nobody has it. */
  connect(hello: Hello): Promise<Meeting>;
  /** Keeps connections for a while longer; answers which are not theirs any more, and why. */
  renew(some: readonly AgentPrincipal[]): Promise<ReadonlyMap<AgentPrincipal, 'revoked' | 'in_use'>>;
  leave(principal: AgentPrincipal): Promise<void>;
  /** What tells whether something else is to be told; undefined for a device that is revoked. */
  markOf(device_id: string): Promise<string | undefined>;
  /** The whole state that a device is to have, and its mark. */
  desired(device_id: string): Promise<{ mark: string; desired: Desired } | undefined>;
  /** Keeps what an agent said. Answers what it is told of that. Nothing of it reaches another device. */
  hear(principal: AgentPrincipal, said: Said): Promise<Told[]>;
}

/** How long a connection is its agent's without a word of it: two heartbeats and a half, in ms. */
const LEASE_MS = 50_000;
/** Rows of what was dropped that one device has at most; what comes beyond them within the hour is counted in sum alone. */
const BLOCKED_ROWS_MAXIMUM = 3_000;
const PART_MS = 5 * 60_000;
const EVENTS_KEPT = 500;
/** Files that one device may have reported, at most. */
const FINDINGS_KEPT = 5_000;
const ROWS_AT_ONCE = 80;
/** More packets than any report can mean. */
const most = (count: number) => Math.min(count, Number.MAX_SAFE_INTEGER);

const FINAL: readonly Ack['state'][] = ['applied', 'rolled_back', 'rejected', 'unavailable'];
const OVER: readonly ScanReport['state'][] = ['done', 'cancelled', 'failed'];

/** What tells whether something else is to be told than before. */
const markWith = (rev: number, told_rev: number, signatures: Signatures | null, control: Desired['control']) =>
  `${rev}.${told_rev}.${signatures?.number ?? 0}.${JSON.stringify(control)}`;

export function createAgents(parts: {
  database: Kysely<DeviceTables>;
  rules: PersonsRules;
  raise: (incident: DeviceIncident) => Promise<void>;
  recordScan: (found: FoundOnDevice) => Promise<void>;
  signatureEditions: Pick<SignatureEditions, 'current'>;
  measuredSessions: Pick<MeasuredSessions, 'hear' | 'wanted'>;
  grantedOf: GrantedOf;
  now: () => number;
}): Agents {
  const { database, rules, raise, recordScan, signatureEditions, measuredSessions, grantedOf, now } = parts;
  const clock = databaseClock(database);
  const at = () => new Date(now()).toISOString();
  /** A clock that is wrong does not say when: nothing is from tomorrow. */
  const noLater = (said: string) => new Date(Math.min(Date.parse(said), now())).toISOString();
  const find = (id: string) => database.selectFrom('devices').selectAll().where('id', '=', id).executeTakeFirst();

  async function hearAck(device: DeviceRow, { rev, state, applied_rev, errors }: Ack): Promise<void> {
    const [rules_rev, ids] = await Promise.all([rules.rev(device.user_id), rules.ruleIds(device.user_id)]);
    const desired_rev = desiredRev(device, rules_rev);
    // Of a revision that nobody asked for, or that was answered for since: it says nothing.
    if (rev > desired_rev || applied_rev > desired_rev || rev < device.ack_rev) return;
    const is_known = rev === device.ack_rev && device.ack_state !== null && FINAL.includes(device.ack_state);
    if (is_known && state === 'trial') return;
    const own = new Set(ids);
    const kept = errors.map(({ rule_id, message }) => ({
      rule_id: rule_id !== null && own.has(rule_id) ? rule_id : null,
      message,
    }));
    const is_applied = state === 'applied' && rev === desired_rev;
    await database
      .updateTable('devices')
      .set({
        ...{ ack_rev: rev, ack_state: state, ack_errors: JSON.stringify(kept), applied_rev },
        ...(state === 'applied' && { applied_at: at() }),
        // Said twice, it began when it was said first.
        trial_at: state !== 'trial' ? null : rev === device.ack_rev && device.ack_state === 'trial' ? device.trial_at : at(),
        ...(is_applied ? { pending_since: null } : device.pending_since === null && { pending_since: at() }),
      })
      .where('id', '=', device.id)
      .where('ack_rev', '<=', rev)
      .execute();
  }

  async function countCounters(device: DeviceRow, { epoch, counters }: Report): Promise<void> {
    const ids = new Set([...(await rules.ruleIds(device.user_id)), 'inbound', 'outbound']);
    const rows = await database.selectFrom('device_counters').selectAll().where('device_id', '=', device.id).execute();
    const known = new Map(rows.map((row) => [row.of, row]));
    const gone = rows.filter(({ of }) => !ids.has(of)).map(({ of }) => of);
    await inBatches(gone, async (some) => {
      await database.deleteFrom('device_counters').where('device_id', '=', device.id).where('of', 'in', some).execute();
      return [];
    });
    const time = at();
    const changed: Selectable<DeviceTables['device_counters']>[] = [];
    // Of a rule that is named twice the higher one counts.
    const said = new Map<string, { packets: number; bytes: number }>();
    for (const { of, packets, bytes } of counters) {
      const before = said.get(of);
      if (ids.has(of) && (before === undefined || before.packets < packets)) said.set(of, { packets, bytes });
    }
    for (const [of, { packets, bytes }] of said) {
      const row = known.get(of);
      // Of an epoch before the one that is counted: it was counted then.
      if (row !== undefined && epoch < row.epoch) continue;
      const is_same = row?.epoch === epoch;
      if (is_same && row.packets >= packets) continue;
      const before = { packets: row?.packets_before ?? 0, bytes: row?.bytes_before ?? 0 };
      changed.push({
        ...{ device_id: device.id, of, epoch, packets, bytes },
        packets_before: is_same ? before.packets : most(before.packets + (row?.packets ?? 0)),
        bytes_before: is_same ? before.bytes : most(before.bytes + (row?.bytes ?? 0)),
        last_at: packets > 0 ? time : (row?.last_at ?? null),
      });
    }
    for (let from = 0; from < changed.length; from += ROWS_AT_ONCE) {
      await database
        .insertInto('device_counters')
        .values(changed.slice(from, from + ROWS_AT_ONCE))
        .onConflict((conflict) =>
          conflict.columns(['device_id', 'of']).doUpdateSet(({ ref }) => ({
            epoch: ref('excluded.epoch'),
            packets: ref('excluded.packets'),
            bytes: ref('excluded.bytes'),
            packets_before: ref('excluded.packets_before'),
            bytes_before: ref('excluded.bytes_before'),
            last_at: ref('excluded.last_at'),
          })),
        )
        .execute();
    }
  }

  async function countBlocked(device: DeviceRow, { blocked }: Report): Promise<number> {
    const time = now();
    const last_at = new Date(time).toISOString();
    const part = new Date(Math.floor(time / PART_MS) * PART_MS).toISOString();
    await database
      .deleteFrom('device_blocked')
      .where('device_id', '=', device.id)
      .where('part', '<', new Date(time - BLOCKED_WINDOW_MS - PART_MS).toISOString())
      .execute();
    if (blocked.length === 0) return 0;
    const { rows } = await database
      .selectFrom('device_blocked')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .where('device_id', '=', device.id)
      .executeTakeFirstOrThrow();
    const sums = new Map<string, Selectable<DeviceTables['device_blocked']>>();
    for (const { direction, protocol, address, port, packets } of blocked) {
      const key = JSON.stringify([direction, protocol, address, port]);
      const before = sums.get(key)?.packets ?? 0;
      sums.set(key, {
        ...{ device_id: device.id, part, direction, protocol, address, port: port ?? -1 },
        ...{ packets: most(before + packets), first_at: last_at, last_at },
      });
    }
    const all = [...sums.values()];
    const fitting = all.slice(0, Math.max(0, BLOCKED_ROWS_MAXIMUM - rows));
    for (let from = 0; from < fitting.length; from += ROWS_AT_ONCE) {
      await database
        .insertInto('device_blocked')
        .values(fitting.slice(from, from + ROWS_AT_ONCE))
        .onConflict((conflict) =>
          conflict.columns(['device_id', 'part', 'direction', 'protocol', 'address', 'port']).doUpdateSet(({ eb, ref }) => ({
            packets: eb(ref('device_blocked.packets'), '+', ref('excluded.packets')),
            last_at: ref('excluded.last_at'),
          })),
        )
        .execute();
    }
    return most(all.reduce((sum, { packets }) => sum + packets, 0));
  }

  async function hearReport(device: DeviceRow, instance: string, report: Report): Promise<Told[]> {
    const noted: Told[] = [{ kind: 'noted', seq: report.seq, events: [] }];
    // It was counted, and the agent did not hear that it was.
    if (device.report_instance === instance && report.seq <= device.report_seq) return noted;
    await countCounters(device, report);
    const dropped = await countBlocked(device, report);
    await database
      .updateTable('devices')
      .set({
        ...{ report_instance: instance, report_seq: report.seq, blocked_total: most(device.blocked_total + dropped) },
        ...(report.telemetry !== null && { telemetry: JSON.stringify(report.telemetry), telemetry_at: at() }),
        ...{ posture: JSON.stringify(report.posture), foreign_tables: JSON.stringify(report.foreign_tables) },
        watching: report.watching === null ? null : JSON.stringify(report.watching),
      })
      .where('id', '=', device.id)
      .execute();
    return noted;
  }

  async function hearEvent(device: DeviceRow, { id, at: said_at, event }: Extract<Said, { kind: 'event' }>): Promise<Told[]> {
    const noted: Told[] = [{ kind: 'noted', seq: null, events: [id] }];
    const heard = await database
      .selectFrom('device_events')
      .select('id')
      .where('device_id', '=', device.id)
      .where('id', '=', id)
      .executeTakeFirst();
    if (heard !== undefined) return noted;
    const happened_at = noLater(said_at);
    if (event.event === 'order_done') await finishOrder(device, event);
    if (event.event === 'session_changes') await measuredSessions.hear(device.id, event.session_id, event.measured);
    const incident = incidentOfEvent(device, event, happened_at);
    if (incident !== undefined) await raise(incident);
    // Last: what was cut off before is said again, and one alert is one however often it is raised.
    await database
      .insertInto('device_events')
      .values({ device_id: device.id, id, heard_at: at() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const old = database
      .selectFrom('device_events')
      .select('id')
      .where('device_id', '=', device.id)
      .orderBy('heard_at', 'desc')
      .orderBy('id', 'desc')
      .limit(EVENTS_KEPT);
    await database.deleteFrom('device_events').where('device_id', '=', device.id).where('id', 'not in', old).execute();
    return noted;
  }

  async function finishOrder(
    device: DeviceRow,
    { order_id, ok, message }: { order_id: string; ok: boolean; message: string | null },
  ): Promise<void> {
    await database
      .updateTable('device_findings')
      .set(({ eb, ref }) => ({
        ...(ok && {
          state: eb
            .case()
            .when('order_action', '=', 'restore')
            .then(sql<'restored'>`'restored'`)
            .when('order_action', '=', 'delete')
            .then(sql<'deleted'>`'deleted'`)
            .else(ref('state'))
            .end(),
        }),
        reason: message,
        order_id: null,
        order_action: null,
      }))
      .where('device_id', '=', device.id)
      .where('order_id', '=', order_id)
      .execute();
    await database
      .updateTable('devices')
      .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
      .where('id', '=', device.id)
      .execute();
  }

  async function keepFinding(device: DeviceRow, scan_id: string | null, file: Found): Promise<boolean> {
    const stored = await database
      .insertInto('device_findings')
      .values({
        ...{ id: newId(), user_id: device.user_id, device_id: device.id, finding_id: file.id, scan_id },
        ...{ path: file.path, file_hash: file.file_hash, size: file.size, threat: file.threat, member: file.member },
        ...{ found_at: noLater(file.found_at), state: file.outcome, reason: file.reason },
        ...{ order_id: null, order_action: null },
      })
      .onConflict((conflict) => conflict.columns(['device_id', 'finding_id']).doNothing())
      .returning('id')
      .executeTakeFirst();
    return stored !== undefined;
  }

  async function hearScan(device: DeviceRow, report: ScanReport): Promise<Told[]> {
    const { job_id, state, reason, progress, signatures_version } = report;
    const is_over = OVER.includes(state);
    // A job of another device is none of this one's.
    const job =
      job_id === null
        ? undefined
        : await database
            .selectFrom('device_scans')
            .selectAll()
            .where('id', '=', job_id)
            .where('device_id', '=', device.id)
            .executeTakeFirst();
    const { findings } = await database
      .selectFrom('device_findings')
      .select(({ fn }) => fn.countAll<number>().as('findings'))
      .where('device_id', '=', device.id)
      .executeTakeFirstOrThrow();
    let fresh = 0;
    for (const file of report.found) {
      if (findings + fresh >= FINDINGS_KEPT) break;
      if (!(await keepFinding(device, job?.id ?? null, file))) continue;
      fresh += 1;
      await recordScan({ user_id: device.user_id, device, file });
      await raise(incidentOfFile(device, file));
    }
    if (job !== undefined) {
      await database
        .updateTable('device_scans')
        .set(({ eb }) => ({
          ...{ state, reason, signatures_version, progress: JSON.stringify(progress) },
          files_found: eb('files_found', '+', fresh),
          ...(job.started_at === null && state !== 'queued' && { started_at: at() }),
          ...(is_over && { ended_at: at() }),
        }))
        .where('id', '=', job.id)
        // What is over stays over, whatever is said again of it.
        .where('state', 'not in', OVER)
        .execute();
    }
    const was_over = job !== undefined && OVER.includes(job.state);
    // Of what was found by watching there is no job that the device would have to be told of.
    if (is_over && !was_over && report.scan !== 'watch') {
      const is_full = state === 'done' && report.scan === 'full' && (job === undefined ? job_id === null : job.scan === 'full');
      await database
        .updateTable('devices')
        .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1), ...(is_full && { last_full_scan_at: at() }) }))
        .where('id', '=', device.id)
        .execute();
    }
    return [{ kind: 'noted', seq: report.seq, events: [] }];
  }

  async function controlOf(device: { id: string; user_id: string }): Promise<Desired['control']> {
    const granted = await grantedOf(device);
    if (granted === undefined) return null;
    const { session_id, grants } = granted;
    return { session_id, input: grants.includes('control'), clipboard: grants.includes('clipboard') };
  }

  async function markOf(device_id: string): Promise<string | undefined> {
    const device = await database
      .selectFrom('devices')
      .select(['user_id', 'own_rev', 'told_rev', 'revoked_at'])
      .where('id', '=', device_id)
      .executeTakeFirst();
    if (device === undefined || device.revoked_at !== null) return undefined;
    const control = await controlOf({ id: device_id, user_id: device.user_id });
    return markWith(
      desiredRev(device, await rules.rev(device.user_id)),
      device.told_rev,
      await signatureEditions.current(),
      control,
    );
  }

  return {
    async authenticate({ device_id, token }) {
      const row = await find(device_id);
      return row === undefined || row.revoked_at !== null || row.token_hash !== hashOf(token) ? undefined : row;
    },

    async connect(hello) {
      const connection_id = newId();
      const said_at = Date.parse(hello.at);
      const row = await database
        .updateTable('devices')
        .set({
          ...{ instance: hello.instance, connection_id, connected_until: clock(LEASE_MS), last_seen_at: at() },
          ...{ agent_version: hello.agent_version, capabilities: JSON.stringify(hello.capabilities) },
          ...{ skew_ms: Math.round(said_at - now()), silence_told_at: null },
        })
        .where('id', '=', hello.device_id)
        .where('token_hash', '=', hashOf(hello.token))
        .where('revoked_at', 'is', null)
        .where(({ or, eb }) =>
          or([eb('connected_until', 'is', null), eb('connected_until', '<=', clock()), eb('instance', '=', hello.instance)]),
        )
        .returning(['id', 'user_id'])
        .executeTakeFirst();
      if (row !== undefined)
        return { principal: { kind: 'device', id: row.id, user_id: row.user_id, connection_id, instance: hello.instance } };
      const there = await find(hello.device_id);
      const is_known = there !== undefined && there.revoked_at === null && there.token_hash === hashOf(hello.token);
      return { refused: is_known ? 'in_use' : 'revoked' };
    },

    async renew(some) {
      const kept = await inBatches(some, (batch) =>
        database
          .updateTable('devices')
          .set({ connected_until: clock(LEASE_MS), last_seen_at: at() })
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
        database
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
    },

    async leave({ connection_id }) {
      await database
        .updateTable('devices')
        .set({ connection_id: null, connected_until: null, last_seen_at: at() })
        .where('connection_id', '=', connection_id)
        .execute();
    },

    markOf,

    async desired(device_id) {
      const device = await find(device_id);
      if (device === undefined || device.revoked_at !== null) return undefined;
      const { rev, rules: all } = await rules.enforced(device.user_id);
      const [signatures, remote_sessions, control, jobs, orders] = await Promise.all([
        signatureEditions.current(),
        measuredSessions.wanted(device_id),
        controlOf(device),
        database
          .selectFrom('device_scans')
          .select(['id', 'scan', 'path', 'wanted'])
          .where('device_id', '=', device_id)
          .where('state', 'not in', OVER)
          .orderBy('id')
          .limit(20)
          .execute(),
        database
          .selectFrom('device_findings')
          .select(['order_id', 'finding_id', 'order_action'])
          .where('device_id', '=', device_id)
          .where('order_id', 'is not', null)
          .orderBy('id')
          .limit(200)
          .execute(),
      ]);
      const state = {
        defaults: { inbound: device.default_inbound, outbound: device.default_outbound },
        rules: all
          .filter(({ device_ids }) => device_ids.length === 0 || device_ids.includes(device_id))
          .slice(0, DEVICE_RULES_MAXIMUM)
          .map(({ id, direction, action, protocol, source_ip, destination_ip, port, expires_at }) => ({
            ...{ id, direction, action, protocol, source_ip, destination_ip, port, expires_at },
          })),
        block_list: [],
      };
      const desired_rev = desiredRev(device, rev);
      return {
        mark: markWith(desired_rev, device.told_rev, signatures, control),
        desired: {
          kind: 'desired',
          rev: desired_rev,
          hash: createHash('sha256').update(canonicalRules(state)).digest('hex'),
          ...state,
          scan_jobs: jobs,
          file_orders: orders.flatMap(({ order_id: id, finding_id, order_action: action }) =>
            id === null || action === null ? [] : [{ id, finding_id, action }],
          ),
          exclusions: foldersSchema.parse(JSON.parse(device.exclusions)),
          watched: foldersSchema.parse(JSON.parse(device.watched)),
          is_watching: device.is_watching === 1,
          signatures,
          remote_sessions,
          control,
        },
      };
    },

    async hear({ id, instance }, said) {
      const device = await find(id);
      if (device === undefined || device.revoked_at !== null) return [];
      switch (said.kind) {
        case 'ack':
          await hearAck(device, said);
          return [];
        case 'report':
          return await hearReport(device, instance, said);
        case 'event':
          return await hearEvent(device, said);
        case 'scan_report':
          return await hearScan(device, said);
      }
    },
  };
}
