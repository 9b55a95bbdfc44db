import type { Suppression } from '@palisade/contract/alerts';
import { SUPPRESSION_DAYS } from '@palisade/contract/alerts';
import type { PageQuery } from '@palisade/contract/fields';
import type { Kysely } from 'kysely';
import type { Audit, AuditTables } from '#platform/audit.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { Problem } from '#platform/problem.ts';
import { type AlertRow, type Decider, isSuppressible, phraseOf } from './alert-record.ts';
import { refuseField } from './alerts.refusals.ts';
import type { AlertTables } from './alerts.tables.ts';

const DAY_MS = 86_400_000;

type Tables = AlertTables & AuditTables;

/** Suppressions of alerts: findings of one rule about one source, for a while (docs/decisions/monitor.md). */
export interface Suppressions {
  /** Suppresses alerts like this one, as part of a transaction; extends an existing suppression. */
  add(database: Kysely<Tables>, row: AlertRow, decider: Decider): Promise<void>;
  list(user_id: string, page: PageQuery): Promise<Suppression[]>;
  find(id: string): Promise<{ id: string; user_id: string; rule: string; source: string } | undefined>;
  /** A suppression of alerts like this one, and the number it would hide. @throws Problem `not_found`, `invalid_field` for an alert that cannot be suppressed. */
  preview(user_id: string, alert_id: string): Promise<{ rule: string; source: string; until: string; would_hide: number }>;
  /** Ends a suppression and shows the alerts that it hid. */
  remove(suppression: { id: string; rule: string; source: string }, decider: Decider): Promise<void>;
}

/** @throws Problem `invalid_field` for an alert that cannot be suppressed. */
export function requireSuppressible(row: AlertRow, field: string): { source: string } {
  if (isSuppressible(row)) return row;
  throw refuseField(field, row.severity === 'critical' ? 'alert.critical_not_hidden' : 'alert.no_single_source');
}

export function createSuppressions(parts: {
  database: Kysely<Tables>;
  audit: Audit;
  now: () => number;
  /** Called with each person whose alerts changed. */
  changed: (user_id: string) => void;
}): Suppressions {
  const { database, audit, now, changed } = parts;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();

  return {
    async add(transaction, row, { user_id, origin }) {
      const { source } = requireSuppressible(row, 'suppress');
      const until = at(SUPPRESSION_DAYS * DAY_MS);
      const { user_id: owner, rule, description, phrase } = row;
      await transaction
        .insertInto('alert_suppressions')
        .values({
          id: newId(),
          user_id: owner,
          rule,
          source,
          description,
          phrase,
          created_at: at(),
          until,
          hidden_count: 0,
          last_hidden_at: null,
        })
        .onConflict((conflict) => conflict.columns(['user_id', 'rule', 'source']).doUpdateSet({ until }))
        .execute();
      await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
        kind: 'suppression_added',
        subject_id: owner,
        actor_id: user_id,
        origin,
        details: { rule, source, until },
      });
    },

    async list(user_id, { limit, cursor }) {
      let query = database
        .selectFrom('alert_suppressions')
        .select(['id', 'rule', 'source', 'description', 'phrase', 'created_at', 'until', 'hidden_count', 'last_hidden_at'])
        .where('user_id', '=', user_id)
        // An expired one stays in the list while it hides alerts.
        .where((where) => where.or([where('until', '>', at()), where('hidden_count', '>', 0)]))
        .orderBy('id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return (await query.execute()).map((row) => ({ ...row, phrase: phraseOf(row) }));
    },

    find: (id) =>
      database
        .selectFrom('alert_suppressions')
        .select(['id', 'user_id', 'rule', 'source'])
        .where('id', '=', id)
        .executeTakeFirst(),

    async preview(user_id, alert_id) {
      const row = await database.selectFrom('alerts').selectAll().where('id', '=', alert_id).executeTakeFirst();
      if (row === undefined || row.user_id !== user_id) throw new Problem('not_found');
      const { source } = requireSuppressible(row, 'alert_id');
      const { rule } = row;
      const { count } = await database
        .selectFrom('alerts')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('user_id', '=', user_id)
        .where('rule', '=', rule)
        .where('source', '=', source)
        .where('severity', '!=', 'critical')
        .where('last_seen', '>=', at(-SUPPRESSION_DAYS * DAY_MS))
        .executeTakeFirstOrThrow();
      return { rule, source, until: at(SUPPRESSION_DAYS * DAY_MS), would_hide: count };
    },

    async remove({ id, rule, source }, { user_id, origin }) {
      await inTransaction(database, async (transaction) => {
        const removed = await transaction
          .deleteFrom('alert_suppressions')
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst();
        if (removed === undefined) return;
        await transaction.updateTable('alerts').set({ hidden_by: null }).where('hidden_by', '=', id).execute();
        await audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), {
          kind: 'suppression_removed',
          subject_id: user_id,
          actor_id: user_id,
          origin,
          details: { rule, source },
        });
      });
      changed(user_id);
    },
  };
}
