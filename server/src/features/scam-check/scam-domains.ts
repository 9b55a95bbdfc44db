import { domainToUnicode } from 'node:url';
import {
  PROVIDER_DOMAINS_MAXIMUM,
  PROVIDER_LISTS,
  type ProviderDomain,
  TRUSTED_MAXIMUM,
  type TrustedDomain,
} from '@palisade/contract/scam-check';
import type { Kysely } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { refuse, refuseField } from './scam-check.refusals.ts';
import type { ScamCheckTables } from './scam-check.tables.ts';

/** The domain in a typed address, mailbox or name. @throws Problem `invalid_field` */
function typedDomain(typed: string): string {
  const text = typed
    .trim()
    .replace(/^.*@/u, '')
    .replace(/^\*?\./u, '');
  const address = /^[a-z][a-z\d+.-]*:\/\//iu.test(text) ? text : `https://${text}`;
  const host = URL.canParse(address) ? new URL(address).hostname.replace(/\.$/u, '') : '';
  // A top-level domain alone would trust a whole country; IP addresses have no owner.
  if (!/^(?=.{3,253}$)(?:[a-z\d_-]{1,63}\.)+(?:[a-z]{2,63}|xn--[a-z\d-]{2,59})$/u.test(host))
    throw refuseField('domain', 'domain.form');
  return host;
}

/** Domains that people trust, and the provider's own lists. */
export class ScamDomains {
  private readonly database: Kysely<ScamCheckTables>;
  private readonly now: () => number;
  private readonly isEnding: (host: string) => Promise<boolean>;
  /** The provider's lists, cached for a minute, because another server may change them. */
  private known: { until: number; lists: Promise<Record<ProviderDomain['list'], string[]>> } | undefined;

  constructor(options: { database: Kysely<ScamCheckTables>; now: () => number; isEnding: (host: string) => Promise<boolean> }) {
    this.database = options.database;
    this.now = options.now;
    this.isEnding = options.isEnding;
  }

  private async domainOf(typed: string): Promise<string> {
    const domain = typedDomain(typed);
    if (await this.isEnding(domain)) throw refuseField('domain', 'domain.shared', { domain });
    return domain;
  }

  async trustedOf(user_id: string): Promise<TrustedDomain[]> {
    return await this.database
      .selectFrom('scam_trusted')
      .select(['id', 'domain', 'created_at'])
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .limit(TRUSTED_MAXIMUM)
      .execute();
  }

  /** @throws Problem `invalid_field`, `conflict` for one that is trusted already, or for too many. */
  async trust(user_id: string, typed: string): Promise<TrustedDomain> {
    const domain = await this.domainOf(typed);
    const row = { id: newId(), domain, created_at: new Date(this.now()).toISOString() };
    const { count } = await this.database
      .selectFrom('scam_trusted')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('user_id', '=', user_id)
      .executeTakeFirstOrThrow();
    if (Number(count) >= TRUSTED_MAXIMUM) throw refuse('domain.too_many_trusted', { maximum: TRUSTED_MAXIMUM });
    await this.database
      .insertInto('scam_trusted')
      .values({ ...row, user_id })
      .execute()
      .catch((error: unknown) => {
        throw isUniqueViolation(error, 'domain') ? refuse('domain.already_trusted', { domain: domainToUnicode(domain) }) : error;
      });
    return row;
  }

  findTrusted(id: string) {
    return this.database.selectFrom('scam_trusted').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async distrust({ id }: { id: string }): Promise<void> {
    await this.database.deleteFrom('scam_trusted').where('id', '=', id).execute();
  }

  async providerDomains(): Promise<ProviderDomain[]> {
    return await this.database
      .selectFrom('scam_domains')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(PROVIDER_DOMAINS_MAXIMUM)
      .execute();
  }

  /** The provider's lists for a check. */
  providerLists(): Promise<Record<ProviderDomain['list'], string[]>> {
    if (this.known === undefined || this.known.until < this.now()) {
      const lists = this.providerDomains().then((rows) => {
        const [trusted, dangerous] = PROVIDER_LISTS.map((list) =>
          rows
            .filter((row) => row.list === list)
            .map(({ domain }) => domain)
            .sort(),
        );
        return { trusted: trusted ?? [], dangerous: dangerous ?? [] };
      });
      this.known = { until: this.now() + 60_000, lists };
      lists.catch(() => {
        this.known = undefined;
      });
    }
    return this.known.lists;
  }

  /** @throws Problem `invalid_field`, `conflict` for one that is on a list already, or for too many. */
  async addProviderDomain(list: ProviderDomain['list'], typed: string): Promise<ProviderDomain> {
    const domain = await this.domainOf(typed);
    const row = { id: newId(), list, domain, created_at: new Date(this.now()).toISOString() };
    if ((await this.providerDomains()).length >= PROVIDER_DOMAINS_MAXIMUM)
      throw refuse('domain.too_many_listed', { maximum: PROVIDER_DOMAINS_MAXIMUM });
    await this.database
      .insertInto('scam_domains')
      .values(row)
      .execute()
      .catch((error: unknown) => {
        throw isUniqueViolation(error, 'domain') ? refuse('domain.already_listed', { domain: domainToUnicode(domain) }) : error;
      });
    this.known = undefined;
    return row;
  }

  /** @throws Problem `not_found` */
  async removeProviderDomain(id: string): Promise<void> {
    const removed = await this.database.deleteFrom('scam_domains').where('id', '=', id).returning('id').executeTakeFirst();
    this.known = undefined;
    if (removed === undefined) throw refuse('domain.not_listed');
  }
}
