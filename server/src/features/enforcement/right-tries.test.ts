// proves: security-9
import { login } from '@palisade/contract/auth';
import type { Endpoint } from '@palisade/contract/endpoint';
import { endOtherSessions } from '@palisade/contract/sessions';
import { activateTotp, confirmIdentity, loginSecondStep, startTotp } from '@palisade/contract/two-factor';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { codeAt } from '#test/authenticator-app.ts';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

let clock = Date.parse('2026-11-20T10:00:00Z');
const { app, call, signIn } = await startTestApp({ surroundings: { now: () => clock } });
await signIn('boss');

type Person = Awaited<ReturnType<typeof signIn>>;

const rightLogin = ({ email, password }: Person) => call(login, { body: { email, password } });
const wrongLogin = ({ email }: Person) => call(login, { body: { email, password: 'not it' } });

/** Every use of a table fails while the work is done, as it does when the database is in trouble. */
async function without<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  await sql`alter table ${sql.table(table)} rename to is_gone`.execute(app.database);
  try {
    return await work();
  } finally {
    await sql`alter table is_gone rename to ${sql.table(table)}`.execute(app.database);
  }
}

const times = <Result>(count: number, work: () => Promise<Result>) => Promise.all(Array.from({ length: count }, work));

async function inTurn(count: number, work: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses: number[] = [];
  for (let time = 0; time < count; time += 1) statuses.push((await work()).status);
  return statuses;
}

async function withApp(): Promise<{ person: Person; code: () => string }> {
  const person = await signIn();
  const { token, password } = person;
  replyOf(await call(confirmIdentity, { token, body: { current_password: password } }));
  const { secret } = replyOf(await call(startTotp, { token }));
  const code = () => codeAt(secret, clock, 0);
  replyOf(await call(activateTotp, { token, body: { code: code() } }));
  clock += 30_000;
  return { person, code };
}

const challengeOf = async (person: Person) => problemOf(await rightLogin(person)).challenge ?? '';

describe('right passwords', () => {
  // proves: attack-B.14-5
  test('twenty at once sign in twenty times', async () => {
    const person = await signIn();
    const answers = await times(20, () => rightLogin(person));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  test('among wrong ones at once, no more than five of those are looked at', async () => {
    const person = await signIn();
    const answers = await Promise.all([...Array(30).keys()].map((place) => (place < 4 ? rightLogin : wrongLogin)(person)));
    const wrong = answers.slice(4).map(({ status }) => status);
    expect(new Set(wrong)).toEqual(new Set([401, 429]));
    // A right one forgets those that were wrong before it.
    expect(wrong.filter((status) => status === 401).length).toBeLessThanOrEqual(4 * 5 + 5);
  });

  test('that wait for their second step are no guesses, one after the other or at once, and forget none that were wrong', async () => {
    const { person, code } = await withApp();
    const before = await inTurn(4, () => wrongLogin(person));
    const waiting = [
      ...(await inTurn(12, () => rightLogin(person))),
      ...(await times(12, () => rightLogin(person))).map(({ status }) => status),
    ];
    expect([before, new Set(waiting)]).toEqual([[401, 401, 401, 401], new Set([401])]);
    expect(problemOf(await rightLogin(person)).code).toBe('two_factor_required');
    const challenge = await challengeOf(person);
    expect((await call(loginSecondStep, { body: { challenge, code: code() } })).status).toBe(200);
  });

  test('twenty confirmations at once are no guesses', async () => {
    const { token, password } = await signIn();
    const answers = await times(20, () => call(confirmIdentity, { token, body: { current_password: password } }));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });
});

describe('a failure of the database', () => {
  // proves: attack-B.14-5
  test.each(['passkeys', 'sessions', 'audit_entries', 'users'])('is no wrong password at sign-in: %s are away', async (table) => {
    const person = await signIn();
    expect(await without(table, () => inTurn(6, () => rightLogin(person)))).not.toContain(429);
    expect((await rightLogin(person)).status).toBe(200);
    expect(await inTurn(6, () => wrongLogin(person))).toEqual([401, 401, 401, 401, 401, 429]);
  });

  test('is no wrong password of a signed-in person', async () => {
    const person = await signIn();
    const { token, password } = person;
    const give = (endpoint: Endpoint, body: object) => call(endpoint, { token, body });
    expect(replyOf(await call(confirmIdentity, { token, body: { current_password: password } }))).toBeDefined();
    const failed = await without('users', () => inTurn(6, () => give(confirmIdentity, { current_password: password })));
    expect(failed.every((status) => status >= 500)).toBe(true);
    expect((await give(endOtherSessions, { password: 'not it' })).status).toBe(422);
    expect((await give(endOtherSessions, { password })).status).toBe(204);
  });

  test('is no wrong code, in one sign-in as in many', async () => {
    const { person, code } = await withApp();
    const challenge = await challengeOf(person);
    const step = () => call(loginSecondStep, { body: { challenge, code: code() } });
    expect(await without('audit_entries', async () => (await step()).status)).not.toBe(401);
    clock += 30_000;
    const again = await challengeOf(person);
    const stepAgain = () => call(loginSecondStep, { body: { challenge: again, code: code() } });
    // The code is right, and a later step of the same transaction fails.
    await sql`create trigger fails before delete on sign_in_challenges begin select raise(abort, 'in trouble'); end`
      .execute(app.database)
      .catch(() => sql`alter table sign_in_challenges add constraint fails check (tries < 0) not valid`.execute(app.database));
    expect((await inTurn(12, stepAgain)).every((status) => status >= 500)).toBe(true);
    await sql`drop trigger fails`
      .execute(app.database)
      .catch(() => sql`alter table sign_in_challenges drop constraint fails`.execute(app.database));
    expect((await stepAgain()).status).toBe(200);
  });
});
