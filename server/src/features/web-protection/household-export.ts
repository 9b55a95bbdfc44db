import { inPages } from '#platform/batches.ts';
import type { PersonalPart } from '#platform/personal-data.ts';
import type { Homes } from './household.ts';
import type { QuestionCounts } from './question-counts.ts';

const READ_AT_ONCE = 200;

/** Refused names and profiles for the export of a person's data. It uses the same functions as the screens, so that it never contains more than they show. */
export function webProtectionParts({
  counts,
  homes,
}: {
  counts: Pick<QuestionCounts, 'refused'>;
  homes: Pick<Homes, 'read'>;
}): PersonalPart[] {
  return [
    {
      name: 'web_refusals',
      async *rows({ id: user_id }) {
        const pages = inPages(READ_AT_ONCE, (last?: { id: string }) =>
          counts.refused(user_id, { limit: READ_AT_ONCE, cursor: last?.id }),
        );
        for await (const page of pages) yield* page;
      },
    },
    {
      name: 'profiles',
      async *rows({ id: user_id }) {
        // The key belongs to the person of the profile, and is not exported.
        for (const { ask_key: _key, ...profile } of (await homes.read(user_id)).profiles) yield profile;
      },
    },
  ];
}
