import { listAlerts, readHistory, simulateThreat } from '@palisade/contract/anti-hacking';
import { shareThing } from '@palisade/contract/chat';
import { readDashboard } from '@palisade/contract/dashboard';
import { addRule } from '@palisade/contract/firewall';
import { listArticles } from '@palisade/contract/help';
import { completeSession, createSession, joinSession } from '@palisade/contract/remote';
import { approveSession } from '@palisade/contract/remote-session';
import { addWebDevice } from '@palisade/contract/web-protection';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR } from '@palisade/scanner/test/files';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { newId } from '#platform/id.ts';
import { enrol } from './agent-double.ts';
import { allEndpoints } from './endpoints.ts';
import { givePremium } from './feature-database.ts';
import { foundClean, grantInBrowsers, sendInSession } from './granted-session.ts';
import { isPostgres, replyOf, startTestApp, type TestApp } from './harness.ts';
import { insertRow, oneRow } from './rows.ts';
import { attach, scanned } from './upload.ts';

const HOUR = 3_600_000;
const nameSchema = z.object({ name: z.string() });
const AUDIT = ['audit_entries', 'audit_head'];
/** Restoring a dangerous file and viewing another person's data are recorded in the audit log, as intended; taking a file of a session in its record. */
const TOLD = new Map([
  // The place up to which the audit log was verified.
  ['GET /admin/audit/chain', ['installation']],
  ['GET /antivirus/scans/{id}/file', AUDIT],
  ['GET /support/conversations/{id}/customer', AUDIT],
  ['GET /support/messages/{id}/shared', AUDIT],
  ['GET /support/person-record', AUDIT],
  ['GET /remote/files/{id}/file', [...AUDIT, 'remote_sessions']],
]);
/** A session that is over has no relay, and shows its technician no customer any more; of the mail there is a row alone. */
const REFUSED = new Map([
  ['GET /remote/sessions/{id}/ice', 409],
  ['GET /remote/joined/{id}/customer', 409],
  ['GET /support/mails/{id}/file', 503],
]);
const gets = (await allEndpoints()).filter(({ method }) => method === 'GET');

/** Changes by a session and by the server's own work: each request is a use of its session, and a due job runs during any request. */
const BY_ITSELF: Record<string, readonly string[]> = {
  sessions: ['last_used_at'],
  servers: ['seen_at'],
  jobs: ['run_at', 'claimed_by', 'lease_until', 'claims'],
};

/** A fact that the server notes when its engines have begun, which may be at any time. */
const isOfEngines = (table: string, row: string) => table === 'installation' && row.includes('"scanner_edition');

/** Every row of every table, as text, without those changes. */
async function everything({ app: { database } }: TestApp): Promise<Record<string, string[]>> {
  const list = isPostgres()
    ? sql`select tablename as name from pg_tables where schemaname = 'public'`
    : sql`select name from sqlite_master where type = 'table'`;
  const tables = (await list.execute(database)).rows.map((row) => nameSchema.parse(row).name).sort();
  const rows = await Promise.all(
    tables.map(async (table) => (await sql`select * from ${sql.table(table)}`.execute(database)).rows),
  );
  return Object.fromEntries(
    tables.map((table, index) => [
      table,
      (rows[index] ?? [])
        .map((row) => JSON.stringify(row, (key, value: unknown) => (BY_ITSELF[table]?.includes(key) ? null : value)))
        .filter((row) => !isOfEngines(table, row))
        .sort(),
    ]),
  );
}

/** Tables in which something is not as before. A job that is done is gone; one that was asked for is there. */
function changedTables(before: Record<string, string[]>, after: Record<string, string[]>): string[] {
  return Object.keys(after).filter((table) =>
    table === 'jobs'
      ? after[table]?.some((row) => before[table]?.includes(row) !== true)
      : after[table]?.join('\n') !== before[table]?.join('\n'),
  );
}

/** An administrator with data on every screen, and with data that expires by the next hour: an unused code, and a block. */
async function startWithRecords() {
  const clock = { now: Date.parse('2026-11-10T10:00:00.000Z') };
  const app = await startTestApp({ surroundings: { now: () => clock.now } });
  const { id: boss_id, token } = await app.signIn('boss');
  await givePremium(app.app.database, boss_id);
  const { id: scan } = await scanned(app, token, 'eicar.com', EICAR);
  const { id: rule } = replyOf(await app.call(addRule, { token, body: { rule_name: 'ssh', port: '22' } }));
  const { token: ana } = await app.signIn('ana', 'support');
  const session = replyOf(await app.call(createSession, { token }));
  replyOf(await app.call(joinSession, { token: ana, body: { session_code: session.session_code } }));
  replyOf(await app.call(approveSession, { token, params: { id: session.id }, body: { view: 'talk' } }));
  await grantInBrowsers(app, session.id);
  const sent = await sendInSession(app, token, session.id);
  await foundClean(app, sent);
  replyOf(await app.call(completeSession, { token, params: { id: session.id } }));
  replyOf(await app.call(createSession, { token }));
  replyOf(await app.call(simulateThreat, { token }));
  const alert = replyOf(await app.call(listAlerts, { token }))[0]?.id ?? '';
  const { id: attachment } = await attach(app, token, 'note.txt', Buffer.from('a note'));
  const { id: person, token: customer } = await app.signIn('maria');
  const { id: theirs } = replyOf(await app.call(addRule, { token: customer, body: { rule_name: 'web', port: '80' } }));
  const { id: shared, conversation_id: conversation } = replyOf(
    await app.call(shareThing, { token: customer, body: { thing: 'rule', subject_id: theirs } }),
  );
  // The server marks the report itself, a moment later.
  await eventually(async () => {
    const { told_seq, last_seq, told_version, version } = await oneRow(app.app.database, 'conversations', { id: conversation });
    expect([told_seq, told_version]).toEqual([last_seq, version]);
  });
  const mail = newId();
  const at = new Date(clock.now).toISOString();
  await insertRow(app.app.database, 'arrived_mails', {
    ...{ id: mail, conversation_id: conversation, mail_key: mail, state: 'unverified', size: 1, sha256: '0'.repeat(64) },
    ...{ user_id: person, message_id: null, arrived_at: at, read_at: null },
  });
  const { session_code } = replyOf(await app.call(createSession, { token: customer }));
  const { id: joined } = replyOf(await app.call(joinSession, { token, body: { session_code } }));
  const { device_id: device } = await enrol(app, token);
  const { id: phone } = replyOf(await app.call(addWebDevice, { token, body: { name: 'Phone', kind: 'android' } }));
  const slug = replyOf(await app.call(listArticles, { token }))[0]?.slug ?? '';
  const ids: Record<string, string> = {
    ...{ antivirus: scan, chat: attachment, firewall: rule, premium: alert, devices: device },
    'support/mails': mail,
    ...{ 'support/conversations': conversation, 'support/messages': shared },
    ...{ 'remote/sessions': session.id, 'remote/joined': joined, 'remote/files': sent },
    'admin/remote-sessions': session.id,
    'web-protection/devices': phone,
  };
  const queries: Record<string, string> = {
    '/auth/audit/export': '?format=csv',
    '/remote/sessions/{id}/audit/export': '?format=csv',
    '/admin/user-sessions': `?user_id=${person}`,
    '/support/person-record': `?user_id=${person}`,
    '/help/article': `?slug=${slug}`,
    '/help/suggestions': '?text=password',
    '/web-protection/check': '?name=shop.example',
  };
  const get = async (path: string) => {
    const [feature = '', records = ''] = path.split('/').slice(1);
    const named = path.replaceAll(/\{\w+\}/gu, ids[`${feature}/${records}`] ?? ids[feature] ?? '');
    const answer = await app.fetch(`/api${named}${queries[path] ?? ''}`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { app, clock, token, get };
}

// proves: product-3.2-1
test('no reading changes a row of any table, not even an expired one', async () => {
  const { app, clock, get } = await startWithRecords();
  expect(gets.length).toBeGreaterThan(30);
  clock.now += HOUR;
  let before = await everything(app);
  expect(Object.keys(before).length).toBeGreaterThan(20);
  for (const { key, path } of gets) {
    const status = await get(path);
    expect({ key, status }).toEqual({ key, status: REFUSED.get(key) ?? 200 });
    const after = await everything(app);
    const changed = changedTables(before, after);
    expect({ key, changed }).toEqual({ key, changed: TOLD.get(key) ?? [] });
    before = after;
  }
});

test('the score that a reading found is in the history at once, and kept by a write of its own', async () => {
  const { app, clock, token } = await startWithRecords();
  const kept = async () =>
    (await app.app.database.selectFrom('score_history').select('score').execute()).map(({ score }) => score);
  clock.now += HOUR;
  const { security_score } = replyOf(await app.call(readDashboard, { token }));
  expect(await kept()).toEqual([]);
  expect(replyOf(await app.call(readHistory, { token })).at(-1)?.score).toBe(security_score);
  await app.app.keepScores();
  expect(await kept()).toEqual([security_score]);
});
