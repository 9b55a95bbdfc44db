import { setupPayloadSchema } from '@palisade/contract/setup';
import { changeUser, deleteUser, endUserSessions, listUserSessions, listUsers, type UsersQuery } from '@palisade/contract/users';
import { describe, expect, test } from 'vitest';
import { writeSetup } from '#platform/installation.ts';
import { accountParts } from '#test/account-parts.ts';
import { ORIGIN, outcomes } from '#test/feature-database.ts';
import { problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';

const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const { database, clock, users, sessions, accountDeletion, person: start, mail } = await accountParts();
const boss = await start({ username: 'boss', role: 'admin' });
const BY = { actor_id: boss.id, origin: ORIGIN };

const change = (user_id: string, to: { role?: 'customer' | 'support' | 'admin'; disabled?: boolean }, actor_id = boss.id) =>
  users.change({ user_id, ...to }, { actor_id, origin: ORIGIN });
const queryOf = (query: Partial<UsersQuery>): UsersQuery => ({ limit: 50, sort: 'newest', search: '', ...query });
const namesOf = async (query: Partial<UsersQuery>) => (await users.list(queryOf(query))).map(({ username }) => username);
const entriesOf = (id: string, kind: 'role_changed' | 'session_ended') =>
  database.selectFrom('audit_entries').selectAll().where('subject_id', '=', id).where('kind', '=', kind).orderBy('seq').execute();

describe('the list of people', () => {
  test('says who is there, since when, and where they are signed in; nothing secret', async () => {
    const maria = await start({ username: 'maria' });
    const created_at = new Date(clock.now).toISOString();
    clock.now += 60_000;
    await maria.enter();
    const at = new Date(clock.now).toISOString();
    expect(await users.list(queryOf({ search: 'maria' }))).toEqual([
      {
        ...{ plan_name: null, security_score: null, state: null, serious_alerts: 0, has_silent_device: false },
        ...{ id: maria.id, username: 'maria', email: maria.email, role: 'customer', created_at, disabled_at: null },
        ...{ last_signed_in_at: at, sessions: 2, last_used_at: at, two_factor: false, email_unproven: false },
      },
    ]);
  });

  test('is searched by parts of email and username, letter by letter', async () => {
    await start({ username: 'Omar_Sy' });
    for (const search of ['OMAR', 'r_s', 'mar_']) expect(await namesOf({ search })).toEqual(['Omar_Sy']);
    for (const search of ['omar%', 'o_ar', "' or 1=1 --", '\\']) expect(await namesOf({ search })).toEqual([]);
  });

  test('is counted, narrowed by role and state, sorted, and has pages', async () => {
    for (const username of ['sort-b', 'sort-a', 'sort-c']) await start({ username });
    const search = 'sort-';
    const byName = await users.list(queryOf({ search, sort: 'name', limit: 2 }));
    expect(byName.map(({ username }) => username)).toEqual(['sort-a', 'sort-b']);
    expect(await namesOf({ search, sort: 'name', cursor: byName[1]?.id })).toEqual(['sort-c']);
    expect(await namesOf({ search, sort: 'oldest' })).toEqual(['sort-b', 'sort-a', 'sort-c']);
    const [newest, second] = await users.list(queryOf({ search }));
    expect(await namesOf({ search, cursor: second?.id })).toEqual(['sort-b']);
    await change(newest?.id ?? '', { disabled: true });
    expect(await namesOf({ search, state: 'disabled' })).toEqual(['sort-c']);
    expect(await users.count(queryOf({ search, limit: 1 }))).toBe(3);
    expect(await namesOf({ role: 'admin' })).toEqual(['boss']);
    // Without required proofs, no account is unproved.
    expect(await users.count(queryOf({ state: 'unproven' }))).toBe(0);
    const gone = users.list(queryOf({ sort: 'name', cursor: UNKNOWN_ID }));
    await expect(gone).rejects.toMatchObject({ code: 'invalid_field' });
  });
});

describe('a role', () => {
  test('counts at once, in sessions that are there, and stands in the log with who gave it', async () => {
    const person = await start();
    for (const role of ['admin', 'support'] as const) {
      expect((await change(person.id, { role })).role).toBe(role);
      expect((await sessions.resolve(person.token))?.user.role).toBe(role);
    }
    const entries = await entriesOf(person.id, 'role_changed');
    expect(entries.map(({ actor_id }) => actor_id)).toEqual([boss.id, boss.id]);
    expect(entries[1]?.personal).toContain('"from":"admin","to":"support"');
    // The same one is no change.
    await change(person.id, { role: 'support', disabled: false });
    expect(await entriesOf(person.id, 'role_changed')).toHaveLength(2);
    await expect(change(UNKNOWN_ID, { role: 'admin' })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('of an administrator is not given with a common password', async () => {
    const person = await start();
    await database.updateTable('users').set({ common_password: 1 }).where('id', '=', person.id).execute();
    await expect(change(person.id, { role: 'admin' })).rejects.toMatchObject({ code: 'invalid_field' });
    expect((await change(person.id, { role: 'support' })).role).toBe('support');
  });
});

// proves: asvs-7.4.2
describe('a disabled account', () => {
  test('is signed out at once, and signing in says why to who knows the password alone', async () => {
    const person = await start();
    expect(await person.isSignedIn()).toBe(true);
    const disabled_at = new Date(clock.now).toISOString();
    expect(await change(person.id, { disabled: true })).toMatchObject({ disabled_at, sessions: 0 });
    clock.now += 1;
    expect(await change(person.id, { disabled: true })).toMatchObject({ disabled_at });
    expect(await person.isSignedIn()).toBe(false);
    await expect(person.enter()).rejects.toMatchObject({ code: 'account_disabled' });
    await expect(person.enter('not the password')).rejects.toMatchObject({ code: 'invalid_credentials' });
    const client_info = { company_name: 'Harbour IT', support_phone: '+1 800 555 0199', support_email: 'help@harbour.example' };
    const setup = { client_info, setup_type: 'basic_installation', timestamp: '2026-11-20T10:00:00.000Z' } as const;
    await writeSetup(database, setupPayloadSchema.parse(setup));
    await expect(person.enter()).rejects.toMatchObject({
      message: 'This account is disabled. Ask support: +1 800 555 0199 or help@harbour.example.',
    });
    expect((await change(person.id, { disabled: false })).disabled_at).toBeNull();
    await person.enter();
  });

  test('leaves no session of a sign-in that was under way', async () => {
    const person = await start();
    await Promise.allSettled([person.enter(), change(person.id, { disabled: true })]);
    expect(await users.list(queryOf({ search: person.email }))).toMatchObject([{ sessions: 0 }]);
  });
});

// proves: asvs-7.4.5
test('a person’s sessions are seen and ended, one or all, and never those of a third one', async () => {
  const [person, other] = [await start(), await start()];
  const { session_id } = await person.sessionAgain();
  expect(await users.sessions(person.id, { limit: 10 })).toMatchObject([{ id: session_id, source: ORIGIN.source }, {}]);
  await expect(users.endSessions(other.id, session_id, BY)).rejects.toMatchObject({ code: 'not_found' });
  await users.endSessions(person.id, session_id, BY);
  await expect(users.endSessions(person.id, session_id, BY)).rejects.toMatchObject({ code: 'not_found' });
  expect(await person.isSignedIn()).toBe(true);
  await users.endSessions(person.id, undefined, BY);
  expect([await person.isSignedIn(), await other.isSignedIn()]).toEqual([false, true]);
  const entries = await entriesOf(person.id, 'session_ended');
  expect(entries.map(({ actor_id, personal }) => [actor_id, personal?.includes('"all":true')])).toEqual([
    [boss.id, false],
    [boss.id, true],
  ]);
});

// proves: security-23
describe('the last administrator', async () => {
  const small = await accountParts();
  const [one, two] = [await small.person({ role: 'admin' }), await small.person({ role: 'admin' })];
  const ask = (by: typeof one, whom: typeof one, to: { role?: 'customer'; disabled?: boolean }) =>
    small.users.change({ user_id: whom.id, ...to }, { actor_id: by.id, origin: ORIGIN });
  const administrators = () => small.auth.administrators();

  test('keeps the role, and is not disabled', async () => {
    await ask(one, two, { disabled: true });
    for (const to of [{ role: 'customer' }, { disabled: true }] as const)
      await expect(ask(one, one, to)).rejects.toMatchObject({ code: 'last_admin' });
    expect(await administrators()).toEqual([one.id]);
    await ask(one, two, { disabled: false });
  });

  test.each([
    ['demote', { role: 'customer' as const }],
    ['disable', { disabled: true }],
  ])('of two who %s each other at once one stays', async (_, to) => {
    expect(await outcomes([ask(one, two, to), ask(two, one, to)])).toEqual(['fulfilled', 'last_admin']);
    expect(await administrators()).toHaveLength(1);
    await small.database.updateTable('users').set({ role: 'admin', disabled_at: null }).execute();
  });

  test('of two who delete each other at once stays', async () => {
    const remove = (whom: typeof one, by: typeof one) =>
      small.accountDeletion.removeAs(whom.id, whom.email, { actor_id: by.id, origin: ORIGIN });
    expect(await outcomes([remove(two, one), remove(one, two)])).toEqual(['fulfilled', 'last_admin']);
    expect(await administrators()).toHaveLength(1);
  });
});

test('an account that an administrator deletes is gone with its sessions, and the log names the actor', async () => {
  const person = await start();
  await expect(accountDeletion.removeAs(person.id, boss.email, BY)).rejects.toMatchObject({
    errors: [{ field: 'confirmation' }],
  });
  await expect(accountDeletion.removeAs(boss.id, boss.email, BY)).rejects.toMatchObject({ code: 'conflict' });
  expect(await person.isSignedIn()).toBe(true);
  await accountDeletion.removeAs(person.id, person.email, BY);
  expect(await person.isSignedIn()).toBe(false);
  await expect(person.enter()).rejects.toMatchObject({ code: 'invalid_credentials' });
  await expect(accountDeletion.removeAs(person.id, person.email, BY)).rejects.toMatchObject({ code: 'not_found' });
  const entry = database
    .selectFrom('audit_entries')
    .selectAll()
    .where('subject_id', '=', person.id)
    .where('kind', '=', 'account_deleted');
  expect(await entry.execute()).toMatchObject([{ actor_id: boss.id }]);
  const letter = mail.letters.find(({ recipient }) => recipient === person.email);
  expect(letter).toMatchObject({ subject: 'Your account is deleted', leaves_no_trace: true });
  expect(letter?.lines.join()).toContain('An administrator deleted your account');
});

test('the routes list, change, end and delete, and the pages of a deleted person close', async () => {
  const app = await startListeningApp();
  const { call, signIn } = app;
  const [{ token, password }, goner] = [await signIn('boss'), await signIn('goner')];
  await signIn('other');
  const page = await call(listUsers, { token, query: '?limit=2' });
  expect(page.headers.get('x-total-count')).toBe('3');
  const next = /^<\/api\/admin\/users(\?[^>]+)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  expect(replyOf(await call(listUsers, { token, query: next }))).toMatchObject([{ username: 'boss' }]);
  const user_id = replyOf(page).find(({ username }) => username === 'goner')?.id ?? '';
  expect((await call(changeUser, { token, body: { user_id } })).status).toBe(422);
  expect(replyOf(await call(changeUser, { token, body: { user_id, role: 'support' } })).role).toBe('support');
  const [session] = replyOf(await call(listUserSessions, { token, query: `?user_id=${user_id}` }));
  expect(session).toMatchObject({ current: false, source: '127.0.0.1' });
  const socket = await listenAs(app, goner.token);
  const remove = (given: string) =>
    call(deleteUser, { token, body: { user_id, confirmation: ' GONER@Example.com ', password: given } });
  expect(problemOf(await remove('not mine at all')).errors).toMatchObject([{ field: 'password' }]);
  expect(replyOf(await remove(password))).toEqual({ success: true });
  await socket.closed;
  expect((await call(endUserSessions, { token, body: { user_id, session_id: session?.id } })).status).toBe(404);
});
