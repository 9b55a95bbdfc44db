import {
  type Activity,
  AUDIT_KINDS,
  type AuditChain,
  type AuditEntry,
  type AuditGroup,
  type AuditKind,
  auditGroupOf,
} from '@palisade/contract/audit';
import type { Kysely } from 'kysely';
import { type AuditTables, activityOf, personalOf } from '#platform/audit.ts';
import type { AuditVerdict } from '#platform/audit-verify.ts';

/** The part of an account that names it. */
interface Person {
  id: string;
  email: string;
  username: string;
}

/** The owner of the accounts. */
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
  /** ISO times: the first moment, and the one after the last. */
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
  /** Checks all of it; of several who ask at once all get the same answer. */
  check(): Promise<AuditChain>;
}

const READ_AT_ONCE = 500;
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

  const activity = async (user_id: string, page: Page) =>
    (await pageOf(page).where('subject_id', '=', user_id).execute()).map(activityOf);

  return {
    activity,

    async *allActivity(user_id) {
      for (let cursor: number | undefined; ; ) {
        const page = await activity(user_id, { limit: READ_AT_ONCE, cursor });
        yield* page;
        cursor = page.at(-1)?.seq;
        if (page.length < READ_AT_ONCE) return;
      }
    },

    async list({ person, kind, group, from, to, ...page }) {
      let query = pageOf(page);
      if (kind !== undefined) query = query.where('kind', '=', kind);
      if (group !== undefined)
        query = query.where(
          'kind',
          'in',
          AUDIT_KINDS.filter((one) => auditGroupOf(one) === group),
        );
      if (from !== undefined) query = query.where('at', '>=', moment(from));
      if (to !== undefined) query = query.where('at', '<', moment(to));
      if (person !== undefined && person !== '') {
        // The id of an account that is gone still leads to its entries.
        const ids = UUID.test(person) ? [person.toLowerCase()] : await accounts.matching(person);
        if (ids.length === 0) return [];
        query = query.where(({ or, eb }) => or([eb('subject_id', 'in', ids), eb('actor_id', 'in', ids)]));
      }
      const entries = await query.execute();
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
