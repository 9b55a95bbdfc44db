import { asWritten } from '@palisade/contract/alert-phrases';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import type { Incident } from '#platform/incident.ts';
import { createJobs } from '#platform/jobs/jobs.ts';
import { createMail } from '#platform/mail.ts';
import type { App } from '#server/app.ts';
import { isPostgres, startTestApp } from '#test/harness.ts';
import { createAlertMails } from './alert-mails.ts';
import type { AlertTables } from './alerts.tables.ts';

const DAY_MS = 86_400_000;

/** The jobs of one of the servers, which looks all the time. */
const digestJobs = (app: App) =>
  createJobs({
    database: app.database.$pickTables<'jobs'>(),
    logger: pino({ level: 'silent' }),
    look_ms: 20,
    every_ms: { digests: 20 },
  });

/** The first week has begun, and later digests are for the servers of a test alone. */
async function leaveDigests(app: App): Promise<void> {
  const begun = () => app.database.selectFrom('alert_digest').select('id').executeTakeFirstOrThrow();
  await vi.waitFor(begun);
  app.announceStop();
}

test('incidents during the writing of a digest are in the next one', async () => {
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const { app, signIn } = await startTestApp({ surroundings: { now, every_ms: { digests: DAY_MS } } });
  await leaveDigests(app);
  const { email } = await signIn();
  const user = await app.database.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirstOrThrow();
  const logger = pino({ level: 'silent' });
  const mail = createMail({ database: app.database.$pickTables<'mails' | 'installation'>(), server: undefined, now, logger });
  const raise = async (description: string) => {
    clock.now += 1;
    const at = new Date(clock.now).toISOString();
    const incident: Incident = {
      ...{ rule: 'brute_force.pair', key: description, user_id: user.id, threat_type: 'brute_force', severity: 'low' },
      ...{ phrase: asWritten(description), at, outcome: 'blocked', ip_address: null, browser_id: null, session_id: null },
      evidence: { threshold: asWritten('One.'), events: [] },
    };
    await app.alerts.raise(incident);
    clock.now += 1;
  };
  const digests = async () =>
    (await app.database.selectFrom('mails').select('text').where('subject', 'like', '%weekly security summary').execute()).map(
      ({ text }) => text ?? '',
    );
  /** Writes the digest of a week; `meanwhile` happens when the alerts have been read. */
  async function passWeek(meanwhile: () => Promise<void>): Promise<string> {
    clock.now += 7 * DAY_MS;
    const before = (await digests()).length;
    const jobs = digestJobs(app);
    createAlertMails({
      database: app.database.$pickTables<keyof AlertTables | 'mails' | 'installation'>(),
      mail,
      jobs,
      accounts: { findUsers: () => Promise.resolve([user]) },
      premium: {
        async current() {
          await meanwhile();
          return { is_premium: true };
        },
      },
      ...{ public_url: undefined, now },
    });
    await jobs.start();
    await vi.waitFor(async () => expect(await digests()).toHaveLength(before + 1));
    await jobs.close();
    return (await digests()).at(-1) ?? '';
  }

  await raise('The first.');
  expect(await passWeek(() => raise('The second.'))).toContain('The first.');
  expect(await passWeek(() => Promise.resolve())).toContain('The second.');
});

// proves: attack-D.20-3
test('more people than a statement takes values have their digests, each once', { timeout: 120_000 }, async () => {
  // Values of a statement: 32,766 in SQLite, 65,535 in PostgreSQL.
  const people = isPostgres() ? 70_000 : 35_000;
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const { app } = await startTestApp({ surroundings: { now, every_ms: { digests: DAY_MS } } });
  await leaveDigests(app);
  const seen = new Date(clock.now + DAY_MS).toISOString();
  // Both databases make rows from rows.
  const numbers = sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${people})`;
  await sql`insert into users (id, email, username, username_key, password_hash, role, created_at)
    ${numbers} select 'person-' || n, 'person-' || n || '@example.com', 'person-' || n, 'person-' || n, 'none', 'customer', ${seen} from numbers`.execute(
    app.database,
  );
  const logger = pino({ level: 'silent' });
  const mail = createMail({ database: app.database.$pickTables<'mails' | 'installation'>(), server: undefined, now, logger });
  const template = { rule: 'brute_force.pair', threat_type: 'brute_force', severity: 'low' } as const;
  const incident: Incident = {
    ...{ ...template, key: 'one', user_id: 'person-1', phrase: asWritten('One of many.'), at: seen, outcome: 'blocked' },
    ...{ ip_address: null, browser_id: null, session_id: null, evidence: { threshold: asWritten('One.'), events: [] } },
  };
  await app.alerts.raise(incident);
  const [row] = await app.database.selectFrom('alerts').selectAll().where('user_id', '=', 'person-1').execute();
  const others = Object.keys(row ?? {}).filter((column) => !['id', 'user_id', 'last_id', 'dedupe_key'].includes(column));
  const columns = sql.join(others.map((column) => sql.ref(column)));
  await sql`insert into alerts (id, user_id, last_id, dedupe_key, ${columns})
    ${numbers} select 'alert-' || n, 'person-' || n, 'alert-' || n, 'key-' || n, ${columns} from numbers, alerts
    where n > 1 and alerts.user_id = 'person-1'`.execute(app.database);
  const premium = new Set(['person-1', 'person-17000', `person-${people}`]);
  clock.now += 8 * DAY_MS;
  const servers = [digestJobs(app), digestJobs(app)];
  for (const jobs of servers) {
    createAlertMails({
      database: app.database.$pickTables<keyof AlertTables | 'mails' | 'installation'>(),
      mail,
      jobs,
      accounts: {
        findUsers: (ids) =>
          Promise.resolve(ids.map((id) => ({ id, username: id, email: `${id}@example.com`, role: 'customer' as const }))),
      },
      premium: { current: (id) => Promise.resolve({ is_premium: premium.has(id) }) },
      ...{ public_url: undefined, now },
    });
  }
  await Promise.all(servers.map((jobs) => jobs.start()));
  const digest = () => app.database.selectFrom('alert_digest').selectAll().executeTakeFirstOrThrow();
  await vi.waitFor(async () => expect(await digest()).toMatchObject({ until: null, since: new Date(clock.now).toISOString() }), {
    timeout: 100_000,
    interval: 50,
  });
  await Promise.all(servers.map((server) => server.close()));
  const written = await app.database.selectFrom('mails').select('recipient').where('priority', '=', 3).execute();
  expect(written.map(({ recipient }) => recipient).toSorted()).toEqual([...premium].map((id) => `${id}@example.com`).toSorted());
});
