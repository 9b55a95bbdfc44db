import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { createScoreHistory } from './score-history.ts';

test('the waiting score of a deleted person is dropped without a word, and the others are kept', async () => {
  const database = await featureDatabase();
  const lines: string[] = [];
  const scores = createScoreHistory({
    database,
    now: () => Date.parse('2026-11-20T10:00:00.000Z'),
    logger: pino({}, { write: (line: string) => lines.push(line) }),
  });
  const [gone, there] = [await addPerson(database), await addPerson(database)];
  scores.note(gone, 40, 'danger');
  scores.note(there, 50, 'attention');
  await database.deleteFrom('users').where('id', '=', gone).execute();
  await scores.close();
  expect(lines).toEqual([]);
  expect(await scores.from(there, '2026-11-19')).toMatchObject([{ score: 50 }]);
});
