import {
  type Activity,
  AUDIT_KINDS,
  type AuditChain,
  type AuditEntry,
  type AuditGroup,
  type AuditKind,
  auditGroupOf,
} from '@palisade/contract/audit';
import type { Kysely, Selectable } from 'kysely';
import { type AuditTables, activityOf, personalOf } from '#platform/audit.ts';
import type { AuditVerdict } from '#platform/audit-verify.ts';
import { inPages } from '#platform/batches.ts';

/** The part of an account that names it. */
interface Person {
  id: string;
  email: string;
  username: string;
}

/** The interface to the owner of accounts. */
interface Accounts {
  /** Ids of people by a part of their email or username, in any case; a limited number. */
  matching(words: string): Promise<string[]>;
  findUsers(ids: readonly string[]): Promise<Person[]>;
}

interface Page {
  limit: number;
  cursor?: number | undefined;
}

interface Filter {
  person?: string | undefined;
  kind?: AuditKind | undefined;
  group?: AuditGroup | undefined;
  /** ISO times: the first included, and the first excluded. */
  from?: string | undefined;
  to?: string | undefined;
}

/** Reads the audit log for people who may see it. */
export interface AuditLog {
  /** The entries about one account, newest first. */
  activity(user_id: string, page: Page): Promise<Activity[]>;
  /** All of it, page by page. */
  allActivity(user_id: string): AsyncIterable<Activity>;
  list(filter: Page & Filter): Promise<AuditEntry[]>;
  /** Checks the whole log; concurrent callers share one result. */
  check(): Promise<AuditChain>;
}

const READ_AT_ONCE = 500;
/** More than the clocks of servers differ: a time that differs by 2 s is reported. */
const CLOCKS_DIFFER_MS = 3_600_000;
/** Entries have their time to the millisecond. */
const moment = (iso: string) => new Date(iso).toISOString();
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function createAuditLog(parts: {
  database: Kysely<AuditTables>;
  accounts: Accounts;
  verify: () => Promise<AuditVerdict>;
  now: () => number;
}): AuditLog {
  const { database, accounts, verify, now } = parts;
  let checking: Promise<AuditChain> | undefined;

  const pageOf = ({ limit, cursor }: Page) => {
    const query = database.selectFrom('audit_entries').selectAll().orderBy('seq', 'desc').limit(limit);
    return cursor === undefined ? query : query.where('seq', '<', cursor);
  };

  /** The number of the entry nearest to a time, by the index on times. */
  const numberAt = async (side: '<' | '>=', iso: string, by_ms: number) => {
    const at = new Date(Date.parse(iso) + by_ms).toISOString();
    const query = database.selectFrom('audit_entries').select('seq').where('at', side, at).limit(1);
    return (await query.orderBy('at', side === '<' ? 'desc' : 'asc').executeTakeFirst())?.seq;
  };

  /** The page for a range of times: entries get time and number in nearly the same order, so times become numbers first. */
  const pageBetween = async ({ from, to }: Pick<Filter, 'from' | 'to'>, page: Page) => {
    let query = pageOf(page);
    if (from !== undefined)
      query = query.where('at', '>=', moment(from)).where('seq', '>', (await numberAt('<', from, -CLOCKS_DIFFER_MS)) ?? 0);
    if (to === undefined) return query;
    const last = await numberAt('>=', to, CLOCKS_DIFFER_MS);
    query = query.where('at', '<', moment(to));
    return last === undefined ? query : query.where('seq', '<', last);
  };

  const activity = async (user_id: string, page: Page) =>
    (await pageOf(page).where('subject_id', '=', user_id).execute()).map(activityOf);

  return {
    activity,

    async *allActivity(user_id) {
      const pages = inPages(READ_AT_ONCE, (last?: Activity) => activity(user_id, { limit: READ_AT_ONCE, cursor: last?.seq }));
      for await (const page of pages) yield* page;
    },

    async list({ person, kind, group, from, to, ...page }) {
      const query = await pageBetween({ from, to }, page);
      const kinds = kind === undefined ? AUDIT_KINDS.filter((one) => group === undefined || auditGroupOf(one) === group) : [kind];
      const narrowed = kinds.length < AUDIT_KINDS.length;
      // Each query uses one index, and reads at most one page of it.
      let questions = narrowed ? kinds.map((one) => query.where('kind', '=', one)) : [query];
      if (person !== undefined && person !== '') {
        // The id of a deleted account still finds its entries.
        const ids = UUID.test(person) ? [person.toLowerCase()] : await accounts.matching(person);
        const ofKinds = narrowed ? query.where('kind', 'in', kinds) : query;
        questions = ids.flatMap((id) => [ofKinds.where('subject_id', '=', id), ofKinds.where('actor_id', '=', id)]);
      }
      const found = new Map<number, Selectable<AuditTables['audit_entries']>>();
      for (const question of questions) for (const entry of await question.execute()) found.set(entry.seq, entry);
      const entries = [...found.values()].sort((one, other) => other.seq - one.seq).slice(0, page.limit);
      const ids = entries.flatMap(({ subject_id, actor_id }) => [subject_id, ...(actor_id === null ? [] : [actor_id])]);
      const people = new Map((await accounts.findUsers(ids)).map(({ id, email, username }) => [id, { id, email, username }]));
      return entries.map((entry) => {
        const { seq, at, kind, subject_id, actor_id, hash } = entry;
        return {
          ...{ seq, at, kind, subject_id, actor_id, hash },
          ...personalOf(entry),
          subject: people.get(subject_id) ?? null,
          actor: people.get(actor_id ?? '') ?? null,
        };
      });
    },

    check() {
      checking ??= verify()
        .then((verdict) => ({ ...verdict, checked_at: new Date(now()).toISOString() }))
        .finally(() => {
          checking = undefined;
        });
      return checking;
    },
  };
}
