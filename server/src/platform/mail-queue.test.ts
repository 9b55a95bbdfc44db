import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startTestApp } from '#test/harness.ts';
import { type SmtpServer, startSmtpServer } from '#test/smtp-server.ts';
import { createMail, type Mail } from './mail.ts';

// A bound for a busy machine: the awaited state comes within seconds.
const patience = { timeout: 100_000, interval: 5 };

describe('the queue of mails', { timeout: 120_000 }, async () => {
  const { app } = await startTestApp({ surroundings: { every_ms: { digests: 3_600_000 } } });
  const smtp = await startSmtpServer();
  const broken = await startSmtpServer();
  const database = app.database.$pickTables<'mails' | 'installation'>();
  let clock = Date.parse('2026-11-20T10:00:00Z');

  /** One of the servers that send what lies in the table. */
  function start(at: SmtpServer = smtp): Mail {
    const mail = createMail({
      database,
      server: { url: at.url, from: 'no-reply@example.com' },
      now: () => clock,
      logger: pino({ level: 'silent' }),
      look_ms: 3_600_000,
    });
    onTestFinished(() => mail.close());
    return mail;
  }
  type Letter = Parameters<Mail['queue']>[1];
  const letter = (recipient: string, priority?: Letter['priority']): Letter => ({
    recipient: `${recipient}@example.com`,
    subject: 'a letter',
    lines: ['Hello.'],
    ...(priority === undefined ? {} : { priority }),
  });
  const many = (name: string, count: number, priority?: Letter['priority']) =>
    Array.from({ length: count }, (_, index) => letter(`${name}-${index}`, priority));
  const receivedBy = (name: string) => smtp.received.map(({ to }) => to).filter((to) => to.startsWith(name));
  const stateOf = (recipient: string) =>
    database
      .selectFrom('mails')
      .select(['attempts', 'sent_at', 'next_attempt_at', 'last_error'])
      .where('recipient', '=', `${recipient}@example.com`)
      .executeTakeFirstOrThrow();

  // proves: attack-D.20-1
  test('has a reset wait for the letters that are on their way alone, however many digests came before', async () => {
    const mail = start();
    await mail.queueAll(database, many('digest', 300, 'digest'));
    mail.wake();
    await vi.waitFor(() => expect(smtp.received.length).toBeGreaterThan(30), patience);
    await mail.queue(database, letter('notice'));
    await mail.queue(database, letter('reset', 'proof'));
    const before = smtp.received.length;
    mail.wake();
    await vi.waitFor(() => expect(receivedBy('reset')).toHaveLength(1), patience);
    const place = smtp.received.findIndex(({ to }) => to.startsWith('reset'));
    // Ten are on their way at once; as many may have been claimed while the next one was looked up.
    expect(place - before).toBeLessThanOrEqual(25);
    await vi.waitFor(() => expect(receivedBy('digest')).toHaveLength(300), patience);
    expect(smtp.received.findIndex(({ to }) => to.startsWith('notice'))).toBeLessThan(150);
  });

  test('is sent by two servers together, each letter once', async () => {
    const name = `both-${randomBytes(4).toString('hex')}`;
    const servers = [start(), start()];
    await servers[0]?.queueAll(database, many(name, 200));
    for (const server of servers) server.wake();
    await vi.waitFor(async () => {
      const left = await database.selectFrom('mails').select('id').where('sent_at', 'is', null).execute();
      expect(left).toHaveLength(0);
    }, patience);
    expect(receivedBy(name)).toHaveLength(200);
    expect(new Set(receivedBy(name)).size).toBe(200);
  });

  test("keeps a server's claimed letters from others, and gives them to others when that server was killed", async () => {
    broken.holdLetters();
    const killed = start(broken);
    await killed.queue(database, letter('held'));
    killed.wake();
    await vi.waitFor(() => expect(broken.received.map(({ to }) => to)).toContain('held@example.com'), patience);
    const other = start();
    clock += 120_000;
    await other.queue(database, letter('later'));
    other.wake();
    await vi.waitFor(() => expect(receivedBy('later')).toHaveLength(1), patience);
    expect(receivedBy('held')).toHaveLength(0);
    clock += 61_000;
    other.wake();
    await vi.waitFor(() => expect(receivedBy('held')).toHaveLength(1), patience);
    // The first one's later outcome is ignored.
    await vi.waitFor(async () => expect((await stateOf('held')).sent_at).not.toBeNull(), patience);
    broken.dropAll();
    await killed.close();
    expect(await stateOf('held')).toMatchObject({ attempts: 2, next_attempt_at: null, last_error: null });
  });

  test('continues past recipients that are refused, for now or for good', async () => {
    const mail = start();
    smtp.answerRecipients((to) =>
      to.startsWith('grey') ? '451 try later' : to.startsWith('gone') ? '550 nobody here' : '250 ok',
    );
    await mail.queueAll(database, [...many('grey', 5), ...many('gone', 5), ...many('fine', 20)]);
    mail.wake();
    await vi.waitFor(() => expect(receivedBy('fine')).toHaveLength(20), patience);
    const ended = (recipient: string) =>
      vi.waitFor(async () => expect((await stateOf(recipient)).last_error).not.toBeNull(), patience);
    await ended('gone-4');
    await ended('grey-4');
    expect(await stateOf('gone-0')).toMatchObject({ attempts: 1, next_attempt_at: null });
    expect(await stateOf('grey-0')).toMatchObject({ attempts: 1, next_attempt_at: new Date(clock + 10_000).toISOString() });
    smtp.answerRecipients('250 ok');
    clock += 10_000;
    mail.wake();
    await vi.waitFor(() => expect(receivedBy('grey')).toHaveLength(5), patience);
    expect(receivedBy('gone')).toHaveLength(0);
  });

  test('leaves a mail server alone that cannot be reached, and uses up no letters meanwhile', async () => {
    broken.dropAll();
    broken.stopListening();
    const mail = start(broken);
    await mail.queueAll(database, many('waiting', 100, 'digest'));
    mail.wake();
    await vi.waitFor(async () => {
      const tried = await database.selectFrom('mails').select('id').where('last_error', 'like', '%ECONNREFUSED%').execute();
      expect(tried.length).toBeGreaterThan(0);
    }, patience);
    for (let look = 0; look < 20; look += 1) {
      mail.wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await mail.close();
    const tried = await database
      .selectFrom('mails')
      .select('id')
      .where('recipient', 'like', 'waiting%')
      .where('attempts', '>', 0)
      .execute();
    expect(tried.length).toBeLessThanOrEqual(20);
  });
});
