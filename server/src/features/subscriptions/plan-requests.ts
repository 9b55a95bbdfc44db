import type { PageQuery } from '@palisade/contract/fields';
import {
  ANSWERS_LOOKED_AT,
  ANSWERS_MINIMUM,
  type PlanRequest,
  type PlanRequestStatus,
  type UserPlanRequest,
} from '@palisade/contract/subscription';
import { type Kysely, type Selectable, sql } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import { declinedLetter } from './plan-letters.ts';
import { refuse } from './subscriptions.refusals.ts';
import type { SubscriptionTables } from './subscriptions.tables.ts';
import { type Accounts, templateOf } from './subscriptions.ts';

/** A request as it is stored. */
export type PlanRequestRow = Selectable<SubscriptionTables['subscription_requests']>;

/** Requests of people to administrators for plans. Granting one is part of assigning a subscription. */
export interface PlanRequests {
  /** @throws Problem `not_found` for a plan that is not on offer, `conflict` while a request for it is open. */
  open(user_id: string, template_id: string): Promise<PlanRequest>;
  list(user_id: string, page: PageQuery): Promise<PlanRequest[]>;
  /** The open ones of everybody. */
  listOpen(page: PageQuery): Promise<UserPlanRequest[]>;
  countOpen(): Promise<number>;
  /** The median time of the last answers, in seconds; null for too few. */
  answerTime(): Promise<{ answered: number; median_s: number | null }>;
  find(id: string): Promise<PlanRequestRow | undefined>;
  /** @throws Problem `not_found` when it is not open any more. */
  close(id: string, as: 'declined' | 'withdrawn'): Promise<void>;
}

async function answerTimeOf(
  database: Kysely<Pick<SubscriptionTables, 'subscription_requests'>>,
): Promise<{ answered: number; median_s: number | null }> {
  const rows = await database
    .selectFrom('subscription_requests')
    .select(['requested_at', 'decided_at'])
    .where('status', 'in', ['granted', 'declined'])
    .orderBy('id', 'desc')
    .limit(ANSWERS_LOOKED_AT)
    .execute();
  const seconds = rows
    .map(({ requested_at, decided_at }) => (Date.parse(decided_at ?? requested_at) - Date.parse(requested_at)) / 1_000)
    .toSorted((one, other) => one - other);
  const median = seconds.at(Math.floor(seconds.length / 2));
  const isKnown = median !== undefined && seconds.length >= ANSWERS_MINIMUM;
  return { answered: seconds.length, median_s: isKnown ? Math.round(median) : null };
}

export function createPlanRequests(parts: {
  database: Kysely<SubscriptionTables & MailTables & InstallationTables>;
  accounts: Accounts;
  mail: Pick<Mail, 'queue' | 'wake'>;
  public_url: string | undefined;
  /** Called with a person whose requests have changed. */
  onChange: (user_id: string) => void;
  now: () => number;
}): PlanRequests {
  const { database, accounts, mail, public_url, onChange, now } = parts;
  const at = () => new Date(now()).toISOString();
  const find = (id: string) => database.selectFrom('subscription_requests').selectAll().where('id', '=', id).executeTakeFirst();

  async function withTemplates(rows: PlanRequestRow[]): Promise<(PlanRequest & { user_id: string })[]> {
    if (rows.length === 0) return [];
    const templates = await database
      .selectFrom('subscription_templates')
      .selectAll()
      .where('id', 'in', [...new Set(rows.map((row) => row.template_id))])
      .execute();
    const byId = new Map(templates.map((template) => [template.id, templateOf(template)]));
    return rows.flatMap(({ template_id, ...row }) => {
      const template = byId.get(template_id);
      return template === undefined ? [] : [{ ...row, template }];
    });
  }

  return {
    async open(user_id, template_id) {
      const template = await database
        .selectFrom('subscription_templates')
        .selectAll()
        .where('id', '=', template_id)
        .executeTakeFirst();
      if (template === undefined) {
        throw refuse('plan.choose_another');
      }
      const status: PlanRequestStatus = 'open';
      const row = { id: newId(), user_id, template_id, status, requested_at: at(), decided_at: null };
      try {
        await database.insertInto('subscription_requests').values(row).execute();
      } catch (error) {
        if (!isUniqueViolation(error, 'template_id')) throw error;
        throw refuse('plan.already_requested');
      }
      return { ...row, template: templateOf(template) };
    },

    async list(user_id, { limit, cursor }) {
      let query = database
        .selectFrom('subscription_requests')
        .selectAll()
        .where('user_id', '=', user_id)
        .orderBy('id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      return await withTemplates(await query.execute());
    },

    async listOpen({ limit, cursor }) {
      let query = database
        .selectFrom('subscription_requests')
        .selectAll()
        .where('status', '=', 'open')
        .orderBy('id', 'desc')
        .limit(limit);
      if (cursor !== undefined) query = query.where('id', '<', cursor);
      const requests = await withTemplates(await query.execute());
      const users = new Map(
        (await accounts.findUsers(requests.map((request) => request.user_id))).map((user) => [user.id, user]),
      );
      return requests.flatMap((request) => {
        const user = users.get(request.user_id);
        return user === undefined ? [] : [{ ...request, user_email: user.email, user_username: user.username }];
      });
    },

    async countOpen() {
      const row = await database
        .selectFrom('subscription_requests')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('status', '=', sql.lit('open'))
        .executeTakeFirstOrThrow();
      return Number(row.count);
    },

    answerTime: () => answerTimeOf(database.$pickTables<'subscription_requests'>()),

    find,

    async close(id, as) {
      const request = as === 'declined' ? await find(id) : undefined;
      const [person] = request === undefined ? [] : await accounts.findUsers([request.user_id]);
      const user_id = await inTransaction(database, async (transaction) => {
        const closed = await transaction
          .updateTable('subscription_requests')
          .set({ status: as, decided_at: at() })
          .where('id', '=', id)
          .where('status', '=', 'open')
          .returning(['user_id', 'template_id'])
          .executeTakeFirst();
        if (closed === undefined) throw refuse('plan.request_answered');
        if (person !== undefined) {
          const { template_name: plan_name } = await transaction
            .selectFrom('subscription_templates')
            .select('template_name')
            .where('id', '=', closed.template_id)
            .executeTakeFirstOrThrow();
          const letter = { recipient: person.email, ...declinedLetter({ plan_name, public_url }) };
          await mail.queue(transaction.$pickTables<'mails' | 'installation'>(), letter);
        }
        return closed.user_id;
      });
      mail.wake();
      onChange(user_id);
    },
  };
}
