import type { Kysely } from 'kysely';
import { inPages } from '#platform/batches.ts';
import type { PersonalPart } from '#platform/personal-data.ts';
import type { WebProtectionTables } from './web-protection.tables.ts';

const READ_AT_ONCE = 50;

/** The profiles of a guardian’s home for the file of their data, with the names that guardians chose: what they see. The key of a page is its person’s. */
export function profilesPart(database: Kysely<WebProtectionTables>): PersonalPart {
  return {
    name: 'profiles',
    async *rows({ id: user_id }) {
      const pages = inPages(READ_AT_ONCE, (last?: { id: string }) =>
        database
          .selectFrom('profiles')
          .innerJoin('guardians', 'guardians.household_id', 'profiles.household_id')
          .innerJoin('households', 'households.id', 'profiles.household_id')
          .select(['profiles.id', 'profiles.name', 'picture', 'age_group', 'shared_by', 'rules', 'paused_until'])
          .select(['profiles.created_at', 'time_zone'])
          .where('guardians.user_id', '=', user_id)
          .where('profiles.id', '>', last?.id ?? '')
          .orderBy('profiles.id')
          .limit(READ_AT_ONCE)
          .execute(),
      );
      for await (const page of pages)
        for (const { shared_by, rules, ...row } of page) {
          const names = await database
            .selectFrom('profile_names')
            .select(['name', 'verdict', 'until', 'created_at'])
            .where('profile_id', '=', row.id)
            .orderBy('id')
            .execute();
          yield { ...row, shared_by: JSON.parse(shared_by), rules: JSON.parse(rules), names };
        }
    },
  };
}
