import { alertEnglish, asWritten, knownAlertPhrase } from '@palisade/contract/alert-phrases';
import { type Alert, listAlerts, simulateThreat } from '@palisade/contract/anti-hacking';
import { listScans, type NotePhrase } from '@palisade/contract/antivirus';
import { login } from '@palisade/contract/auth';
import { readDashboard } from '@palisade/contract/dashboard';
import { noteInEnglish, scanPhrase } from '@palisade/contract/scan-phrases';
import { EICAR } from '@palisade/scanner/test/files';
import { expect, test } from 'vitest';
import { newId } from '#platform/id.ts';
import { givePremium } from '#test/feature-database.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';
import { insertRow } from './rows.ts';

const AT = '2026-11-20T10:00:00.000Z';
const clock = { now: Date.parse(AT) };

const drills = { next: 0 };
const app = await startTestApp({
  environment: { TRUSTED_PROXIES: '127.0.0.1' },
  surroundings: { now: () => clock.now, random: () => drills.next, every_ms: { detection: 20 } },
});
const boss = await app.registerAndSignIn('boss');
const maria = await app.registerAndSignIn('maria');
for (const { id } of [boss, maria]) await givePremium(app.app.database, id);
const alertsOf = async ({ token }: { token: string }) => replyOf(await app.call(listAlerts, { token }));

/** The English that a page makes of a phrase by the catalog; undefined for a code that is not in it. */
function inEnglish(phrase: Alert['phrase']): string | undefined {
  const known = phrase === null ? undefined : knownAlertPhrase(phrase);
  return known && alertEnglish(known);
}

function expectSaid({ description, phrase, evidence }: Alert): void {
  expect(inEnglish(phrase)).toBe(description);
  expect(inEnglish(evidence.threshold_phrase)).toBe(evidence.threshold);
  for (const event of evidence.events) expect(inEnglish(event.phrase)).toBe(event.what);
}

test('alerts of a running server are what their phrases say', async () => {
  const headers = { 'user-agent': 'curl/8.9', 'content-type': 'application/json' };
  const ask = (path: string, source: string, options: RequestInit = {}) =>
    app.fetch(`/api${path}`, { ...options, headers: { ...headers, ...options.headers, 'x-forwarded-for': source } });
  const enter = (password: string, source: string) =>
    ask(login.path, source, { method: login.method, body: JSON.stringify({ email: maria.email, password }) });
  for (let failed = 0; failed < 5; failed += 1) expect((await enter('a wrong password', '192.0.2.9')).status).toBe(401);
  expect((await enter(maria.password, '192.0.2.10')).status).toBe(200);
  await ask(readDashboard.path, '192.0.2.11', { headers: { authorization: `Bearer ${maria.token}` } });
  await scanned(app, maria.token, 'eicar {threat} $&.com', EICAR);
  for (let count = 0; count < 3; count += 1) await ask('/firewall/rules?limit=1+or+1=1', '192.0.2.12');
  for (drills.next = 0; drills.next < 1; drills.next += 0.17) replyOf(await app.call(simulateThreat, { token: maria.token }));

  await expect.poll(async () => new Set((await alertsOf(maria)).map(({ rule }) => rule)).size).toBe(5);
  await expect.poll(async () => (await alertsOf(boss)).length).toBe(1);
  const alerts = [...(await alertsOf(maria)), ...(await alertsOf(boss))];
  expect(new Set(alerts.map(({ phrase }) => phrase?.code))).toEqual(
    new Set([
      'brute_force.pair.from',
      'suspicious_login.new_browser.from',
      'suspicious_login.token_moved.from',
      'test_file',
      'intrusion_attempt.exploit_strings.from',
      ...['brute_force', 'suspicious_login', 'malware_detected', 'phishing_attempt', 'intrusion_attempt', 'ddos_attempt'].map(
        (kind) => `drill.${kind}`,
      ),
    ]),
  );
  for (const alert of alerts) expectSaid(alert);
  expect(alerts.find(({ phrase }) => phrase?.code === 'test_file')?.phrase?.params).toMatchObject({
    filename: 'eicar {threat} $&.com',
  });
});

test('notes of a scan are what their phrases say, and a note that an older server wrote has none', async () => {
  const token = maria.token;
  const { id } = await scanned(app, token, 'invoice.pdf', Buffer.from('only words'));
  const phrase = scanPhrase('unexplained', { bytes: 600, at: 7 });
  const kept = { ...phrase, member: 'a.bin' };
  const set = (notes: string[], note_phrases: (NotePhrase | null)[] | null) =>
    app.app.database
      .updateTable('scans')
      .set({ notes: JSON.stringify(notes), note_phrases: note_phrases && JSON.stringify(note_phrases) })
      .where('id', '=', id)
      .execute();
  const read = async () => replyOf(await app.call(listScans, { token })).find((scan) => scan.id === id);
  const disguise = { code: 'disguise', params: { ending: 'pdf', media_type: 'text/plain' }, member: null };
  const note = noteInEnglish({ member: 'a.bin', phrase });
  expect(note).toBe('a.bin: The 600 bytes from byte 7 on belong to nothing in it and look like nothing known.');
  const first = 'Its name ends in .pdf, but its content is plain text.';

  await set([note, 'Another.'], [kept, kept]);
  expect(await read()).toMatchObject({ notes: [first, note, 'Another.'], note_phrases: [disguise, kept, null] });
  await set([note], null);
  expect(await read()).toMatchObject({ notes: [first, note], note_phrases: [disguise, null] });
});

test('an alert from before phrases were kept has none, and a finding of an older server is told as it is written', async () => {
  const anna = await app.registerAndSignIn('anna');
  const user_id = anna.id;
  await givePremium(app.app.database, user_id);
  const found = {
    ...{
      rule: 'malware_detected.outbreak',
      key: user_id,
      threat_type: 'malware_detected',
      severity: 'critical',
      at: AT,
      user_id,
    },
    ...{ description: 'Many files.', threshold: 'many files', audience: 'person', targets: [], tried: [], address: null },
    ...{ browser_id: null, session_id: null, outcome: 'blocked', samples: [{ at: AT, what: 'A file', source: null }] },
  };
  await insertRow(app.app.database, 'detection_findings', {
    id: newId(),
    created_at: AT,
    found: JSON.stringify(found),
    told: '[]',
  });
  clock.now += 120_000;
  await expect.poll(async () => (await alertsOf(anna)).length, { timeout: 10_000 }).toBe(1);
  const [alert] = await alertsOf(anna);
  expect(alert).toMatchObject({ description: 'Many files.', phrase: asWritten('Many files.') });
  if (alert !== undefined) expectSaid(alert);

  const evidence = JSON.stringify({ threshold: 'many files', events: [{ at: AT, what: 'A file', source: null }] });
  await app.app.database.updateTable('alerts').set({ phrase: null, evidence }).where('id', '=', String(alert?.id)).execute();
  expect(await alertsOf(anna)).toMatchObject([
    {
      description: 'Many files.',
      phrase: null,
      evidence: { threshold_phrase: null, events: [{ what: 'A file', phrase: null }] },
    },
  ]);
});
