import type { BlockKind, BlockRule } from '@palisade/contract/blocks';
import type { PageQuery } from '@palisade/contract/fields';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { EnforcementTables } from './enforcement.tables.ts';

export type BlockRow = Selectable<EnforcementTables['blocks']>;

/** The sign-ins that a block refuses: of `account` from `source`; without an account, all from there. */
export interface Target {
  source: string;
  account: string | null;
}

export interface Blocks {
  /** The time until which sign-ins are refused, in ms since 1970; undefined when they are not. */
  refusal(attempt: { source: string; account: string }): Promise<{ kind: BlockKind; until: number } | undefined>;
  /** Whether sign-ins were refused at that time (ISO), whatever the block's state since. */
  wasRefused(attempt: { source: string; account: string }, then: string): Promise<boolean>;
  /** Refuses from now on, for longer than the previous time. */
  add(target: Target, rule: BlockRule, user_id: string | null): Promise<BlockRow>;
  /** Stops counting the earlier blocks of a target. */
  forgive(target: Target): Promise<void>;
  find(id: string): Promise<BlockRow | undefined>;
  /** The blocks in force, newest first: of a person's account, or all. */
  list(page: PageQuery, user_id?: string): Promise<BlockRow[]>;
  /** Ends a block; the row that it was, or undefined when it is not in force. */
  lift(database: Kysely<EnforcementTables>, id: string, by: string): Promise<BlockRow | undefined>;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Length of the first refusal, its maximum after doubling, and the refusal after too many in a day (fail2ban's `bantime.increment`, its recidive jail). */
const REFUSAL = { first_ms: 10 * MINUTE_MS, most_ms: DAY_MS, many_in_a_day: 5, many_ms: 7 * DAY_MS } as const;
/** Time for which an earlier block counts, and for which a finished one is kept. */
const REMEMBERED_MS = 30 * DAY_MS;

/** Length of a refusal, in ms. `level` is 1 for the first; `in_a_day` are those of the last 24 hours with this one. */
export function refusalLength({ level, in_a_day }: { level: number; in_a_day: number }): number {
  if (in_a_day >= REFUSAL.many_in_a_day) return REFUSAL.many_ms;
  return Math.min(REFUSAL.most_ms, REFUSAL.first_ms * 2 ** (level - 1));
}

/** Blocks are rows, so that they outlive the server and hold for every server of several. */
export function createBlocks(parts: { database: Kysely<EnforcementTables>; now: () => number }): Blocks {
  const { database, now } = parts;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();

  const inForce = (from: Kysely<EnforcementTables>) =>
    from.selectFrom('blocks').selectAll().where('lifted_at', 'is', null).where('until', '>', at());

  return {
    async refusal({ source, account }) {
      const row = await inForce(database)
        .where('source', '=', source)
        .where((where) => where.or([where('account', 'is', null), where('account', '=', account)]))
        .orderBy('until', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row && { kind: row.kind, until: Date.parse(row.until) };
    },

    async wasRefused({ source, account }, then) {
      const row = await database
        .selectFrom('blocks')
        .select('id')
        .where('source', '=', source)
        .where((where) => where.or([where('account', 'is', null), where('account', '=', account)]))
        .where('since', '<=', then)
        .where('until', '>', then)
        .where((where) => where.or([where('lifted_at', 'is', null), where('lifted_at', '>', then)]))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    add: (target, rule, user_id) =>
      inTransaction(database, async (transaction) => {
        await transaction.deleteFrom('blocks').where('until', '<', at(-REMEMBERED_MS)).execute();
        const earlier = await transaction
          .selectFrom('blocks')
          .select('since')
          .where('source', '=', target.source)
          .where('account', target.account === null ? 'is' : '=', target.account)
          .where('counts', '=', 1)
          .where('since', '>', at(-REMEMBERED_MS))
          .execute();
        const level = earlier.length + 1;
        const in_a_day = earlier.filter(({ since }) => since > at(-DAY_MS)).length + 1;
        return await transaction
          .insertInto('blocks')
          .values({
            id: newId(),
            kind: target.account === null ? 'source' : 'pair',
            ...target,
            user_id,
            rule,
            since: at(),
            until: at(refusalLength({ level, in_a_day })),
            level,
            counts: 1,
            lifted_at: null,
            lifted_by: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      }),

    async forgive({ source, account }) {
      await database
        .updateTable('blocks')
        .set({ counts: 0 })
        .where('source', '=', source)
        .where('account', account === null ? 'is' : '=', account)
        .where('counts', '=', 1)
        .execute();
    },

    find: (id) => inForce(database).where('id', '=', id).executeTakeFirst(),

    async list({ limit, cursor }, user_id) {
      let query = inForce(database).orderBy('id', 'desc').limit(limit);
      if (user_id !== undefined) query = query.where('user_id', '=', user_id);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return await query.execute();
    },

    lift: (transaction, id, by) =>
      transaction
        .updateTable('blocks')
        .set({ lifted_at: at(), lifted_by: by, counts: 0 })
        .where('id', '=', id)
        .where('lifted_at', 'is', null)
        .where('until', '>', at())
        .returningAll()
        .executeTakeFirst(),
  };
}
