import type { BodyOf } from '@palisade/contract/endpoint';
import type { AgeGroup, addProfile } from '@palisade/contract/household';
import { Homes } from '#features/web-protection/household.ts';
import { Asks } from '#features/web-protection/household-asks.ts';
import { Guardians } from '#features/web-protection/household-guardians.ts';
import { Profiles } from '#features/web-protection/household-profiles.ts';
import { refusalId } from '#features/web-protection/household-view.ts';
import { type DangerousRefusal, QuestionCounts } from '#features/web-protection/question-counts.ts';
import { newKey, type WebDeviceRow } from '#features/web-protection/web-devices.ts';
import type { WebProtectionTables } from '#features/web-protection/web-protection.tables.ts';
import { createMemoryCounters } from '#platform/counters.ts';
import { newId } from '#platform/id.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { afterFile } from './after-file.ts';
import { addPerson, featureDatabase } from './feature-database.ts';
import { insertRow } from './rows.ts';

type NewProfile = Partial<BodyOf<typeof addProfile>>;

/** Homes on a copied database, without the application: with a clock that the test turns, and a count of queries. */
export async function householdParts() {
  const all = await featureDatabase();
  const asked = { queries: 0 };
  const counting = all.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      asked.queries += 1;
      return result;
    },
  });
  const database = counting.$pickTables<keyof WebProtectionTables>();
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const at = () => new Date(clock.now).toISOString();
  const findUsers = async (ids: readonly string[]) => ids.map((id) => ({ id, username: id }));
  const homes = new Homes({ database, people: { profileLimit: async () => 50, findUsers }, now });
  const profiles = new Profiles({ database, homes, now });
  const guardians = new Guardians({ database, homes, now });
  const asks = new Asks({ database, homes, profiles, counters: createMemoryCounters({ now }), now });

  const bodyOf = (some: NewProfile = {}): BodyOf<typeof addProfile> => ({
    ...{ name: 'Mia', picture: 'owl', age_group: 'child', shared_by: [], time_zone: 'UTC', ...some },
  });
  const addTo = (user_id: string, some?: NewProfile) =>
    inTransaction(database, (transaction) => profiles.add(user_id, 50, bodyOf(some), transaction));

  async function addDevice(user_id: string, profile_id: string | null, some: Partial<WebDeviceRow> = {}): Promise<WebDeviceRow> {
    const device = { id: newId(), user_id, profile_id, name: 'Phone', kind: 'android', key: newKey(), address: null } as const;
    const times = { created_at: at(), last_question_at: null };
    return await database
      .insertInto('web_devices')
      .values({ ...device, ...times, ...some })
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** A name that was refused on a device. Answers the id of its refusal. */
  async function refuse(
    { id: device_id, user_id }: Pick<WebDeviceRow, 'id' | 'user_id'>,
    name: string,
    { category = 'guardian', is_private = 0 }: { category?: string; is_private?: number } = {},
  ): Promise<string> {
    const refusal = { id: newId(), user_id, device_id, name, rule: name, category, count: 1, last_at: at(), is_private };
    await database.insertInto('web_refusals').values(refusal).execute();
    return refusalId({ device_id, name });
  }

  /** A guardian and a profile with a device, on which a name was refused. */
  async function start(age_group: AgeGroup = 'child') {
    const user_id = await addPerson(all);
    const profile = await addTo(user_id, { age_group });
    const device = await addDevice(user_id, profile.id);
    const refusal_id = await refuse(device, 'club.example', {
      category: 'gambling',
      is_private: age_group === 'sixteen' ? 1 : 0,
    });
    const look = async (keys: { key: string; own_key?: string }) =>
      (await asks.look(await asks.profileOf(keys, 'here'))).refused.map(({ name }) => name);
    const shown = async () => (await homes.read(user_id)).profiles[0];
    const addGuardian = async () => {
      const id = await addPerson(all);
      await insertRow(database, 'guardians', { user_id: id, household_id: profile.household_id, joined_at: at() });
      return id;
    };
    return { user_id, profile, device, device_id: device.id, refusal_id, look, shown, addGuardian };
  }

  function countsOf(onDangerous: (refusal: DangerousRefusal) => Promise<void> = async () => {}): QuestionCounts {
    const onFailure = (error: unknown) => {
      throw error;
    };
    const counts = new QuestionCounts({ database, now, onFirst() {}, onDangerous, onFailure });
    afterFile(() => counts.close());
    return counts;
  }

  const built = { homes, profiles, guardians, asks };
  return { ...built, all, database, clock, asked, at, bodyOf, addTo, addDevice, refuse, start, countsOf };
}
