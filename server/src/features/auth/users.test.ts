import { checkAudit, listActivity, listAudit } from '@palisade/contract/audit';
import { currentUser, forgotPassword, login, resetPassword } from '@palisade/contract/auth';
import { setupConfig } from '@palisade/contract/setup';
import { changeUser, deleteUser, endUserSessions, listUserSessions, listUsers } from '@palisade/contract/users';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { listenAs } from '#test/socket.ts';

let clock = Date.parse('2026-11-20T10:00:00Z');
const app = await startTestApp({ surroundings: { now: () => clock } });
const { call, signIn } = app;
const boss = await signIn('boss');
const idOf = async (token: string) => replyOf(await call(currentUser, { token })).id;
const change = (user_id: string, body: { role?: 'customer' | 'support' | 'admin'; disabled?: boolean }, token = boss.token) =>
  call(changeUser, { token, body: { user_id, ...body } });
const search = async (words: string) =>
  replyOf(await call(listUsers, { token: boss.token, query: `?${new URLSearchParams({ search: words })}` }));

describe('the list of people', () => {
  test('says who is there, since when, and where they are signed in; nothing secret', async () => {
    const maria = await signIn('maria');
    clock += 60_000;
    await call(login, { body: maria });
    const [found] = await search('maria');
    expect(found).toEqual({
      id: await idOf(maria.token),
      username: 'maria',
      email: 'maria@example.com',
      role: 'customer',
      created_at: '2026-11-20T10:00:00.000Z',
      disabled_at: null,
      last_signed_in_at: '2026-11-20T10:01:00.000Z',
      sessions: 2,
      last_used_at: '2026-11-20T10:01:00.000Z',
      two_factor: found?.two_factor,
      email_unproven: false,
    });
  });

  test('is searched by parts of email and username, letter by letter', async () => {
    await signIn('Omar_Sy');
    for (const words of ['OMAR', 'r_s', 'omar_sy@', ' mar_'])
      expect((await search(words)).map(({ username }) => username)).toEqual(['Omar_Sy']);
    for (const words of ['omar%', 'o_ar', "' or 1=1 --", '\\']) expect(await search(words)).toEqual([]);
  });

  test('comes in pages that keep the search', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await signIn(name);
    const first = await call(listUsers, { token: boss.token, query: '?search=page-&limit=2' });
    const next = /^<\/api\/admin\/users(\?[^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const rest = replyOf(await call(listUsers, { token: boss.token, query: next }));
    expect([...replyOf(first), ...rest].map(({ username }) => username)).toEqual(['page-3', 'page-2', 'page-1']);
  });
});

describe('the list of people at ten thousand', () => {
  test('is counted, narrowed by role and state, and sorted', async () => {
    for (const name of ['sort-b', 'sort-a', 'sort-c']) await signIn(name);
    const [{ id: gone = '' } = {}] = await search('sort-c');
    replyOf(await change(gone, { disabled: true }));
    const read = async (query: string) => {
      const answer = await call(listUsers, { token: boss.token, query });
      return { names: replyOf(answer).map(({ username }) => username), total: answer.headers.get('x-total-count') };
    };
    expect(await read('?search=sort-&sort=name&limit=2')).toEqual({ names: ['sort-a', 'sort-b'], total: '3' });
    const [, second] = replyOf(await call(listUsers, { token: boss.token, query: '?search=sort-&sort=name&limit=2' }));
    expect(await read(`?search=sort-&sort=name&cursor=${second?.id}`)).toEqual({ names: ['sort-c'], total: null });
    expect((await read('?search=sort-&sort=oldest')).names).toEqual(['sort-b', 'sort-a', 'sort-c']);
    expect(await read('?search=sort-&state=disabled')).toEqual({ names: ['sort-c'], total: '1' });
    expect((await read('?role=admin')).names).toEqual(['boss']);
    // Without required proofs, no account is unproved.
    expect((await read('?state=unproven')).total).toBe('0');
    const query = '?sort=name&cursor=01930000-0000-7000-8000-000000000000';
    expect(problemOf(await call(listUsers, { token: boss.token, query })).code).toBe('invalid_field');
  });
});

describe('a role', () => {
  test('counts at once, in sessions that are there, and stands in the log of both', async () => {
    const person = await signIn();
    const id = await idOf(person.token);
    expect((await call(listUsers, { token: person.token })).status).toBe(403);
    expect(replyOf(await change(id, { role: 'admin' })).role).toBe('admin');
    expect((await call(listUsers, { token: person.token })).status).toBe(200);
    expect(replyOf(await change(id, { role: 'support' })).role).toBe('support');
    expect((await call(listUsers, { token: person.token })).status).toBe(403);
    const [latest] = replyOf(await call(listActivity, { token: person.token }));
    expect(latest).toMatchObject({
      kind: 'role_changed',
      by: 'administrator',
      address: null,
      details: { from: 'admin', to: 'support' },
    });
    const [entry] = replyOf(await call(listAudit, { token: boss.token, query: '?kind=role_changed&limit=1' }));
    expect(entry).toMatchObject({ subject_id: id, actor: { username: 'boss' }, address: '127.0.0.1' });
  });

  test('that is the same one is no change, and nothing to change is 422', async () => {
    const id = await idOf((await signIn()).token);
    const before = replyOf(await call(checkAudit, { token: boss.token })).entries;
    await change(id, { role: 'customer', disabled: false });
    expect(replyOf(await call(checkAudit, { token: boss.token })).entries).toBe(before);
    expect((await change(id, {})).status).toBe(422);
  });

  test('an unknown account is 404', async () => {
    expect((await change('01890a5d-ac96-774b-bcce-b302099a8057', { role: 'admin' })).status).toBe(404);
  });
});

describe('a disabled account', () => {
  // proves: asvs-7.4.2
  test('is signed out at once, and signing in says why to who knows the password alone', async () => {
    const person = await signIn();
    const id = await idOf(person.token);
    const disabled_at = new Date(clock).toISOString();
    expect(replyOf(await change(id, { disabled: true }))).toMatchObject({ disabled_at, sessions: 0 });
    expect((await call(currentUser, { token: person.token })).status).toBe(401);
    expect(problemOf(await call(login, { body: person }))).toMatchObject({ status: 403, code: 'account_disabled' });
    expect(problemOf(await call(login, { body: { ...person, password: 'not the password' } })).code).toBe('invalid_credentials');

    const client_info = { company_name: 'Harbour IT', support_phone: '+1 800 555 0199', support_email: 'help@harbour.example' };
    const setup = { client_info, setup_type: 'basic_installation' as const, timestamp: '2026-11-20T10:00:00.000Z' };
    await call(setupConfig, { token: boss.token, body: setup });
    expect(problemOf(await call(login, { body: person })).detail).toBe(
      'This account is disabled. Ask support: +1 800 555 0199 or help@harbour.example.',
    );

    expect(replyOf(await change(id, { disabled: false })).disabled_at).toBeNull();
    expect((await call(login, { body: person })).status).toBe(200);
  });

  test('is not enabled by a reset', async () => {
    const person = await signIn();
    const id = await idOf(person.token);
    await change(id, { disabled: true });
    const { reset_token } = replyOf(await call(forgotPassword, { body: { email: person.email } }));
    const password = 'another long password';
    await call(resetPassword, { body: { reset_token: reset_token ?? '', new_password: password } });
    expect(problemOf(await call(login, { body: { ...person, password } })).code).toBe('account_disabled');
  });

  test('leaves no session of a sign-in that was under way', async () => {
    const person = await signIn();
    const id = await idOf(person.token);
    const [answer] = await Promise.all([call(login, { body: person }), change(id, { disabled: true })]);
    if (answer.ok) expect((await call(currentUser, { token: answer.reply.access_token })).status).toBe(401);
    const [found] = await search(person.email);
    expect(found).toMatchObject({ sessions: 0 });
  });
});

describe('a person’s sessions', () => {
  // proves: asvs-7.4.5
  test('are seen and ended, one or all', async () => {
    const person = await signIn();
    const user_id = await idOf(person.token);
    await call(login, { body: person });
    const sessions = replyOf(await call(listUserSessions, { token: boss.token, query: `?user_id=${user_id}` }));
    expect(sessions.map(({ current, source }) => [current, source])).toEqual([
      [false, '127.0.0.1'],
      [false, '127.0.0.1'],
    ]);
    const end = (session_id?: string) => call(endUserSessions, { token: boss.token, body: { user_id, session_id } });
    expect((await end(sessions[0]?.id)).status).toBe(200);
    expect((await end(sessions[0]?.id)).status).toBe(404);
    expect((await call(currentUser, { token: person.token })).status).toBe(200);
    expect((await end()).status).toBe(200);
    expect((await call(currentUser, { token: person.token })).status).toBe(401);
    const token = replyOf(await call(login, { body: person })).access_token;
    const activity = replyOf(await call(listActivity, { token }));
    expect(
      activity.filter(({ kind }) => kind === 'session_ended').map(({ by, details }) => [by, details['all'] ?? false]),
    ).toEqual([
      ['administrator', true],
      ['administrator', false],
    ]);
  });

  test('of another person are not ended by naming a third one', async () => {
    const [person, other] = [await signIn(), await signIn()];
    const [session] = replyOf(await call(listUserSessions, { token: boss.token, query: `?user_id=${await idOf(person.token)}` }));
    const body = { user_id: await idOf(other.token), session_id: session?.id };
    expect((await call(endUserSessions, { token: boss.token, body })).status).toBe(404);
    expect((await call(currentUser, { token: person.token })).status).toBe(200);
  });
});

// proves: security-23
describe('the last administrator', async () => {
  const small = await startTestApp();
  const ids = new Map<string, string>();
  const people = new Map<string, { token: string; email: string; password: string }>();
  for (const name of ['one', 'two'] as const) {
    const person = await small.signIn(name, 'admin');
    people.set(name, person);
    ids.set(name, replyOf(await small.call(currentUser, { token: person.token })).id);
  }
  const ask = (who: string, whom: string, body: { role?: 'customer'; disabled?: boolean }) =>
    small.call(changeUser, { token: people.get(who)?.token, body: { user_id: ids.get(whom) ?? '', ...body } });
  const restore = () => small.app.database.updateTable('users').set({ role: 'admin', disabled_at: null }).execute();
  const administrators = async () =>
    (
      await small.app.database
        .selectFrom('users')
        .select('id')
        .where('role', '=', 'admin')
        .where('disabled_at', 'is', null)
        .execute()
    ).length;

  test('keeps the role, and is not disabled', async () => {
    expect((await ask('one', 'two', { disabled: true })).status).toBe(200);
    for (const body of [{ role: 'customer' as const }, { disabled: true }])
      expect(problemOf(await ask('one', 'one', body))).toMatchObject({ status: 409, code: 'last_admin' });
    expect(await administrators()).toBe(1);
    await restore();
  });

  test.each([
    ['demote', { role: 'customer' as const }],
    ['disable', { disabled: true }],
  ])('of two who %s each other at once one stays', async (_, body) => {
    const token = async (name: string) =>
      replyOf(await small.call(login, { body: people.get(name) ?? { email: '', password: '' } })).access_token;
    for (const name of ['one', 'two'])
      people.set(name, { email: '', password: '', ...people.get(name), token: await token(name) });
    const answers = await Promise.all([ask('one', 'two', body), ask('two', 'one', body)]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await administrators()).toBe(1);
    await restore();
  });
});

describe('an account that an administrator deletes', async () => {
  const office = await startTestApp();
  const { call, signIn } = office;
  const [boss, second] = [await signIn('boss'), await signIn('second', 'admin')];
  const idThere = async (token: string) => replyOf(await call(currentUser, { token })).id;
  const remove = (user_id: string, confirmation: string, by = second) =>
    call(deleteUser, { token: by.token, body: { user_id, confirmation, password: by.password } });

  test('is gone with its sessions at once, its person is notified, and the log names the actor', async () => {
    const person = await signIn('goner');
    const id = await idThere(person.token);
    const page = await listenAs(office, person.token);
    expect(replyOf(await remove(id, ` ${person.email.toUpperCase()} `))).toEqual({ success: true });
    await page.closed;
    expect((await call(currentUser, { token: person.token })).status).toBe(401);
    expect(problemOf(await call(login, { body: person })).code).toBe('invalid_credentials');
    expect(replyOf(await call(listUsers, { token: boss.token, query: '?search=goner' }))).toEqual([]);
    expect(problemOf(await remove(id, person.email)).status).toBe(404);
    const [entry] = replyOf(await call(listAudit, { token: boss.token }));
    expect(entry).toMatchObject({
      kind: 'account_deleted',
      subject_id: id,
      subject: null,
      actor_id: await idThere(second.token),
    });
    expect(replyOf(await call(checkAudit, { token: boss.token })).fault).toBeNull();
    const letters = await office.app.database.selectFrom('mails').select('text').where('recipient', '=', person.email).execute();
    // Without a mail server no letters of a deleted person are kept.
    expect(letters).toEqual([]);
  });

  test('needs the password of who deletes, and the email of who goes', async () => {
    const person = await signIn('stays');
    const id = await idThere(person.token);
    const wrong = { token: second.token, body: { user_id: id, confirmation: person.email, password: 'not mine at all' } };
    expect(problemOf(await call(deleteUser, wrong)).errors).toMatchObject([{ field: 'password' }]);
    expect(problemOf(await remove(id, second.email)).errors).toMatchObject([{ field: 'confirmation' }]);
    expect((await remove(id, person.email, { ...person })).status).toBe(403);
    expect((await call(currentUser, { token: person.token })).status).toBe(200);
  });

  test('is never one’s own', async () => {
    expect(problemOf(await remove(await idThere(second.token), second.email))).toMatchObject({ status: 409, code: 'conflict' });
  });

  test('of two administrators who delete each other at once one stays', async () => {
    const lonely = await startTestApp();
    const [one, two] = [await lonely.signIn('one', 'admin'), await lonely.signIn('two', 'admin')];
    const ids = new Map<string, string>();
    for (const { token, email } of [one, two]) ids.set(email, replyOf(await lonely.call(currentUser, { token })).id);
    const removeThere = (of: typeof one, by: typeof one) =>
      lonely.call(deleteUser, {
        token: by.token,
        body: { user_id: ids.get(of.email) ?? '', confirmation: of.email, password: by.password },
      });
    const answers = await Promise.all([removeThere(two, one), removeThere(one, two)]);
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    const left = await lonely.app.database.selectFrom('users').select('role').execute();
    expect(left).toEqual([{ role: 'admin' }]);
  });
});
