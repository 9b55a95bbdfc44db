import type { PageQuery } from '@palisade/contract/fields';
import { type NewRule, RULES_MAXIMUM, type Rule } from '@palisade/contract/firewall';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import { Problem } from '#platform/problem.ts';
import type { FirewallTables } from './firewall.tables.ts';

type Row = Selectable<FirewallTables['firewall_rules']>;

export interface Firewall {
  /** One page, newest first. */
  list(user_id: string, page: PageQuery): Promise<Rule[]>;
  /** All rules of a person, newest first: at most `RULES_MAXIMUM`. */
  listRules(user_id: string): Promise<Rule[]>;
  /** All rules of a person, enabled or not. */
  countRules(user_id: string): Promise<number>;
  find(id: string): Promise<Row | undefined>;
  /** @throws Problem `rule_limit`. */
  add(user_id: string, rule: NewRule): Promise<Rule>;
  /** @throws Problem `not_found` when somebody deleted it meanwhile. */
  setEnabled(rule: Row, enabled: boolean): Promise<Rule>;
  /** @throws Problem `not_found` when somebody deleted it meanwhile. */
  remove(rule: Row): Promise<void>;
}

function ruleOf({ user_id: _, enabled, ...row }: Row): Rule {
  return { ...row, enabled: enabled === 1 };
}

export function createFirewall(parts: { database: Kysely<FirewallTables>; now: () => number }): Firewall {
  const { database, now } = parts;

  const list = async (user_id: string, { limit, cursor }: PageQuery): Promise<Rule[]> => {
    let query = database
      .selectFrom('firewall_rules')
      .selectAll()
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return (await query.execute()).map(ruleOf);
  };

  return {
    list,

    listRules: (user_id) => list(user_id, { limit: RULES_MAXIMUM }),

    async countRules(user_id) {
      const row = await database
        .selectFrom('firewall_rules')
        .select(({ fn }) => fn.countAll<number>().as('rules'))
        .where('user_id', '=', user_id)
        .executeTakeFirstOrThrow();
      return row.rules;
    },

    find: (id) => database.selectFrom('firewall_rules').selectAll().where('id', '=', id).executeTakeFirst(),

    add(user_id, rule) {
      return database.transaction().execute(async (transaction) => {
        // The row of the count is locked until the rule is stored, so several at once come one after the other.
        const counted = await transaction
          .insertInto('firewall_rule_counts')
          .values({ user_id, rules: 1 })
          .onConflict((conflict) =>
            conflict
              .column('user_id')
              .doUpdateSet(({ eb, ref }) => ({ rules: eb(ref('firewall_rule_counts.rules'), '+', 1) }))
              .where('firewall_rule_counts.rules', '<', RULES_MAXIMUM),
          )
          .returning('rules')
          .executeTakeFirst();
        if (counted === undefined) {
          throw new Problem('rule_limit', {
            detail: `You have ${RULES_MAXIMUM} rules, which is the most. Delete one before you add another.`,
          });
        }
        const row = { id: newId(), user_id, ...rule, enabled: 1, created_at: new Date(now()).toISOString() };
        await transaction.insertInto('firewall_rules').values(row).execute();
        return ruleOf(row);
      });
    },

    async setEnabled({ id }, enabled) {
      const row = await database
        .updateTable('firewall_rules')
        .set({ enabled: enabled ? 1 : 0 })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) throw new Problem('not_found');
      return ruleOf(row);
    },

    async remove({ id, user_id }) {
      await database.transaction().execute(async (transaction) => {
        const deleted = await transaction.deleteFrom('firewall_rules').where('id', '=', id).returning('id').executeTakeFirst();
        if (deleted === undefined) throw new Problem('not_found');
        await transaction
          .updateTable('firewall_rule_counts')
          .set(({ eb, ref }) => ({ rules: eb(ref('rules'), '-', 1) }))
          .where('user_id', '=', user_id)
          .execute();
      });
    },
  };
}
