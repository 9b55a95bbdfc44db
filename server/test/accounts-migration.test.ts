import { expect, test } from 'vitest';
import { migrations } from '#migrations/all.ts';
import { openDatabase } from '#platform/database.ts';
import { migrate } from '#platform/migrations.ts';
import type { Tables } from '#server/app/tables.ts';

const AT = '2026-11-20T10:00:00.000Z';

interface Before {
  users: Record<string, string | number | null>;
  mails: Record<string, string | number | null>;
  reset_tokens: Record<string, string | null>;
}

/** Accounts from before addresses were proved and names looked at. */
test('keeps every account, its name and its factors, and knows whose mail was read already', async () => {
  const before = Object.fromEntries(Object.entries(migrations).filter(([name]) => name < '0030'));
  const database = openDatabase<Before & Tables>({ sqlite: ':memory:' });
  await migrate(database, before);
  const people = [
    { id: '1', username: 'palisade', role: 'admin', email_proven_at: AT },
    { id: '2', username: 'paIisade', role: 'customer', email_proven_at: null },
    { id: '3', username: 'reader', role: 'customer', email_proven_at: null },
    { id: '4', username: 'told on screen', role: 'customer', email_proven_at: null },
  ];
  for (const { id, ...person } of people) {
    const username_key = person.username.toLowerCase();
    const row = { ...person, id, email: `${id}@example.com`, username_key, password_hash: 'x', created_at: AT };
    await database.withTables<Pick<Before, 'users'>>().insertInto('users').values(row).execute();
  }
  for (const user_id of ['3', '4']) {
    const token = { user_id, token_hash: `hash-${user_id}`, created_at: AT, expires_at: AT, used_at: AT };
    await database.insertInto('reset_tokens').values(token).execute();
  }
  const mail = { id: 'm', recipient: '3@example.com', subject: 'Harbour: Reset your password', created_at: AT, attempts: 1 };
  await database.withTables<Pick<Before, 'mails'>>().insertInto('mails').values(mail).execute();

  await migrate(database, migrations);

  const users = await database
    .withTables<Pick<Tables, 'users'>>()
    .selectFrom('users')
    .select(['id', 'username', 'username_skeleton', 'email_proven_at', 'admin_by_email_at'])
    .orderBy('id')
    .execute();
  expect(users).toEqual([
    { id: '1', username: 'palisade', username_skeleton: 'palisade', email_proven_at: AT, admin_by_email_at: AT },
    // The younger of two that look alike keeps its name, and blocks no other name.
    { id: '2', username: 'paIisade', username_skeleton: null, email_proven_at: null, admin_by_email_at: null },
    { id: '3', username: 'reader', username_skeleton: 'reader', email_proven_at: AT, admin_by_email_at: null },
    // A token that was answered on the screen proves nothing.
    { id: '4', username: 'told on screen', username_skeleton: 'told on screen', email_proven_at: null, admin_by_email_at: null },
  ]);
  await database.destroy();
});
