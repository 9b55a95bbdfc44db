import { expect, test } from 'vitest';
import { createLog } from '#platform/log.ts';
import { addPerson, featureAccounts, featureAudit, featureDatabase, heldMail, ORIGIN } from '#test/feature-database.ts';
import { queuedJobs } from '#test/queued-jobs.ts';
import { insertRow } from '#test/rows.ts';
import { scanOf } from '#test/scan-of.ts';
import { createFalseAlarms } from './false-alarms.ts';

const database = await featureDatabase();
const clock = { now: Date.parse('2026-11-20T10:00:00Z') };
const now = () => clock.now;
const jobs = queuedJobs({ database, logger: createLog('silent') });
const maria = await addPerson(database, { username: 'maria', email: 'maria@example.com' });
const [one, other] = [await addPerson(database), await addPerson(database)];
const mail = heldMail();
const told: string[] = [];
const falseAlarms = createFalseAlarms({
  ...{ database, jobs, now, public_url: 'https://guard.example' },
  ...{ audit: featureAudit(now), accounts: featureAccounts(database), mail },
  onChange: (user_id) => told.push(user_id),
});
const by = (actor_id: string) => ({ actor_id, origin: ORIGIN });

/** A scan of Maria's, and the id of her report about it. */
async function report(filename: string, scan_status: 'infected' | 'clean' = 'infected') {
  const time = new Date(clock.now).toISOString();
  const scan = scanOf(maria, time, { filename, scan_status, threat_detected: 'EICAR-Test-File', sealed: 1 });
  await insertRow(database, 'scans', scan);
  await falseAlarms.report(scan, 'I wrote it myself.');
  const [seen] = await falseAlarms.list({ limit: 10 });
  return { id: seen?.id ?? '', scan, seen };
}
const decidedAt = async () => (await falseAlarms.list({ limit: 1 }))[0]?.decided_at ?? '';
/** Does what was planned about a report, in its order. */
async function passTime() {
  const planned = await database.selectFrom('jobs').selectAll().where('kind', '=', 'false_alarm_told').orderBy('id').execute();
  await database.deleteFrom('jobs').execute();
  mail.letters.length = 0;
  for (const { payload } of planned) await jobs.run('false_alarm_told', JSON.parse(payload));
  return mail.letters.map(({ lines }) => lines.join('\n'));
}

test('is reported once, of a finding, and decided once by an administrator', async () => {
  await expect(report('paper.pdf', 'clean')).rejects.toMatchObject({ code: 'conflict' });
  const { id, scan, seen } = await report('eicar.com');
  expect(seen).toMatchObject({
    ...{ user_email: 'maria@example.com', filename: 'eicar.com', threat_detected: 'EICAR-Test-File' },
    ...{ reason: 'I wrote it myself.', status: 'open', decided_at: null },
  });
  await expect(falseAlarms.report(scan, '')).rejects.toMatchObject({ code: 'conflict' });
  await falseAlarms.decide(id, 'confirmed', by(one));
  expect(told).toEqual([maria]);
  await expect(falseAlarms.decide(id, 'confirmed', by(one))).rejects.toMatchObject({ code: 'not_found' });
  expect(await falseAlarms.of(scan.id)).toMatchObject({ status: 'confirmed' });
});

test('is decided anew when the decision is taken back, by one of two administrators', async () => {
  const { id, scan } = await report('mine.com');
  await falseAlarms.decide(id, 'rejected', by(one));
  const decided_at = await decidedAt();
  const both = await Promise.allSettled([one, other].map((who) => falseAlarms.reopen(id, decided_at, by(who))));
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await falseAlarms.of(scan.id)).toMatchObject({ status: 'open', decided_at: null });
  // The other one's decision meanwhile stays.
  clock.now += 1;
  await falseAlarms.decide(id, 'confirmed', by(other));
  await expect(falseAlarms.reopen(id, decided_at, by(one))).rejects.toMatchObject({ code: 'conflict' });
  expect(await falseAlarms.of(scan.id)).toMatchObject({ status: 'confirmed' });
  const kinds = await database.selectFrom('audit_entries').select('kind').orderBy('seq', 'desc').limit(3).execute();
  expect(kinds.map(({ kind }) => kind)).toEqual(['false_alarm_decided', 'false_alarm_reopened', 'false_alarm_decided']);
});

test('the letter says the decision and its effect on the file; a decision that is taken back at once sends none', async () => {
  const { id, scan } = await report('tool.com');
  await falseAlarms.decide(id, 'rejected', by(one));
  await falseAlarms.reopen(id, await decidedAt(), by(one));
  clock.now += 1;
  await falseAlarms.decide(id, 'confirmed', by(one));
  const mine = (await passTime()).filter((text) => text.includes('“tool.com”'));
  expect(mine).toHaveLength(1);
  for (const words of ['it’s a false alarm', 'The file stays in quarantine', `https://guard.example/antivirus?scan=${scan.id}`])
    expect(mine[0]).toContain(words);
});

test('the letter is followed by another when the decision is taken back after it', async () => {
  const { id } = await report('late.com');
  await falseAlarms.decide(id, 'rejected', by(one));
  expect(await passTime()).toEqual([expect.stringContaining('Don’t download it.')]);
  clock.now += 60_000;
  await falseAlarms.reopen(id, await decidedAt(), by(one));
  expect(await passTime()).toEqual([expect.stringContaining('We withdrew that decision')]);
});
