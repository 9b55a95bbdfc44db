import { asWritten } from '@palisade/contract/alert-phrases';
import type { Severity } from '@palisade/contract/severity';
import { UNKNOWN_STATUS } from '@palisade/contract/status';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createMail } from '#platform/mail.ts';
import { addPerson, featureAccounts, featureAudit, featureDatabase, heldJobs } from '#test/feature-database.ts';
import { isPostgres } from '#test/harness.ts';
import { incidentOf } from '#test/incident-of.ts';
import { createAlertMails } from './alert-mails.ts';
import { createAlerts } from './alerts.ts';
import { addDrill } from './drills.ts';

const DAY_MS = 86_400_000;

/** A database on which servers write digests, with a clock that the test turns. */
async function start(isPremium: (user_id: string) => boolean) {
  const database = await featureDatabase();
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const mail = createMail({ database, server: undefined, now, logger: pino({ level: 'silent' }) });
  /** Done when a server has read alerts, before it writes. */
  const meanwhile: (() => Promise<void>)[] = [];
  function server() {
    const jobs = heldJobs();
    const mails = createAlertMails({
      ...{ database, mail, jobs, now, accounts: featureAccounts(database), public_url: undefined },
      status: async () => ({ ...UNKNOWN_STATUS, sentence: 'A plan ends soon', detail: 'In 3 days.' }),
      premium: {
        async current(user_id) {
          await meanwhile.pop()?.();
          return { is_premium: isPremium(user_id) };
        },
      },
    });
    return { mails, look: () => jobs.run('digests') };
  }
  const first = server();
  // The first week begins.
  await first.look();
  const none = () => Promise.resolve();
  const alerts = createAlerts({
    ...{ database, now, mails: first.mails, audit: featureAudit(now), tell() {}, onChange() {} },
    consequences: {
      browsers: { trustBrowser: none, reviewBrowser: none, forgetBrowser: none },
      endSession: () => Promise.resolve(false),
      secondFactor: () => Promise.resolve({ enabled: false }),
    },
  });
  const raise = async (user_id: string, description: string, severity: Severity = 'low') => {
    clock.now += 1;
    const at = new Date(clock.now).toISOString();
    await alerts.raise(
      incidentOf(user_id, { phrase: asWritten(description), key: description, severity, outcome: 'blocked', at }),
    );
    clock.now += 1;
  };
  const digests = async (user_id: string) => {
    const letters = database.selectFrom('mails').select('text').where('recipient', '=', `${user_id}@example.com`);
    return (await letters.where('subject', 'like', '%weekly security summary').orderBy('id').execute()).map(
      ({ text }) => text ?? '',
    );
  };
  return { database, clock, server, first, raise, digests, meanwhile };
}

test('a digest tells premium accounts of the rest of a week, once, and only when there is something to say', async () => {
  const premium = new Set<string>();
  const { database, clock, first, raise, digests } = await start((id) => premium.has(id));
  const [maria, quiet, poor] = [await addPerson(database), await addPerson(database), await addPerson(database)];
  for (const id of [maria, quiet]) premium.add(id);
  for (const id of [maria, poor, maria]) await raise(id, 'One of the week.');
  await raise(maria, 'A grave one.', 'high');
  await addDrill(maria, { database, now: clock.now, random: () => 0 });
  clock.now += 6 * DAY_MS;
  await first.look();
  expect(await digests(maria)).toEqual([]);
  clock.now += 2 * DAY_MS;
  await first.look();
  const [text = '', ...others] = await digests(maria);
  expect(others).toEqual([]);
  expect(text).toContain('A plan ends soon\nIn 3 days.');
  expect(text.match(/^- /gmu)).toHaveLength(1);
  expect(text).toContain('(2 times)');
  expect([await digests(quiet), await digests(poor)]).toEqual([[], []]);
  clock.now += 8 * DAY_MS;
  await first.look();
  expect(await digests(maria)).toHaveLength(1);
});

test('incidents during the writing of a digest are in the next one', async () => {
  const { database, clock, first, raise, digests, meanwhile } = await start(() => true);
  const id = await addPerson(database);
  await raise(id, 'The first.');
  clock.now += 7 * DAY_MS;
  meanwhile.push(() => raise(id, 'The second.'));
  await first.look();
  clock.now += 7 * DAY_MS;
  await first.look();
  const [before, after, ...others] = await digests(id);
  expect(before).toContain('The first.');
  expect(before).not.toContain('The second.');
  expect(after).toContain('The second.');
  expect(others).toEqual([]);
});

test('an incident at the moment at which a week ends is in the next digest alone', async () => {
  const { database, clock, first, raise, digests } = await start(() => true);
  const id = await addPerson(database);
  clock.now += 7 * DAY_MS;
  await raise(id, 'At the end.');
  // Raising takes a moment before and one after it.
  clock.now -= 1;
  await first.look();
  expect(await digests(id)).toEqual([]);
  clock.now += 7 * DAY_MS;
  await first.look();
  expect(await digests(id)).toHaveLength(1);
});

// proves: attack-D.20-3
test('more people than a statement takes values have their digests, each once', { timeout: 120_000 }, async () => {
  // Values of a statement: 32,766 in SQLite, 65,535 in PostgreSQL.
  const people = isPostgres() ? 70_000 : 35_000;
  const premium = new Set(['person-1', 'person-17000', `person-${people}`]);
  const { database, clock, first, server, raise } = await start((id) => premium.has(id));
  // Both databases make rows from rows.
  const numbers = sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${people})`;
  await sql`insert into users (id, email, username, username_key, password_hash, role, created_at)
    ${numbers} select 'person-' || n, 'person-' || n || '@example.com', 'person-' || n, 'person-' || n, 'none', 'customer', '2026-11-20' from numbers`.execute(
    database,
  );
  await raise('person-1', 'One of many.');
  const [row] = await database.selectFrom('alerts').selectAll().execute();
  const others = Object.keys(row ?? {}).filter((column) => !['id', 'user_id', 'last_id', 'dedupe_key'].includes(column));
  const columns = sql.join(others.map((column) => sql.ref(column)));
  await sql`insert into alerts (id, user_id, last_id, dedupe_key, ${columns})
    ${numbers} select 'alert-' || n, 'person-' || n, 'alert-' || n, 'key-' || n, ${columns} from numbers, alerts
    where n > 1 and alerts.user_id = 'person-1'`.execute(database);
  clock.now += 8 * DAY_MS;
  await Promise.all([first.look(), server().look()]);
  const digest = await database.selectFrom('alert_digest').selectAll().executeTakeFirstOrThrow();
  expect(digest).toMatchObject({ until: null, since: new Date(clock.now).toISOString() });
  const written = await database.selectFrom('mails').select('recipient').where('priority', '=', 3).execute();
  expect(written.map(({ recipient }) => recipient).toSorted()).toEqual([...premium].map((id) => `${id}@example.com`).toSorted());
});
