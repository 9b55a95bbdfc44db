import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createMail } from '#platform/mail.ts';
import { startTestApp } from '#test/harness.ts';
import { createAlertMails } from './alert-mails.ts';
import type { AlertTables } from './anti-hacking.tables.ts';
import type { Incident } from './incident.ts';

const DAY_MS = 86_400_000;

test('what happens while a digest is written is in the next one', async () => {
  const clock = { now: Date.parse('2026-11-20T10:00:00.000Z') };
  const now = () => clock.now;
  const { app, signIn } = await startTestApp({ surroundings: { now, digest_look_ms: DAY_MS } });
  const { email } = await signIn();
  const user = await app.database.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirstOrThrow();
  const logger = pino({ level: 'silent' });
  const mail = createMail({ database: app.database.$pickTables<'mails' | 'installation'>(), server: undefined, now, logger });
  const raise = async (description: string) => {
    clock.now += 1;
    const at = new Date(clock.now).toISOString();
    const incident: Incident = {
      ...{ rule: 'brute_force.pair', key: description, user_id: user.id, threat_type: 'brute_force', severity: 'low' },
      ...{ description, at, outcome: 'blocked', ip_address: null, device_id: null, session_id: null },
      evidence: { threshold: 'One.', events: [] },
    };
    await app.antiHacking.raise(incident);
    clock.now += 1;
  };
  const digests = async () =>
    (await app.database.selectFrom('mails').select('text').where('subject', 'like', '%week in security').execute()).map(
      ({ text }) => text ?? '',
    );
  /** Writes the digest of a week; `meanwhile` happens when the alerts have been read. */
  async function passWeek(meanwhile: () => Promise<void>): Promise<string> {
    clock.now += 7 * DAY_MS;
    const before = (await digests()).length;
    const mails = createAlertMails({
      database: app.database.$pickTables<keyof AlertTables | 'mails' | 'installation'>(),
      mail,
      accounts: { findUsers: () => Promise.resolve([user]) },
      premium: {
        async current() {
          await meanwhile();
          return { is_premium: true };
        },
      },
      ...{ public_url: undefined, now, logger },
    });
    await vi.waitFor(async () => expect(await digests()).toHaveLength(before + 1));
    await mails.close();
    return (await digests()).at(-1) ?? '';
  }

  await raise('The first.');
  expect(await passWeek(() => raise('The second.'))).toContain('The first.');
  expect(await passWeek(() => Promise.resolve())).toContain('The second.');
});
