import type { CurrentSubscription } from '@palisade/contract/current-subscription';
import type { PageQuery } from '@palisade/contract/fields';
import { PLANS_END_WITHIN_DAYS } from '@palisade/contract/overview';
import { shownEmail } from '@palisade/contract/shown-email';
import {
  type Assignment,
  assignedEnd,
  CURRENCY,
  centsOf,
  MAX_PROFILES_DEFAULT,
  MAX_WEB_DEVICES_DEFAULT,
  type NewTemplate,
  planKeyOf,
  priceOf,
  type Subscription,
  statusOf,
  type Template,
} from '@palisade/contract/subscription';
import { type Kysely, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { Audit, AuditTables, Doer } from '#platform/audit.ts';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import type { InstallationTables } from '#platform/installation.ts';
import type { Mail, MailTables } from '#platform/mail.ts';
import { Problem } from '#platform/problem.ts';
import { assignedLetter } from './plan-letters.ts';
import { refuse } from './subscriptions.refusals.ts';
import type { SubscriptionTables } from './subscriptions.tables.ts';

/** The facts about an account that subscriptions need. */
interface Account {
  id: string;
  email: string;
  username: string;
}

/** The owner of the accounts. */
export interface Accounts {
  findUserByEmail(email: string): Promise<Account | undefined>;
  /** Those of the ids that are accounts, in any order. */
  findUsers(ids: readonly string[]): Promise<Account[]>;
}

/** Each failed attempt means that another administrator succeeded at the same moment. */
const ASSIGN_ATTEMPTS_MAXIMUM = 20;

const NO_SUBSCRIPTION: CurrentSubscription = {
  has_subscription: false,
  plan_name: null,
  is_premium: false,
  expires_at: null,
  price: null,
  currency: null,
  features: [],
  max_devices: null,
  max_web_devices: null,
  max_profiles: null,
  duration_months: null,
};

const featuresSchema = z.array(z.string());

/** False for the plans of staff, which are no income. */
const isSold = sql<boolean>`not exists (select 1 from users where users.id = subscriptions.user_id and users.role <> 'customer')`;

/** A plan's columns as a reply has them. */
function planOf(row: { is_premium: number; features: string }) {
  return { is_premium: row.is_premium === 1, features: featuresSchema.parse(JSON.parse(row.features)) };
}

/** A plan's fields as columns. */
function planColumns(plan: Pick<Assignment, keyof NewTemplate & keyof Assignment>) {
  return {
    currency: CURRENCY,
    duration_months: plan.duration_months,
    max_devices: plan.max_devices,
    max_web_devices: plan.max_web_devices ?? MAX_WEB_DEVICES_DEFAULT,
    max_profiles: plan.max_profiles ?? MAX_PROFILES_DEFAULT,
    is_premium: plan.is_premium ? 1 : 0,
    // Duplicates are removed.
    features: JSON.stringify([...new Set(plan.features)]),
  };
}

/** A template's fields as columns. */
function templateColumns(template: NewTemplate) {
  const { template_name, base_price } = template;
  return {
    template_name,
    template_name_key: planKeyOf(template_name),
    base_price_cents: centsOf(base_price),
    ...planColumns(template),
  };
}

/** The refusal of a template name that is taken; any other error as it is. */
function templateRefusal(error: unknown, { template_name }: NewTemplate): unknown {
  if (!isUniqueViolation(error, 'template_name_key')) return error;
  return refuse('plan.name_taken', { template_name });
}

/** A template as a reply has it. */
export function templateOf(row: Selectable<SubscriptionTables['subscription_templates']>): Template {
  const { template_name_key: _key, base_price_cents, created_at: _at, ...rest } = row;
  return { ...rest, ...planOf(row), base_price: priceOf(base_price_cents) };
}

function subscriptionOf(row: Selectable<SubscriptionTables['subscriptions']>, user: Account, now: number): Subscription {
  const { user_id: _user, price_cents, ended_as: _as, ended_at: _at, ...rest } = row;
  return {
    ...rest,
    ...planOf(row),
    price: priceOf(price_cents),
    user_email: user.email,
    user_username: user.username,
    status: statusOf(row, now),
  };
}

interface SubscriptionsOptions {
  database: Kysely<SubscriptionTables & AuditTables & MailTables & InstallationTables>;
  audit: Audit;
  accounts: Accounts;
  mail: Pick<Mail, 'queue' | 'wake'>;
  public_url: string | undefined;
  /** Called with a person whose subscription has changed. */
  onChange: (user_id: string) => void;
  now: () => number;
}

const at = (now: () => number) => new Date(now()).toISOString();

/** The open request for a plan that may be better than this one. */
async function asked(
  database: Kysely<SubscriptionTables & AuditTables & MailTables & InstallationTables>,
  user_id: string,
): Promise<Pick<CurrentSubscription, 'requested_at'>> {
  const row = await database
    .selectFrom('subscription_requests')
    .select('requested_at')
    .where('user_id', '=', user_id)
    .where('status', '=', 'open')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? {};
}

export class Subscriptions {
  private readonly options: SubscriptionsOptions;

  constructor(options: SubscriptionsOptions) {
    this.options = options;
  }

  /** One attempt. A unique violation of `user_id` means that another administrator assigned at the same moment. */
  private async replace({ request_id, ...assignment }: Assignment, user: Account, by: Doer) {
    const now = this.options.now();
    const starts_at = new Date(now).toISOString();
    return await inTransaction(this.options.database, async (transaction) => {
      const present = await transaction
        .updateTable('subscriptions')
        .set({ ended_as: 'replaced', ended_at: starts_at })
        .where('user_id', '=', user.id)
        .where('ended_as', 'is', null)
        .returning(['plan_name', 'expires_at'])
        .executeTakeFirst();
      const was_active = present !== undefined && (present.expires_at === null || Date.parse(present.expires_at) > now);
      const expires_at = assignedEnd(was_active ? present : undefined, assignment, now);
      let was_asked = false;
      if (request_id !== undefined) {
        const granted = await transaction
          .updateTable('subscription_requests')
          .set({ status: 'granted', decided_at: starts_at })
          .where('id', '=', request_id)
          .where('user_id', '=', user.id)
          .where('status', '=', 'open')
          .returning('id')
          .executeTakeFirst();
        was_asked = granted !== undefined;
      }
      const { plan_name, duration_months } = assignment;
      const assigned = { kind: 'subscription_assigned', subject_id: user.id, details: { plan_name, duration_months } } as const;
      const row = await transaction
        .insertInto('subscriptions')
        .values({
          id: newId(),
          user_id: user.id,
          plan_name: assignment.plan_name,
          price_cents: centsOf(assignment.price),
          ...planColumns(assignment),
          starts_at,
          expires_at,
          ended_as: null,
          ended_at: null,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), { ...assigned, ...by });
      const letter = assignedLetter({ ...row, ...planOf(row), was_asked, public_url: this.options.public_url });
      await this.options.mail.queue(transaction.$pickTables<'mails' | 'installation'>(), { recipient: user.email, ...letter });
      return row;
    });
  }

  /** A person's current subscription; premium ends exactly when the subscription expires. */
  async current(user_id: string): Promise<CurrentSubscription> {
    const row = await this.options.database
      .selectFrom('subscriptions')
      .selectAll()
      .where('user_id', '=', user_id)
      .where('ended_as', 'is', null)
      .executeTakeFirst();
    if (row === undefined || statusOf(row, this.options.now()) !== 'active')
      return { ...NO_SUBSCRIPTION, ...(await asked(this.options.database, user_id)) };
    const { plan_name, expires_at, currency, max_devices, max_web_devices, max_profiles, duration_months } = row;
    return {
      has_subscription: true,
      plan_name,
      expires_at,
      price: priceOf(row.price_cents),
      currency,
      max_devices,
      max_web_devices,
      max_profiles,
      duration_months,
      ...planOf(row),
      ...(row.is_premium === 1 ? {} : await asked(this.options.database, user_id)),
    };
  }

  private active() {
    const now = at(this.options.now);
    return this.options.database
      .selectFrom('subscriptions')
      .where('ended_as', 'is', null)
      .where(({ or, eb }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));
  }

  /** The active plans of customers and their income in a month, by currency: each price divided by its months. */
  async income(): Promise<{ currency: string; monthly: number; plans: number }[]> {
    const rows = await this.active()
      .where(isSold)
      .select(({ fn }) => [
        'currency',
        fn.sum<number>(sql`price_cents * 1.0 / duration_months`).as('cents'),
        fn.countAll<number>().as('plans'),
      ])
      .groupBy('currency')
      .orderBy('cents', 'desc')
      .execute();
    return rows.map(({ currency, cents, plans }) => ({
      ...{ currency, plans: Number(plans) },
      monthly: priceOf(Math.round(Number(cents))),
    }));
  }

  /** Plans of customers that were assigned from `begin` until `end` (ISO times). */
  async assignedBetween(begin: string, end: string): Promise<{ at: string; currency: string; price_cents: number }[]> {
    return await this.options.database
      .selectFrom('subscriptions')
      .select(['starts_at as at', 'currency', 'price_cents'])
      .where(isSold)
      .where('starts_at', '>=', begin)
      .where('starts_at', '<', end)
      .execute();
  }

  /** Times from `begin` until `end` (ISO times), until now at most, at which plans of customers expired or were cancelled. */
  async endedBetween(begin: string, end: string): Promise<string[]> {
    const until = [end, at(this.options.now)].toSorted()[0] ?? end;
    const rows = await this.options.database
      .selectFrom('subscriptions')
      .select(({ fn, ref }) => fn.coalesce('ended_at', ref('expires_at')).as('at'))
      .where(isSold)
      .where(({ or, eb }) => or([eb('ended_as', 'is', null), eb('ended_as', '=', 'cancelled')]))
      .where(({ fn, ref, eb }) => eb(fn.coalesce('ended_at', ref('expires_at')), '>=', begin))
      .where(({ fn, ref, eb }) => eb(fn.coalesce('ended_at', ref('expires_at')), '<', until))
      .execute();
    return rows.flatMap(({ at: ended_at }) => ended_at ?? []);
  }

  /** The names of the active plans of these people. */
  async names(user_ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.active().select(['user_id', 'plan_name']).where('user_id', 'in', user_ids).execute();
    return new Map(rows.map(({ user_id, plan_name }) => [user_id, plan_name]));
  }

  /** The ms until a person's plan ends, and whether another one was requested; undefined without a plan, or for one without an end. */
  async ending(user_id: string): Promise<{ ends_in_ms: number; is_asked: boolean } | undefined> {
    const row = await this.options.database
      .selectFrom('subscriptions')
      .select('expires_at')
      .where('user_id', '=', user_id)
      .where('ended_as', 'is', null)
      .executeTakeFirst();
    const ends_in_ms = row?.expires_at == null ? undefined : Date.parse(row.expires_at) - this.options.now();
    if (ends_in_ms === undefined || ends_in_ms <= 0) return undefined;
    return { ends_in_ms, is_asked: (await asked(this.options.database, user_id)).requested_at !== undefined };
  }

  /** Plans that end within `PLANS_END_WITHIN_DAYS`; those that ended already are not among them. */
  async countEnding(): Promise<number> {
    const now = this.options.now();
    const { count } = await this.options.database
      .selectFrom('subscriptions')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('ended_as', 'is', null)
      .where('expires_at', '>', new Date(now).toISOString())
      .where('expires_at', '<=', new Date(now + PLANS_END_WITHIN_DAYS * 86_400_000).toISOString())
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  async list({ limit, cursor }: PageQuery): Promise<Subscription[]> {
    let query = this.options.database.selectFrom('subscriptions').selectAll().orderBy('id', 'desc').limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    const rows = await query.execute();
    const users = new Map((await this.options.accounts.findUsers(rows.map((row) => row.user_id))).map((user) => [user.id, user]));
    const time = this.options.now();
    return rows.flatMap((row) => {
      const user = users.get(row.user_id);
      // An account that was deleted between the two reads took its subscriptions with it.
      return user === undefined ? [] : [subscriptionOf(row, user, time)];
    });
  }

  /**
   * Replaces the person's subscription with this one, in one transaction.
   * @throws Problem `not_found` for an email without account.
   */
  async assign(assignment: Assignment, by: Doer): Promise<Subscription> {
    const user = await this.options.accounts.findUserByEmail(assignment.user_email);
    if (user === undefined) {
      throw refuse('subscription.unknown_email', { email: shownEmail(assignment.user_email) });
    }
    for (let attempt = 1; attempt <= ASSIGN_ATTEMPTS_MAXIMUM; attempt += 1) {
      try {
        const row = await this.replace(assignment, user, by);
        this.options.mail.wake();
        this.options.onChange(user.id);
        return subscriptionOf(row, user, this.options.now());
      } catch (error) {
        if (!isUniqueViolation(error, 'user_id')) throw error;
      }
    }
    throw new Problem('conflict');
  }

  /** @throws Problem `not_found` when it is not there, or over already. */
  async cancel(subscription_id: string, by: Doer): Promise<void> {
    const ended_at = at(this.options.now);
    const whose = await inTransaction(this.options.database, async (transaction) => {
      const cancelled = await transaction
        .updateTable('subscriptions')
        .set({ ended_as: 'cancelled', ended_at })
        .where('id', '=', subscription_id)
        .where('ended_as', 'is', null)
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', ended_at)]))
        .returning(['user_id', 'plan_name'])
        .executeTakeFirst();
      if (cancelled === undefined) {
        throw refuse('subscription.ended');
      }
      const { user_id, plan_name } = cancelled;
      const entry = { kind: 'subscription_cancelled', subject_id: user_id, details: { plan_name } } as const;
      await this.options.audit.record(transaction.$pickTables<'audit_entries' | 'audit_head'>(), { ...entry, ...by });
      return user_id;
    });
    this.options.onChange(whose);
  }

  async listTemplates({ limit, cursor }: PageQuery): Promise<Template[]> {
    let query = this.options.database.selectFrom('subscription_templates').selectAll().orderBy('id', 'desc').limit(limit);
    if (cursor !== undefined) query = query.where('id', '<', cursor);
    return (await query.execute()).map(templateOf);
  }

  /** @throws Problem `conflict` for a name that is taken. */
  async createTemplate(template: NewTemplate): Promise<Template> {
    try {
      const row = await this.options.database
        .insertInto('subscription_templates')
        .values({ id: newId(), ...templateColumns(template), created_at: at(this.options.now) })
        .returningAll()
        .executeTakeFirstOrThrow();
      return templateOf(row);
    } catch (error) {
      throw templateRefusal(error, template);
    }
  }

  /** @throws Problem `not_found` for a plan that is no longer on offer, `conflict` for a name that is taken. */
  async changeTemplate({ template_id, ...template }: NewTemplate & { template_id: string }): Promise<Template> {
    try {
      const row = await this.options.database
        .updateTable('subscription_templates')
        .set(templateColumns(template))
        .where('id', '=', template_id)
        .returningAll()
        .executeTakeFirst();
      if (row === undefined) throw refuse('plan.not_on_offer');
      return templateOf(row);
    } catch (error) {
      throw templateRefusal(error, template);
    }
  }

  /** Takes a plan off the offer. Throws `conflict` while it has requests, `not_found` where it is not on offer. */
  async deleteTemplate(id: string): Promise<void> {
    const deleted = await this.options.database
      .deleteFrom('subscription_templates')
      .where('id', '=', id)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('subscription_requests').select('id').where('template_id', '=', id).where('status', '=', sql.lit('open')),
          ),
        ),
      )
      .returning('id')
      .executeTakeFirst();
    if (deleted !== undefined) return;
    const row = await this.options.database
      .selectFrom('subscription_templates')
      .select('template_name')
      .where('id', '=', id)
      .executeTakeFirst();
    if (row === undefined) throw refuse('plan.not_available');
    throw refuse('plan.has_request', { template_name: row.template_name });
  }
}

export function createSubscriptions(options: SubscriptionsOptions): Subscriptions {
  return new Subscriptions(options);
}
