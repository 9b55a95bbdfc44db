import { CANNED_ANSWERS_MAXIMUM, type CannedAnswer } from '@palisade/contract/desk';
import type { Kysely } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import { Problem } from '#platform/problem.ts';
import { refuse } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';

type Fields = Pick<CannedAnswer, 'shortcut' | 'title' | 'text'>;

/** Answers that staff put in with a shortcut. Administrators keep them. */
export interface Canned {
  list(): Promise<CannedAnswer[]>;
  find(id: string): Promise<CannedAnswer | undefined>;
  /** @throws Problem `conflict` for a shortcut that another one has. */
  create(fields: Fields): Promise<CannedAnswer>;
  change(id: string, fields: Fields): Promise<CannedAnswer>;
  remove(id: string): Promise<void>;
}

export function createCanned({ database, now }: { database: Kysely<ChatTables>; now: () => number }): Canned {
  const at = () => new Date(now()).toISOString();

  async function unlessTaken<T>(shortcut: string, write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isUniqueViolation(error, 'shortcut')) throw error;
      throw refuse('saved_reply.shortcut_taken', { shortcut });
    }
  }

  return {
    list: () => database.selectFrom('canned_answers').selectAll().orderBy('shortcut').execute(),
    find: (id) => database.selectFrom('canned_answers').selectAll().where('id', '=', id).executeTakeFirst(),

    async create(fields) {
      const { count } = await database
        .selectFrom('canned_answers')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      if (Number(count) >= CANNED_ANSWERS_MAXIMUM) throw refuse('saved_reply.too_many', { maximum: CANNED_ANSWERS_MAXIMUM });
      const row = { id: newId(), ...fields, updated_at: at() };
      await unlessTaken(fields.shortcut, () => database.insertInto('canned_answers').values(row).execute());
      return row;
    },

    async change(id, fields) {
      const row = await unlessTaken(fields.shortcut, () =>
        database
          .updateTable('canned_answers')
          .set({ ...fields, updated_at: at() })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirst(),
      );
      if (row === undefined) throw new Problem('not_found');
      return row;
    },

    async remove(id) {
      await database.deleteFrom('canned_answers').where('id', '=', id).execute();
    },
  };
}
