import { engineAnswerSchema } from '@palisade/contract/antivirus';
import type { PageQuery } from '@palisade/contract/fields';
import type { FalseAlarm, ScanDetail } from '@palisade/contract/quarantine';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { isForeignKeyViolation, isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { Problem } from '#platform/problem.ts';
import type { AntivirusTables } from './antivirus.tables.ts';
import type { ScanRow } from './keeping.ts';

/** The owner of the accounts. */
interface Accounts {
  findUsers(ids: readonly string[]): Promise<{ id: string; email: string; username: string }[]>;
}

/** Findings that their owners hold to be false alarms, and what the administrators say of them. */
export interface FalseAlarms {
  of(scan_id: string): Promise<ScanDetail['report']>;
  /** @throws Problem `conflict` for a record that is not infected, or was reported already. */
  report(row: ScanRow, reason: string): Promise<void>;
  list(page: PageQuery): Promise<FalseAlarm[]>;
  countOpen(): Promise<number>;
  /** @throws Problem `not_found` when it is not open. */
  decide(id: string, decision: 'confirmed' | 'rejected', by: Doer): Promise<void>;
}

const enginesSchema = z.array(engineAnswerSchema);

export function createFalseAlarms(parts: {
  database: Kysely<AntivirusTables & AuditTables>;
  audit: Audit;
  accounts: Accounts;
  now: () => number;
}): FalseAlarms {
  const { database, audit, accounts, now } = parts;
  const at = () => new Date(now()).toISOString();
  return {
    async of(scan_id) {
      const report = await database
        .selectFrom('quarantine_reports')
        .select(['status', 'reported_at', 'decided_at'])
        .where('scan_id', '=', scan_id)
        .executeTakeFirst();
      return report ?? null;
    },

    async report({ id, user_id, scan_status }, reason) {
      if (scan_status !== 'infected') {
        throw new Problem('conflict', { detail: 'Nothing was found in this file, so there is nothing to report.' });
      }
      const report = { id: newId(), scan_id: id, user_id, reason, status: 'open' as const, reported_at: at(), decided_at: null };
      try {
        await database.insertInto('quarantine_reports').values(report).execute();
      } catch (error) {
        if (isForeignKeyViolation(error)) throw new Problem('not_found', { cause: error });
        if (!isUniqueViolation(error, 'scan_id')) throw error;
        throw new Problem('conflict', { detail: 'You have reported this already. An administrator will look at it.' });
      }
    },

    async list({ limit, cursor }) {
      let query = database
        .selectFrom('quarantine_reports')
        .innerJoin('scans', 'scans.id', 'quarantine_reports.scan_id')
        .select([
          'quarantine_reports.id',
          'quarantine_reports.user_id',
          'quarantine_reports.reason',
          'quarantine_reports.status',
          'quarantine_reports.reported_at',
          'quarantine_reports.decided_at',
          'scans.filename',
          'scans.file_hash',
          'scans.threat_detected',
          'scans.threat_member',
          'scans.engines',
        ])
        .orderBy('quarantine_reports.id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('quarantine_reports.id', '<', cursor);
      const rows = await query.execute();
      const people = await accounts.findUsers([...new Set(rows.map((row) => row.user_id))]);
      const byId = new Map(people.map((person) => [person.id, person]));
      return rows.flatMap(({ user_id, engines, ...row }) => {
        const person = byId.get(user_id);
        if (person === undefined) return [];
        return [
          {
            ...row,
            engines: enginesSchema.parse(JSON.parse(engines)),
            user_email: person.email,
            user_username: person.username,
          },
        ];
      });
    },

    async countOpen() {
      const row = await database
        .selectFrom('quarantine_reports')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('status', '=', 'open')
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },

    async decide(id, decision, by) {
      await database.transaction().execute(async (transaction) => {
        const decided = await transaction
          .updateTable('quarantine_reports')
          .set({ status: decision, decided_at: at() })
          .where('id', '=', id)
          .where('status', '=', 'open')
          .returning(['user_id', 'scan_id'])
          .executeTakeFirst();
        if (decided === undefined) throw new Problem('not_found', { detail: 'This report is decided already. Reload the list.' });
        const { user_id, scan_id } = decided;
        const entry = { kind: 'false_alarm_decided', subject_id: user_id, details: { scan_id, decision } } as const;
        await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), { ...entry, ...by });
      });
    },
  };
}
