import { generateKeyPairSync } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { scanPosture } from '@palisade/contract/anti-hacking';
import { listAudit } from '@palisade/contract/audit';
import { currentUser, forgotPassword, login, register } from '@palisade/contract/auth';
import { sendMessage } from '@palisade/contract/chat';
import { readDashboard } from '@palisade/contract/dashboard';
import { setPresence } from '@palisade/contract/desk-team';
import { saveDeviceWish, startDeviceScan } from '@palisade/contract/devices';
import type { BodySentOf } from '@palisade/contract/endpoint';
import { addRule } from '@palisade/contract/firewall';
import { deleteAccount, exportData } from '@palisade/contract/privacy';
import { problemSchema } from '@palisade/contract/problem';
import { subscribePush } from '@palisade/contract/push';
import { reportFalseAlarm } from '@palisade/contract/quarantine';
import { createSession, joinSession } from '@palisade/contract/remote';
import { approveSession, writeSessionMessage } from '@palisade/contract/remote-session';
import { checkScamText, trustDomain } from '@palisade/contract/scam-check';
import { assignSubscription, createTemplate, listTemplates, requestPlan } from '@palisade/contract/subscription';
import { addPasskey, confirmIdentity, requestNewPasskey, requestPasskeyProof } from '@palisade/contract/two-factor';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import { PERSONAL_TABLES } from '#server/app/personal-tables.ts';
import { enrol } from '#test/agent-double.ts';
import { Authenticator } from '#test/authenticator.ts';
import { freshDatabase, isPostgres, type ListeningApp, problemOf, replyOf, startListeningApp } from '#test/harness.ts';
import { insertRow, oneRow } from '#test/rows.ts';
import { startSmtpServer } from '#test/smtp-server.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';
import { attach, scanned } from '#test/upload.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { accountKey } from './sign-in.ts';

const smtp = await startSmtpServer();
const LOCKED = Buffer.from('a file that nobody opens');
const { engine, steered } = createSteeredEngine();
steered.find = (bytes) => (bytes.equals(LOCKED) ? unreadAs('encrypted') : {});
const app = await startListeningApp({
  environment: { SMTP_URL: smtp.url, RESET_DELIVERY: 'email' },
  surroundings: { mail_look_ms: 20, embedded_engine: engine },
});
const { call, registerAndSignIn: signIn } = app;
const boss = await signIn('boss');

type Person = Awaited<ReturnType<ListeningApp['signIn']>>;

/** A person with data in every table that knows people. */
/** A device of web protection, with questions. */
async function leaveQuestions(user_id: string, name: string): Promise<void> {
  const { database } = app.app;
  const [device_id, at] = [newId(), '2026-11-20T10:00:00.000Z'];
  const device = { id: device_id, user_id, name, kind: 'android', key: name, address: null } as const;
  await insertRow(database, 'web_devices', { ...device, created_at: at, last_question_at: at });
  const policy = { user_id, categories: '[]', services: '[]', safe_search: 'off', paused_until: null };
  await database.insertInto('web_policies').values(policy).execute();
  await insertRow(database, 'web_names', { id: newId(), user_id, name: `${name}.example`, verdict: 'block', created_at: at });
  await insertRow(database, 'web_counts', { id: newId(), device_id, user_id, hour: at, category: 'answered', count: 1 });
  const shown = { name: `${name}.shown.example`, count: 1, last_at: at };
  await insertRow(database, 'web_shown_names', { id: newId(), user_id, device_id, ...shown });
  const household_id = newId();
  await database.insertInto('households').values({ id: household_id, time_zone: 'UTC', created_at: at }).execute();
  await database.insertInto('guardians').values({ user_id, household_id, joined_at: at }).execute();
  const invite = { email: `guest-of-${name}@example.com`, token_hash: `home of ${name}`, created_at: at, expires_at: at };
  await insertRow(database, 'household_invites', { id: newId(), household_id, user_id, ...invite });
  const profile = { name, picture: 'fox', age_group: 'child', shared_by: '[]', paused_until: null, created_at: at } as const;
  const rules = JSON.stringify({ categories: [], services: [], safe_search: 'off', times: [] });
  await insertRow(database, 'profiles', { id: newId(), household_id, ...profile, rules, ask_key: `page of ${name}` });
  const refusal = { name: `${name}.example`, rule: `${name}.example`, category: 'dangerous', count: 1, last_at: at };
  await insertRow(database, 'web_refusals', { id: newId(), user_id, device_id, ...refusal });
}

async function leaveTraces(name: string): Promise<Person & { id: string; recovery_code: string }> {
  const person = await signIn(name, 'support');
  const { id, token, email } = person;
  const infected = await scanned(app, token, `${name}.com`, EICAR);
  await call(reportFalseAlarm, { token, params: { id: infected.id }, body: { reason: `says ${name}` } });
  await scanned(app, token, `${name}.zip`, LOCKED);
  await call(sendMessage, { token, body: { message: `it is ${name}`, sender: 'user' } });
  await attach(app, token, `${name}.txt`, Buffer.from(`it is ${name}`));
  await call(setPresence, { token, body: { presence: 'away' } });
  const rule = { rule_name: name, direction: 'inbound', action: 'block', protocol: 'tcp' } as const;
  replyOf(await call(addRule, { token, body: rule }));
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const p256dh = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]).toString(
    'base64url',
  );
  const endpoint = `https://fcm.googleapis.com/fcm/send/${name}`;
  replyOf(await call(subscribePush, { token, body: { endpoint, keys: { p256dh, auth: 'A'.repeat(22) } } }));
  replyOf(await call(trustDomain, { token, body: { domain: `${name}.example` } }));
  replyOf(await call(checkScamText, { token, query: '?keep=true', body: { text: `Hello ${name}` } }));
  replyOf(await call(createSession, { token }));
  await leaveDevice(person, name);
  replyOf(await call(readDashboard, { token }));
  await app.app.keepScores();
  const own = replyOf(await call(createSession, { token }));
  replyOf(await call(joinSession, { token: boss.token, body: { session_code: own.session_code } }));
  replyOf(await call(approveSession, { token, params: { id: own.id }, body: { view: 'talk' } }));
  replyOf(await call(writeSessionMessage, { token, params: { id: own.id }, body: { message: 'Hello' } }));
  const sent = { kind: 'file', side: 'customer', author: 'me', filename: 'a.txt', size: 1, sha256: 'a'.repeat(64) } as const;
  const known = { status: 'clean', threat: null, sent_at: '2026-11-20T10:00:00.000Z', arrived_at: null } as const;
  await insertRow(app.app.database, 'remote_files', { id: newId(), session_id: own.id, user_id: id, ...sent, ...known });
  const conversation = await oneRow(app.app.database, 'conversations', { user_id: id });
  await insertRow(app.app.database, 'arrived_mails', {
    ...{ id: newId(), conversation_id: conversation.id, user_id: id, mail_key: 'mail', state: 'unverified', size: 1 },
    ...{ sha256: 'a'.repeat(64), message_id: null, arrived_at: known.sent_at, read_at: null },
  });
  await leaveQuestions(id, name);
  const { session_code } = replyOf(await call(createSession, { token: boss.token }));
  replyOf(await call(joinSession, { token, body: { session_code } }));
  const plan = { duration_months: 12, max_devices: 1, is_premium: true, features: ['One'] } as const;
  await call(createTemplate, { token: boss.token, body: { template_name: 'Plan', base_price: 1, ...plan, features: [] } });
  const [template] = replyOf(await call(listTemplates, { token: boss.token }));
  replyOf(await call(requestPlan, { token, body: { template_id: template?.id ?? '' } }));
  const assignment = { user_email: email, plan_name: 'Plan', price: 1, ...plan, features: ['One'] };
  replyOf(await call(assignSubscription, { token: boss.token, body: assignment }));
  replyOf(await call(scanPosture, { token }));
  replyOf(await call(saveDeviceWish, { token, body: { system: 'phone', note: `for ${name}` } }));
  const invited = { id: newId(), email, role: 'customer', token_hash: `hash of ${name}` } as const;
  await insertRow(app.app.database, 'invitations', { ...invited, created_at: known.sent_at, expires_at: known.sent_at });
  await call(forgotPassword, { body: { email } });
  const recovery_code = await leaveSecondFactors(id);
  await eventually(() => expect(smtp.received.filter(({ to }) => to === email)).toHaveLength(2));
  return { ...person, id, recovery_code };
}

/** A computer with a scan that found something, and a code that was not used. */
async function leaveDevice({ token }: Person, name: string): Promise<void> {
  const { device_id } = await enrol(app, token, { hostname: name });
  const { database } = app.app;
  const { user_id } = await oneRow(database, 'devices', { id: device_id });
  const { id: scan_id } = replyOf(await call(startDeviceScan, { token, params: { id: device_id }, body: { scan: 'quick' } }));
  const file = { path: `/home/${name}/a`, file_hash: 'a'.repeat(64), size: 1, threat: 'X', member: null, reason: null };
  const found = { found_at: '2026-11-20T10:00:00.000Z', state: 'left', order_id: null, order_action: null } as const;
  await insertRow(database, 'device_findings', {
    id: newId(),
    user_id,
    device_id,
    finding_id: newId(),
    scan_id,
    ...file,
    ...found,
  });
  const session = replyOf(await call(createSession, { token }));
  const measured = { from: null, to: '2026-11-20T10:00:00.000Z', changes: [], more: 0, unread: [] };
  await insertRow(database, 'device_sessions', {
    ...{ id: newId(), user_id, device_id, session_id: session.id, state: 'measured' },
    ...{ asked_at: found.found_at, ended_at: found.found_at, measured: JSON.stringify(measured) },
  });
  await insertRow(database, 'enrolment_codes', {
    code_hash: `code of ${user_id}`,
    user_id,
    expires_at: '2030-01-01T00:00:00.000Z',
  });
}

/** As two-factor sign-in and refused sign-ins leave them. */
async function leaveSecondFactors(user_id: string): Promise<string> {
  const { database } = app.app;
  const [recovery_code = ''] = await makeRecoveryCodes(database.$pickTables<'recovery_codes'>(), user_id);
  const until = '2030-01-01T00:00:00.000Z';
  const totp = { secret: null, since: null, last_step: 0, pending_secret: 'sealed', pending_until: until };
  await insertRow(database, 'totp', { user_id, ...totp, tries: 0, tries_until: until });
  const passkey = { rp_id: 'localhost', name: 'A key', counter: 0, transports: '[]', created_at: until, last_used_at: null };
  const credential = { credential_id: `credential of ${user_id}`, public_key: 'public' };
  await insertRow(database, 'passkeys', { id: newId(), user_id, ...credential, ...passkey });
  const challenge = { user_id, challenge_hash: `challenge of ${user_id}`, expires_at: until };
  await insertRow(database, 'passkey_challenges', { ...challenge, purpose: 'add' });
  await insertRow(database, 'sign_in_challenges', { ...challenge, password_mark: 'mark', browser_id: null, tries: 0 });
  const block = { kind: 'pair', rule: 'wrong_passwords', source: '192.0.2.1', since: until, until, level: 1, counts: 1 } as const;
  const suppression = { rule: 'a rule', source: '192.0.2.1', description: 'x', hidden_count: 0, last_hidden_at: null };
  await insertRow(database, 'alert_suppressions', { id: newId(), user_id, ...suppression, created_at: until, until });
  await insertRow(database, 'alert_mails', { dedupe_key: `mail about ${user_id}`, user_id, day: '2026-11-20' });
  const lifted = { lifted_at: null, lifted_by: null };
  await insertRow(database, 'blocks', { id: newId(), user_id, account: `account of ${user_id}`, ...block, ...lifted });
  return recovery_code;
}

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  return (await sql<Record<string, unknown>>`select * from ${sql.table(table)}`.execute(app.app.database)).rows;
}

type Proof = Pick<BodySentOf<typeof exportData>, 'code' | 'recovery_code' | 'passkey'>;

function exportFor({ token, password }: Person, proof: Proof = {}): Promise<Response> {
  return app.fetch(`/api${exportData.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ password, ...proof }),
  });
}

/** A person whose only second factor is a passkey, and its device. */
async function withPasskey() {
  const person = await signIn();
  const { token, password } = person;
  replyOf(await call(confirmIdentity, { token, body: { current_password: password } }));
  const device = new Authenticator(app.url.replace('127.0.0.1', 'localhost'));
  const passkey = device.create(replyOf(await call(requestNewPasskey, { token })));
  replyOf(await call(addPasskey, { token, body: { name: 'Phone', passkey } }));
  const prove = async () => device.get(replyOf(await call(requestPasskeyProof, { token })));
  return { person, prove };
}

const fileSchema = z.intersection(
  z.object({ exported_at: z.string() }),
  z.record(z.string(), z.union([z.string(), z.array(z.record(z.string(), z.unknown()))])),
);

/** Columns in which it says whose a row is. A new one belongs here, and its table into the file. */
const WHOSE = /^(user_id|recipient)$/;

describe('the file of all one’s data', async () => {
  const person = await leaveTraces('zwetlana-quux');
  const other = await leaveTraces('ottokar-xyzzy');
  const response = await exportFor(person, { recovery_code: person.recovery_code });
  const text = await response.text();
  const file = fileSchema.parse(JSON.parse(text));

  test('has every table that knows people', async () => {
    // A view shows a table's rows under another name.
    const tables = (await app.app.database.introspection.getTables()).filter(({ isView }) => !isView);
    const personal = tables.filter(({ columns }) => columns.some(({ name }) => WHOSE.test(name))).map(({ name }) => name);
    expect(Object.keys(file)).toEqual(expect.arrayContaining(personal));
  });

  test('is a file', () => {
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="palisade-data.json"');
    expect(response.headers.get('content-type')).toContain('application/json');
  });

  test.each(PERSONAL_TABLES.map(({ table, column = 'user_id', holds = 'id' }) => ({ table, column, holds })))(
    'holds one’s own rows of $table only',
    async ({ table, column, holds }) => {
      const own = (await rowsOf(table)).filter((row) => row[column] === person[holds]);
      expect(own.length).toBeGreaterThan(0);
      expect(file[table]).toHaveLength(own.length);
    },
  );

  test('holds one’s activity, and no trace of anybody else', () => {
    expect(z.array(z.object({ kind: z.string() })).parse(file['activity'])[0]?.kind).toBe('data_exported');
    expect(text).toContain('zwetlana-quux.com');
    expect(file['profiles']).toMatchObject([{ name: 'zwetlana-quux', age_group: 'child', names: [] }]);
    expect(text).not.toContain(other.id);
    expect(text).not.toContain('ottokar');
  });

  test('holds no secret', async () => {
    const secrets = [
      ...(await rowsOf('users')).map((row) => row['password_hash']),
      ...[...(await rowsOf('sessions')), ...(await rowsOf('account_tokens'))].map((row) => row['token_hash']),
    ];
    for (const secret of secrets) expect(text).not.toContain(secret);
    const columns = Object.values(file).flatMap((rows) => (typeof rows === 'string' ? [] : rows.flatMap(Object.keys)));
    expect([...new Set(columns)].filter((name) => /hash|secret|token|password|key/.test(name)).sort()).toEqual([
      'common_password',
      'dedupe_key',
      'file_hash',
    ]);
  });

  test('is given for the password, where no second factor is', async () => {
    const plain = await signIn();
    const wrong = await exportFor({ ...plain, password: 'not the password' });
    expect(wrong.status).toBe(422);
    expect(await wrong.json()).toMatchObject({ errors: [{ field: 'password' }] });
    expect((await exportFor({ ...plain, token: 'x' })).status).toBe(401);
    expect((await exportFor(plain)).status).toBe(200);
  });

  // proves: security-18
  test('takes the second factor where there is one, each proof once', async () => {
    const { person: owner, prove } = await withPasskey();
    const codeOf = async (response: Response) => problemSchema.parse(await response.json()).code;
    expect(await (await exportFor(owner)).json()).toMatchObject({ errors: [{ field: 'code' }] });
    for (const proof of [{ code: '123456' }, { recovery_code: 'none-of-them' }])
      expect(await codeOf(await exportFor(owner, proof))).toBe('second_factor_refused');
    const passkey = await prove();
    expect(await codeOf(await exportFor({ ...owner, password: 'not the password' }, { passkey }))).toBe('invalid_field');
    expect((await exportFor(owner, { passkey })).status).toBe(200);
    expect(await codeOf(await exportFor(owner, { passkey }))).toBe('second_factor_refused');
    const stranger = await withPasskey();
    expect(await codeOf(await exportFor(owner, { passkey: await stranger.prove() }))).toBe('second_factor_refused');
  });
});

// proves: asvs-7.4.2
describe('the deletion of an account', () => {
  const ask = ({ token, password, email }: Person, change: { password?: string; confirmation?: string } & Proof = {}) =>
    call(deleteAccount, { token, body: { password, confirmation: email, ...change } });

  test('needs the password, and the email typed', async () => {
    const person = await signIn();
    expect(problemOf(await ask(person, { password: 'wrong' })).errors?.[0]?.field).toBe('password');
    expect(problemOf(await ask(person, { confirmation: 'DELETE' })).errors?.[0]?.field).toBe('confirmation');
    expect((await call(currentUser, { token: person.token })).status).toBe(200);
  });

  test('is not for the last administrator', async () => {
    expect(problemOf(await ask(boss))).toMatchObject({ status: 409, code: 'last_admin' });
    expect((await call(currentUser, { token: boss.token })).status).toBe(200);
  });

  // proves: asvs-14.2.4
  test('leaves no row and no file that names the person but ids in the audit log, and sends a last mail', async () => {
    const person = await leaveTraces('wendelgard-plugh');
    const kept = async () => (await app.kept.list({ limit: 1_000 })).entries.map(({ key }) => key);
    const scans = (await rowsOf('scans')).filter((row) => row['user_id'] === person.id).map((row) => String(row['id']));
    expect(scans).toHaveLength(2);
    expect(await kept()).toEqual(expect.arrayContaining(scans));

    expect(problemOf(await ask(person)).errors?.[0]?.field).toBe('code');
    for (const proof of [{ code: '123456' }, { recovery_code: 'none-of-them' }])
      expect(problemOf(await ask(person, proof)).code).toBe('second_factor_refused');
    const confirmation = 'WENDELGARD-plugh@example.com';
    const { recovery_code } = person;
    expect(replyOf(await ask(person, { confirmation, recovery_code }))).toEqual({ success: true });
    expect((await call(currentUser, { token: person.token })).status).toBe(401);
    expect(problemOf(await call(login, { body: person })).code).toBe('invalid_credentials');
    const letters = () => smtp.received.filter(({ to }) => to.toLowerCase() === person.email.toLowerCase());
    await eventually(() => expect(letters().at(-1)?.content).toContain('Your account is deleted'));

    await eventually(async () => {
      const named: string[] = [];
      for (const { name } of await app.app.database.introspection.getTables()) {
        for (const row of await rowsOf(name)) {
          if (name === 'audit_entries') for (const column of ['subject_id', 'actor_id']) delete row[column];
          const words = JSON.stringify(row).toLowerCase();
          if (['wendelgard', person.id, ...scans].some((word) => words.includes(word))) named.push(`${name}: ${words}`);
        }
      }
      expect(named).toEqual([]);
    });
    await eventually(() => {
      const names = readdirSync(app.data_dir, { recursive: true, encoding: 'utf8' });
      expect(names.filter((name) => [...scans, person.id].some((id) => name.includes(id)))).toEqual([]);
    });
    const entries = replyOf(await call(listAudit, { token: boss.token, query: `?person=${person.id}` }));
    expect(entries[0]).toMatchObject({ kind: 'account_deleted', subject_id: person.id, subject: null, actor: null });
    for (const entry of entries) expect(entry).toMatchObject({ address: null, client: null, details: {} });
  });

  test("takes the person out of a source's counts, which stay, and of other people's alerts", async () => {
    const person = await signIn('counted-among');
    const { id } = person;
    const emails = ['first@example.com', person.email, 'last@example.com'];
    for (const email of emails) expect((await call(login, { body: { email, password: 'not it' } })).status).toBe(401);
    for (const path of ['/admin/users', '/admin/blocks', '/admin/audit']) {
      const headers = { authorization: `Bearer ${person.token}` };
      expect((await app.fetch(`/api${path}`, { headers })).status).toBe(403);
    }
    const told = async () => JSON.stringify([await rowsOf('alerts'), await rowsOf('alert_mails')]);
    await eventually(async () => expect(await told()).toContain(id));
    const traces = async () => JSON.stringify(await rowsOf('detection_windows'));
    const [first = '', own = '', last = ''] = emails.map(accountKey);
    for (const name of [own, id]) expect(await traces()).toContain(name);
    replyOf(await ask(person));
    const left = await traces();
    for (const name of [own, id]) expect(left).not.toContain(name);
    for (const name of [first, last]) expect(left).toContain(name);
    expect(await rowsOf('alerts')).toContainEqual(expect.objectContaining({ rule: 'intrusion_attempt.privilege' }));
    expect(await told()).not.toContain(id);
  });

  test('accepts a passkey, of a person without another factor', async () => {
    const { person, prove } = await withPasskey();
    expect(replyOf(await ask(person, { passkey: await prove() }))).toEqual({ success: true });
    expect((await call(currentUser, { token: person.token })).status).toBe(401);
  });

  test('frees the email and the name, and allows no second first administrator', async () => {
    const person = await signIn('gone');
    await ask(person);
    const again = await call(register, { body: { email: person.email, username: 'gone', password: person.password } });
    expect(replyOf(again).role).toBe('customer');
  });

  test('of two at once is one', async () => {
    const customer = await signIn('three');
    const twice = await Promise.all([ask(customer), ask(customer)]);
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 401]);
  });
});

if (!isPostgres())
  process.stdout.write('skipped: SQLite has one writer, so that a deletion and another one cannot wait for each other\n');

test.runIf(isPostgres())(
  'a deletion that waits for a write about the person holds no lock that the write waits for',
  async () => {
    const { location, dispose } = await freshDatabase();
    afterAll(dispose);
    const busy = await startListeningApp({ surroundings: { database: location } });
    await busy.registerAndSignIn('boss');
    const { token, email, password } = await busy.registerAndSignIn();
    const other = new Client({ connectionString: 'postgres' in location ? location.postgres : '' });
    await other.connect();
    onTestFinished(() => other.end());
    // As a transaction that inserts a row about the person.
    await other.query('begin');
    await other.query('select id from users where email = $1 for key share', [email]);
    const deleted = busy.call(deleteAccount, { token, body: { password, confirmation: email } });
    const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    await eventually(async () => expect((await other.query(waiting)).rows).toHaveLength(1));
    const { rows } = await other.query(
      'select s.id from sessions s join users u on u.id = s.user_id where u.email = $1 for update of s nowait',
      [email],
    );
    expect(rows).toHaveLength(1);
    await other.query('commit');
    expect(replyOf(await deleted)).toEqual({ success: true });
  },
);
