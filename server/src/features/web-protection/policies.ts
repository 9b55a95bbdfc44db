import { PAUSE_MINUTES, WEB_NAMES_MAXIMUM, type WebName, type WebPolicy } from '@palisade/contract/web-protection';
import { decide, type LevelRules, type Policy } from '@palisade/names/decide';
import { hashName, newHashes } from '@palisade/names/name-list';
import { wireName } from '@palisade/names/wire';
import type { Kysely, Selectable } from 'kysely';
import { newId } from '#platform/id.ts';
import type { CategoryLists } from './category-lists.ts';
import { choicesOf, type DeviceRules, listOf, SECONDS_MAXIMUM, typedName } from './name-rules.ts';
import { refuse } from './web-protection.refusals.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

type Row = Selectable<WebProtectionTables['web_policies']>;

/** Default row of a person without choices. */
export const NEW_POLICY: Omit<Row, 'user_id'> = { categories: '[]', services: '[]', safe_search: 'off', paused_until: null };

const policyOf = ({ categories, services, safe_search }: Pick<Row, 'categories' | 'services' | 'safe_search'>) =>
  choicesOf({ categories: JSON.parse(categories), services: JSON.parse(services), safe_search });

/** Stores the choices of people, and computes the rules of their devices. */
export class Policies {
  private readonly database: Kysely<WebProtectionTables>;
  private readonly lists: CategoryLists;
  private readonly dangerous: () => Promise<LevelRules>;
  private readonly profiles: { rulesOf(profile_id: string): Promise<DeviceRules | undefined> };
  private readonly now: () => number;

  constructor(options: {
    database: Kysely<WebProtectionTables>;
    lists: CategoryLists;
    dangerous: () => Promise<LevelRules>;
    profiles: Policies['profiles'];
    now: () => number;
  }) {
    this.database = options.database;
    this.lists = options.lists;
    this.dangerous = options.dangerous;
    this.profiles = options.profiles;
    this.now = options.now;
  }

  async read(user_id: string): Promise<{ policy: WebPolicy; paused_until: string | null }> {
    const row =
      (await this.database.selectFrom('web_policies').selectAll().where('user_id', '=', user_id).executeTakeFirst()) ??
      NEW_POLICY;
    const isPaused = row.paused_until !== null && row.paused_until > new Date(this.now()).toISOString();
    return { policy: policyOf(row), paused_until: isPaused ? row.paused_until : null };
  }

  private async write(user_id: string, values: Partial<Omit<Row, 'user_id'>>, database = this.database): Promise<void> {
    await database
      .insertInto('web_policies')
      .values({ user_id, ...NEW_POLICY, ...values })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet(values))
      .execute();
  }

  async set(user_id: string, { categories, services, safe_search }: WebPolicy, database = this.database): Promise<WebPolicy> {
    const chosen = {
      categories: JSON.stringify([...new Set(categories)]),
      services: JSON.stringify([...new Set(services)]),
      safe_search,
    };
    await this.write(user_id, chosen, database);
    return policyOf(chosen);
  }

  async pause(user_id: string, paused: boolean, database = this.database): Promise<{ paused_until: string | null }> {
    const paused_until = paused ? new Date(this.now() + PAUSE_MINUTES * 60_000).toISOString() : null;
    await this.write(user_id, { paused_until }, database);
    return { paused_until };
  }

  async names(user_id: string, database = this.database): Promise<WebName[]> {
    return await database
      .selectFrom('web_names')
      .select(['id', 'name', 'verdict', 'created_at'])
      .where('user_id', '=', user_id)
      .orderBy('id', 'desc')
      .limit(WEB_NAMES_MAXIMUM)
      .execute();
  }

  /** @throws Problem `invalid_field`, `conflict` */
  async addName(user_id: string, typed: string, verdict: WebName['verdict'], database = this.database): Promise<WebName> {
    const row = { id: newId(), name: typedName(typed), verdict, created_at: new Date(this.now()).toISOString() };
    const names = await this.names(user_id, database);
    if (names.length >= WEB_NAMES_MAXIMUM && !names.some(({ name }) => name === row.name))
      throw refuse('web_name.too_many', { maximum: WEB_NAMES_MAXIMUM });
    await database
      .insertInto('web_names')
      .values({ ...row, user_id })
      .onConflict((conflict) => conflict.columns(['user_id', 'name']).doUpdateSet(row))
      .execute();
    return row;
  }

  findName(id: string) {
    return this.database.selectFrom('web_names').selectAll().where('id', '=', id).executeTakeFirst();
  }

  async removeName(id: string, database = this.database): Promise<void> {
    await database.deleteFrom('web_names').where('id', '=', id).execute();
  }

  /** Whether the person's rules refuse a name. @throws Problem `invalid_field` */
  async refuses(user_id: string, typed: string): Promise<boolean> {
    const name = wireName(typedName(typed));
    if (name === undefined) return false;
    return decide(await this.rulesOfPerson(user_id), hashName(name, newHashes()))?.kind === 'refused';
  }

  /** The rules of a device: of its profile if it has one, otherwise of its owner. */
  async rulesOf({ user_id, profile_id }: { user_id: string; profile_id: string | null }): Promise<DeviceRules> {
    const ofProfile = profile_id === null ? undefined : await this.profiles.rulesOf(profile_id);
    return ofProfile ?? { policy: await this.rulesOfPerson(user_id), is_private: false };
  }

  private async rulesOfPerson(user_id: string): Promise<Policy> {
    const [{ policy, paused_until }, names, dangerous] = await Promise.all([
      this.read(user_id),
      this.names(user_id),
      this.dangerous(),
    ]);
    const own = (verdict: WebName['verdict']) => listOf(names.filter((one) => one.verdict === verdict).map(({ name }) => name));
    return {
      levels: [
        ...(paused_until === null ? [dangerous] : []),
        { level: 'person', allowed: own('allow'), blocked: [{ category: 'own', names: own('block') }] },
        { level: 'lists', blocked: this.lists.chosen(policy) },
      ],
      safe_search: policy.safe_search,
      seconds_maximum: SECONDS_MAXIMUM,
    };
  }
}
