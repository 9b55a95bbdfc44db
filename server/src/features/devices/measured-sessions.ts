import { MEASURED_SESSIONS_MAXIMUM } from '@palisade/contract/agent';
import { type DeviceChanges, type MeasuredChanges, measuredChangesSchema } from '@palisade/contract/session-changes';
import type { Kysely } from 'kysely';
import { databaseClock } from '#platform/database-clock.ts';
import { newId } from '#platform/id.ts';
import type { DeviceTables } from './devices.tables.ts';

/**
 * Time after a session in which an agent may still report changes, in ms: a computer that was switched off reports when it is on again.
 */
export const AWAITED_MS = 86_400_000;

/** Changes on a person's devices while a remote session runs. The devices themselves take stock and compare. */
export interface MeasuredSessions {
  /** The session runs from now on: the person's devices that are connected take stock. Once for each session. */
  begin(session: { id: string; user_id: string }): Promise<void>;
  /** The session is over: devices with a baseline report what changed. Idempotent. */
  end(session_id: string): Promise<void>;
  /** Stores a device's findings; its first report counts, and none before the session is over. Answers whether it was kept. */
  hear(device_id: string, session_id: string, measured: MeasuredChanges): Promise<boolean>;
  /** The device's next steps. */
  wanted(device_id: string): Promise<{ id: string; wanted: 'stock' | 'changes' }[]>;
  read(session_id: string): Promise<DeviceChanges[]>;
}

export function createMeasuredSessions(parts: {
  database: Kysely<DeviceTables>;
  nudge: (device_id: string) => void;
  now: () => number;
}): MeasuredSessions {
  const { database, nudge, now } = parts;
  const clock = databaseClock(database);
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();

  async function tell(device_ids: readonly string[]): Promise<void> {
    if (device_ids.length === 0) return;
    await database
      .updateTable('devices')
      .set(({ eb }) => ({ told_rev: eb('told_rev', '+', 1) }))
      .where('id', 'in', device_ids)
      .execute();
    for (const id of device_ids) nudge(id);
  }

  return {
    async begin({ id: session_id, user_id }) {
      const online = await database
        .selectFrom('devices')
        .select('id')
        .where('user_id', '=', user_id)
        .where('revoked_at', 'is', null)
        .where('connected_until', '>', clock())
        .orderBy('id')
        .execute();
      if (online.length === 0) return;
      const asked = await database
        .insertInto('device_sessions')
        .values(
          online.map(({ id: device_id }) => ({
            ...{ id: newId(), user_id, device_id, session_id, state: 'measuring' as const, asked_at: at() },
            ...{ ended_at: null, measured: null },
          })),
        )
        .onConflict((conflict) => conflict.columns(['session_id', 'device_id']).doNothing())
        .returning('device_id')
        .execute();
      await tell(asked.map(({ device_id }) => device_id));
    },

    async end(session_id) {
      const ended = await database
        .updateTable('device_sessions')
        .set({ state: 'awaited', ended_at: at() })
        .where('session_id', '=', session_id)
        .where('state', '=', 'measuring')
        .returning('device_id')
        .execute();
      await tell(ended.map(({ device_id }) => device_id));
    },

    async hear(device_id, session_id, measured) {
      const kept = await database
        .updateTable('device_sessions')
        .set({ state: 'measured', measured: JSON.stringify(measured) })
        .where('session_id', '=', session_id)
        .where('device_id', '=', device_id)
        .where('state', '=', 'awaited')
        .returning('id')
        .executeTakeFirst();
      if (kept !== undefined) await tell([device_id]);
      return kept !== undefined;
    },

    async wanted(device_id) {
      const rows = await database
        .selectFrom('device_sessions')
        .select(['session_id', 'state'])
        .where('device_id', '=', device_id)
        .where(({ or, and, eb }) =>
          or([
            and([eb('state', '=', 'measuring'), eb('asked_at', '>', at(-AWAITED_MS))]),
            and([eb('state', '=', 'awaited'), eb('ended_at', '>', at(-AWAITED_MS))]),
          ]),
        )
        .orderBy('id', 'desc')
        .limit(MEASURED_SESSIONS_MAXIMUM)
        .execute();
      return rows.map(({ session_id: id, state }) => ({ id, wanted: state === 'measuring' ? 'stock' : 'changes' }));
    },

    async read(session_id) {
      const rows = await database
        .selectFrom('device_sessions')
        .innerJoin('devices', 'devices.id', 'device_sessions.device_id')
        .select([
          'device_id',
          'devices.device_name',
          'device_sessions.state',
          'device_sessions.measured',
          'device_sessions.ended_at',
        ])
        .where('session_id', '=', session_id)
        .orderBy('device_sessions.id')
        .execute();
      return rows.map(({ device_id, device_name, state, measured, ended_at }) => {
        const found = measured === null ? undefined : measuredChangesSchema.parse(JSON.parse(measured));
        const is_late = ended_at !== null && ended_at <= at(-AWAITED_MS);
        const nothing = { from: null, to: null, changes: [], more: 0, unread: [] };
        if (found === undefined)
          return { ...nothing, device_id, device_name, state: is_late || state === 'measured' ? 'not_measured' : state };
        return { ...found, device_id, device_name, state: found.from === null ? 'not_measured' : 'measured' };
      });
    },
  };
}
