// proves: security-9
import { changePassword, login } from '@palisade/contract/auth';
import type { Endpoint } from '@palisade/contract/endpoint';
import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { endOtherSessions } from '@palisade/contract/sessions';
import { confirmIdentity } from '@palisade/contract/two-factor';
import { type Kysely, sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Tables } from '#platform/tables.ts';
import { accountParts, SITE } from '#test/account-parts.ts';
import { codeAt } from '#test/authenticator-app.ts';
import { ORIGIN } from '#test/feature-database.ts';
import { startTestApp } from '#test/harness.ts';

/** Every use of a table fails while the work is done, as it does when the database is in trouble. */
async function without<Result>(database: Kysely<Tables>, table: string, work: () => Promise<Result>): Promise<Result> {
  await sql`alter table ${sql.table(table)} rename to is_gone`.execute(database);
  try {
    return await work();
  } finally {
    await sql`alter table is_gone rename to ${sql.table(table)}`.execute(database);
  }
}

async function inTurn(count: number, work: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < count; time += 1) statuses.push((await work()).status);
  return statuses;
}

describe('a failure of the database', async () => {
  const { app, call, signIn } = await startTestApp({ environment: { LIMITS: 'pair=2/10m' } });

  // proves: attack-B.14-5
  test.each(['passkeys', 'sessions', 'audit_entries', 'users'])('is no wrong password at sign-in: %s are away', async (table) => {
    const { email, password } = await signIn();
    const right = () => call(login, { body: { email, password } });
    expect(await without(app.database, table, () => inTurn(3, right))).not.toContain(429);
    expect((await right()).status).toBe(200);
    expect(await inTurn(3, () => call(login, { body: { email, password: 'not it' } }))).toEqual([401, 401, 429]);
  });

  // proves: security-16
  test.each([endOtherSessions, changePassword, confirmIdentity, exportData, deleteAccount])(
    'is no wrong password of a signed-in person, of whom as many are counted over all endpoints: $path',
    async (endpoint: Endpoint) => {
      const { token, password, email } = await signIn();
      const give = (to: Endpoint, given: string) =>
        call(to, {
          token,
          body: { password: given, current_password: given, new_password: 'another long password', confirmation: email },
        });
      const failed = await without(app.database, 'users', () => inTurn(3, () => give(confirmIdentity, password)));
      expect(failed.every((status) => status >= 500)).toBe(true);
      expect((await give(confirmIdentity, 'not it')).status).toBe(422);
      expect((await give(endpoint, 'not it')).status).toBe(422);
      expect((await give(endpoint, password)).status).toBe(429);
    },
  );
});

test('a failure of the database is no wrong code, in one sign-in as in many', async () => {
  const { database, clock, twoFactor, signIn, person: start } = await accountParts();
  const person = await start();
  await person.confirm();
  const { secret } = await twoFactor.startTotp(person.actor);
  const code = () => codeAt(secret, clock.now);
  await twoFactor.activateTotp(person.actor, code());
  clock.now += 30_000;
  const { challenge } = await person.step();
  const step = () => signIn.withSecondFactor({ challenge, proof: { code: code() }, site: SITE }, ORIGIN);
  // The code is right, and a later step of the same transaction fails.
  await sql`create trigger fails before delete on sign_in_challenges begin select raise(abort, 'in trouble'); end`
    .execute(database)
    .catch(() => sql`alter table sign_in_challenges add constraint fails check (tries < 0) not valid`.execute(database));
  for (let time = 0; time < 12; time += 1) await expect(step()).rejects.not.toHaveProperty('code', 'second_factor_refused');
  await sql`drop trigger fails`
    .execute(database)
    .catch(() => sql`alter table sign_in_challenges drop constraint fails`.execute(database));
  await step();
});
