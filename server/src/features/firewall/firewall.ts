import { isDeepStrictEqual } from 'node:util';
import type { PageQuery } from '@palisade/contract/fields';
import {
  type FileRule,
  LASTS,
  type Lasts,
  type NewRule,
  REVISIONS_KEPT,
  type Revision,
  type RevisionKind,
  RULES_MAXIMUM,
  type Rule,
  type RuleChange,
  ruleSchema,
} from '@palisade/contract/firewall';
import { refusalOf } from '@palisade/contract/firewall-shapes';
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { inBatches } from '#platform/batches.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import { refuse } from './firewall.refusals.ts';
import type { FirewallTables } from './firewall.tables.ts';

type Row = Selectable<FirewallTables['firewall_rules']>;
type RevisionRow = Selectable<FirewallTables['firewall_revisions']>;

const deviceIdsSchema = z.array(z.string());

/** A rule as a reply has it. An expired temporary rule is off, even before the job has updated it. */
function ruleOf({ user_id: _, enabled, device_ids, ...row }: Row, now: number): Rule {
  const is_over = row.expires_at !== null && Date.parse(row.expires_at) <= now;
  return { ...row, enabled: enabled === 1 && !is_over, device_ids: deviceIdsSchema.parse(JSON.parse(device_ids)) };
}

function rowOf(user_id: string, { enabled, device_ids, ...rule }: Rule): Insertable<FirewallTables['firewall_rules']> {
  return { ...rule, user_id, enabled: enabled ? 1 : 0, device_ids: JSON.stringify(device_ids) };
}

function revisionOf({ user_id: _, changes: __, ...row }: RevisionRow): Revision {
  return row;
}

/** A rule before and after a change; null where it was not, or is not, there. */
const changesSchema = z.array(z.object({ before: ruleSchema.nullable(), after: ruleSchema.nullable() }));
type Change = z.infer<typeof changesSchema>[number];

/** Rows that one statement writes: 13 columns each, and SQLite takes 999 values in old builds. */
const ROWS_AT_ONCE = 70;

const EXPIRE_RULES = jobKind({ name: 'rule-expiry', payload: z.object({}), every_ms: 10_000 });
/** Number of people whose expired rules one run turns off. */
const EXPIRED_AT_ONCE = 200;

interface FirewallOptions {
  database: Kysely<FirewallTables>;
  jobs: Pick<Jobs, 'handle'>;
  /** Called with a person whose rules were changed by someone else. */
  onChange: (user_id: string) => void;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

const expiryOf = (now: () => number, lasts: Lasts | null | undefined) =>
  lasts === null || lasts === undefined ? null : new Date(now() + LASTS[lasts]).toISOString();

/** The current state of a rule, within a change. @throws Problem `not_found`. */
async function current(now: () => number, transaction: Kysely<FirewallTables>, id: string): Promise<Rule> {
  const row = await transaction.selectFrom('firewall_rules').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) throw new Problem('not_found');
  return ruleOf(row, now());
}

/** Writes the differences. */
async function write(transaction: Kysely<FirewallTables>, user_id: string, changes: readonly Change[]): Promise<void> {
  const gone = changes.flatMap(({ before, after }) => (after === null && before !== null ? [before.id] : []));
  await inBatches(gone, async (ids) => {
    await transaction.deleteFrom('firewall_rules').where('id', 'in', ids).execute();
    return [];
  });
  const fresh = changes.flatMap(({ before, after }) => (before === null && after !== null ? [rowOf(user_id, after)] : []));
  for (let from = 0; from < fresh.length; from += ROWS_AT_ONCE) {
    await transaction
      .insertInto('firewall_rules')
      .values(fresh.slice(from, from + ROWS_AT_ONCE))
      .execute();
  }
  for (const { before, after } of changes) {
    if (before === null || after === null) continue;
    const { id, user_id: _, ...columns } = rowOf(user_id, after);
    await transaction.updateTable('firewall_rules').set(columns).where('id', '=', id).execute();
  }
}

/** Creates one revision of a person's rules. The row of their count stays locked until it is stored, so concurrent changes run one after the other. Undefined if nothing changes. */
async function revise(
  database: Kysely<FirewallTables>,
  now: () => number,
  user_id: string,
  kind: RevisionKind,
  work: (transaction: Kysely<FirewallTables>) => Promise<Change[]>,
): Promise<Revision | undefined> {
  return await inTransaction(database, async (transaction) => {
    const { rules, rev } = await transaction
      .insertInto('firewall_rule_counts')
      .values({ user_id, rules: 0, rev: 0 })
      .onConflict((conflict) =>
        conflict.column('user_id').doUpdateSet(({ ref }) => ({ rules: ref('firewall_rule_counts.rules') })),
      )
      .returning(['rules', 'rev'])
      .executeTakeFirstOrThrow();
    const changes = await work(transaction);
    if (changes.length === 0) return undefined;
    const added = changes.filter(({ before }) => before === null).length;
    const removed = changes.filter(({ after }) => after === null).length;
    const count = rules + added - removed;
    if (count > RULES_MAXIMUM && added > removed) {
      throw refuse('rules.too_many', { rules, maximum: RULES_MAXIMUM, added });
    }
    await write(transaction, user_id, changes);
    await transaction
      .updateTable('firewall_rule_counts')
      .set({ rules: count, rev: rev + 1 })
      .where('user_id', '=', user_id)
      .execute();
    await transaction
      .deleteFrom('firewall_revisions')
      .where('user_id', '=', user_id)
      .where('rev', '<=', rev + 1 - REVISIONS_KEPT)
      .execute();
    const [first] = changes;
    const row = await transaction
      .insertInto('firewall_revisions')
      .values({
        id: newId(),
        user_id,
        rev: rev + 1,
        kind,
        created_at: at(now),
        rule_name: changes.length === 1 ? ((first?.after ?? first?.before)?.rule_name ?? null) : null,
        added,
        changed: changes.length - added - removed,
        removed,
        changes: JSON.stringify(changes),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return revisionOf(row);
  });
}

/** Changes one rule. */
async function change(
  database: Kysely<FirewallTables>,
  now: () => number,
  { id, user_id }: Pick<Row, 'id' | 'user_id'>,
  kind: RevisionKind,
  become: (rule: Rule) => Rule,
): Promise<Rule> {
  let answer: Rule | undefined;
  await revise(database, now, user_id, kind, async (transaction) => {
    const before = await current(now, transaction, id);
    const after = become(before);
    answer = after;
    return isDeepStrictEqual(before, after) ? [] : [{ before, after }];
  });
  if (answer === undefined) throw new Problem('not_found');
  return answer;
}

/** A rule that is turned on again after its end becomes permanent. */
function switched(rule: Rule, enabled: boolean, now: number): Rule {
  const is_over = rule.expires_at !== null && Date.parse(rule.expires_at) <= now;
  return { ...rule, enabled, expires_at: enabled && is_over ? null : rule.expires_at };
}

const KINDS = { enable: 'enabled', disable: 'disabled', delete: 'deleted' } as const satisfies Record<RuleChange, RevisionKind>;

export class Firewall {
  private readonly database: Kysely<FirewallTables>;
  private readonly onChange: (user_id: string) => void;
  private readonly now: () => number;

  constructor(options: FirewallOptions) {
    this.database = options.database;
    this.onChange = options.onChange;
    this.now = options.now;
    options.jobs.handle(EXPIRE_RULES, this.expire);
  }

  /** One page, newest first. */
  async list(user_id: string, { limit, cursor }: PageQuery): Promise<Rule[]> {
    let query = this.database
      .selectFrom('firewall_rules')
      .selectAll()
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    const time = this.now();
    return (await query.execute()).map((row) => ruleOf(row, time));
  }

  private async revOf(user_id: string): Promise<number> {
    const counted = await this.database
      .selectFrom('firewall_rule_counts')
      .select('rev')
      .where('user_id', '=', user_id)
      .executeTakeFirst();
    return counted?.rev ?? 0;
  }

  /** Disables temporary rules that are over. */
  private readonly expire = async (): Promise<void> => {
    const over = await this.database
      .selectFrom('firewall_rules')
      .select('user_id')
      .distinct()
      .where('enabled', '=', sql.lit(1))
      .where('expires_at', '<=', at(this.now))
      .limit(EXPIRED_AT_ONCE)
      .execute();
    for (const { user_id } of over) {
      const revision = await revise(this.database, this.now, user_id, 'expired', async (transaction) => {
        const rows = await transaction
          .selectFrom('firewall_rules')
          .selectAll()
          .where('user_id', '=', user_id)
          .where('enabled', '=', sql.lit(1))
          .where('expires_at', '<=', at(this.now))
          .execute();
        return rows.map((row) => {
          const after = ruleOf(row, this.now());
          return { before: { ...after, enabled: true }, after: { ...after, enabled: false } };
        });
      });
      if (revision !== undefined) this.onChange(user_id);
    }
  };

  /** All rules of a person, newest first: at most `RULES_MAXIMUM`. */
  listRules(user_id: string): Promise<Rule[]> {
    return this.list(user_id, { limit: RULES_MAXIMUM });
  }

  /** All rules of a person, enabled or not. */
  async countRules(user_id: string): Promise<number> {
    const row = await this.database
      .selectFrom('firewall_rules')
      .select(({ fn }) => fn.countAll<number>().as('rules'))
      .where('user_id', '=', user_id)
      .executeTakeFirstOrThrow();
    return row.rules;
  }

  rev(user_id: string): Promise<number> {
    return this.revOf(user_id);
  }

  /** The revision of a person's rules, and the enabled ones. The rules are never older than `rev`. */
  async enforced(user_id: string): Promise<{ rev: number; rules: Rule[] }> {
    const rev = await this.revOf(user_id);
    const rows = await this.database
      .selectFrom('firewall_rules')
      .selectAll()
      .where('user_id', '=', user_id)
      .where('enabled', '=', 1)
      .orderBy('id')
      .execute();
    // The enforcing device ends a temporary rule, so that a revision always means the same rules. A device refuses the whole state if it cannot parse one rule; such a rule,
    // of an older version, matches nothing and is left out.
    return { rev, rules: rows.map((row) => ruleOf(row, 0)).filter((rule) => refusalOf(rule) === undefined) };
  }

  async ruleIds(user_id: string): Promise<string[]> {
    const rows = await this.database.selectFrom('firewall_rules').select('id').where('user_id', '=', user_id).execute();
    return rows.map(({ id }) => id);
  }

  find(id: string): Promise<Row | undefined> {
    return this.database.selectFrom('firewall_rules').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** @throws Problem `rule_limit`. */
  async add(user_id: string, { lasts, device_ids = [], ...terms }: NewRule): Promise<Rule> {
    const rule: Rule = {
      id: newId(),
      ...terms,
      enabled: true,
      created_at: at(this.now),
      expires_at: expiryOf(this.now, lasts),
      device_ids,
    };
    await revise(this.database, this.now, user_id, 'added', async () => [{ before: null, after: rule }]);
    return rule;
  }

  /** @throws Problem `not_found` when it was deleted meanwhile. */
  setEnabled(row: Row, enabled: boolean): Promise<Rule> {
    return change(this.database, this.now, row, enabled ? 'enabled' : 'disabled', (rule) => switched(rule, enabled, this.now()));
  }

  /** Changes the given rules of a person, as one revision. Returns the number of changed rules. */
  async changeRules(user_id: string, rule_ids: readonly string[], wanted: RuleChange): Promise<number> {
    const revision = await revise(this.database, this.now, user_id, KINDS[wanted], async (transaction) => {
      const rows = await inBatches([...new Set(rule_ids)], (ids) =>
        transaction.selectFrom('firewall_rules').selectAll().where('user_id', '=', user_id).where('id', 'in', ids).execute(),
      );
      const time = this.now();
      return rows.flatMap((row) => {
        const before = ruleOf(row, time);
        const after = wanted === 'delete' ? null : switched(before, wanted === 'enable', time);
        return isDeepStrictEqual(before, after) ? [] : [{ before, after }];
      });
    });
    return revision === undefined ? 0 : revision.added + revision.changed + revision.removed;
  }

  /** @throws Problem `not_found` when it was deleted meanwhile. */
  edit(row: Row, { lasts, device_ids, ...terms }: NewRule): Promise<Rule> {
    return change(this.database, this.now, row, 'edited', (rule) => ({
      ...rule,
      ...terms,
      // Omitted: unchanged.
      expires_at: lasts === undefined ? rule.expires_at : expiryOf(this.now, lasts),
      device_ids: device_ids ?? rule.device_ids,
    }));
  }

  /** @throws Problem `not_found` when it was deleted meanwhile. */
  async remove({ id, user_id }: Row): Promise<void> {
    await revise(this.database, this.now, user_id, 'deleted', async (transaction) => [
      { before: await current(this.now, transaction, id), after: null },
    ]);
  }

  /** Adds rules, the first of them as the newest; with `replace` instead of all existing ones. @throws Problem `rule_limit`: then nothing is changed. */
  async importRules(user_id: string, rules: readonly FileRule[], replace: boolean): Promise<{ added: number; removed: number }> {
    const created_at = at(this.now);
    const revision = await revise(this.database, this.now, user_id, 'imported', async (transaction) => {
      const rows = replace
        ? await transaction.selectFrom('firewall_rules').selectAll().where('user_id', '=', user_id).execute()
        : [];
      const time = this.now();
      // Ids sort by creation, and lists begin with the newest.
      const fresh = rules
        .toReversed()
        .map((rule): Rule => ({ id: newId(), ...rule, created_at, expires_at: null, device_ids: [] }));
      return [
        ...rows.map((row) => ({ before: ruleOf(row, time), after: null })),
        ...fresh.map((after) => ({ before: null, after })),
      ];
    });
    return { added: revision?.added ?? 0, removed: revision?.removed ?? 0 };
  }

  async revisions(user_id: string, { limit, cursor }: PageQuery): Promise<Revision[]> {
    let query = this.database
      .selectFrom('firewall_revisions')
      .select(['id', 'rev', 'kind', 'created_at', 'rule_name', 'added', 'changed', 'removed'])
      .where('user_id', '=', user_id)
      .orderBy('rev', 'desc')
      .limit(limit);
    if (cursor !== undefined)
      query = query.where('rev', '<', ({ selectFrom }) =>
        selectFrom('firewall_revisions').select('rev').where('id', '=', cursor).where('user_id', '=', user_id),
      );
    return await query.execute();
  }

  findRevision(id: string): Promise<RevisionRow | undefined> {
    return this.database.selectFrom('firewall_revisions').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** Undoes a revision and all later ones. @throws Problem `conflict` if there is nothing to undo, `not_found` if it is no longer stored. */
  async undo({ user_id, rev }: RevisionRow): Promise<Revision> {
    const revision = await revise(this.database, this.now, user_id, 'undone', async (transaction) => {
      const later = await transaction
        .selectFrom('firewall_revisions')
        .select(['rev', 'changes'])
        .where('user_id', '=', user_id)
        .where('rev', '>=', rev)
        .orderBy('rev', 'desc')
        .execute();
      if (later.at(-1)?.rev !== rev) throw new Problem('not_found');
      const target = new Map<string, Rule | null>();
      for (const { changes } of later) {
        for (const { before, after } of changesSchema.parse(JSON.parse(changes))) {
          const id = (before ?? after)?.id;
          if (id !== undefined) target.set(id, before);
        }
      }
      const rows = await inBatches([...target.keys()], (ids) =>
        transaction.selectFrom('firewall_rules').selectAll().where('id', 'in', ids).execute(),
      );
      const time = this.now();
      const present = new Map(rows.map((row) => [row.id, ruleOf(row, time)]));
      return [...target].flatMap(([id, after]) => {
        const before = present.get(id) ?? null;
        return isDeepStrictEqual(before, after) ? [] : [{ before, after }];
      });
    });
    if (revision === undefined) throw refuse('rules.nothing_to_undo');
    return revision;
  }
}

export function createFirewall(options: FirewallOptions): Firewall {
  return new Firewall(options);
}
