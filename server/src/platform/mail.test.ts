import { forgotPassword, recoverUsername, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';
import { startSmtpServer } from '#test/smtp-server.ts';
import { backOff } from './mail.ts';

/** A server that mails, with an administrator and a person who forgets things. */
async function startMailing() {
  const smtp = await startSmtpServer();
  let clock = Date.parse('2026-11-20T10:00:00Z');
  const app = await startTestApp({
    environment: {
      EXPOSURE: 'public',
      PUBLIC_URL: 'https://shield.example.com',
      ADMIN_EMAILS: 'office@example.com',
      SMTP_URL: smtp.url,
    },
    surroundings: { now: () => clock, mail_look_ms: 10 },
  });
  const boss = await app.signIn('boss', 'admin');
  const maria = await app.signIn('maria');
  const outbox = async () => replyOf(await app.call(listOutbox, { token: boss.token }));
  /** The received letters without those that ask for a proof of an address: on a busy machine these go out before the harness has written the proof. */
  const letters = () => smtp.received.filter(({ content }) => !content.includes('Confirm your email address'));
  return {
    ...app,
    smtp,
    letters,
    maria,
    outbox,
    pass: (ms: number) => {
      clock += ms;
    },
  };
}

describe('mail', async () => {
  const { call, smtp, letters, maria, outbox, pass } = await startMailing();

  test('a reset token travels by mail, works once, and its text is not kept', async () => {
    expect(replyOf(await call(forgotPassword, { body: { email: maria.email } }))).toEqual({ reset_token: null, expires_in: 900 });
    await eventually(() => expect(letters()).toHaveLength(1));
    const letter = letters()[0];
    expect(letter).toMatchObject({ from: 'no-reply@shield.example.com', to: maria.email });
    expect(letter?.content).toMatch(/^From: Palisade <no-reply@shield\.example\.com>$/m);
    expect(letter?.content).toMatch(/^Subject: Palisade: Reset your password$/m);
    expect(letter?.content).toMatch(/^Content-Type: text\/plain/m);
    expect(letter?.content).toContain('https://shield.example.com/?mode=reset-password');
    const reset_token = /^([\w-]{43})$/m.exec(letter?.content ?? '')?.[1] ?? '';
    await eventually(async () => expect((await outbox())[0]).toMatchObject({ status: 'sent', text: null, attempts: 1 }));
    const body = { reset_token, new_password: 'another long password' };
    expect(replyOf(await call(resetPassword, { body }))).toEqual({ success: true });
    await eventually(() => expect(letters()).toHaveLength(2));
    expect(letters()[1]?.content).toContain('Your password was changed, and you were signed out');
  });

  // proves: asvs-16.5.2
  test('a mail server in trouble is asked again later, and the answer does not wait for it', async () => {
    smtp.answerRecipients('451 try again later');
    const before = letters().length;
    replyOf(await call(recoverUsername, { body: { email: maria.email } }));
    await eventually(async () => {
      const [mail] = await outbox();
      expect(mail).toMatchObject({ status: 'waiting', attempts: 1 });
      expect(mail?.last_error).toContain('451');
    });
    smtp.answerRecipients('250 ok');
    pass(9_000);
    // Another letter goes out, and so the outbox was looked at; the one that failed still waits.
    replyOf(await call(recoverUsername, { body: { email: 'boss@example.com' } }));
    await eventually(() => expect(letters().at(-1)?.to).toBe('boss@example.com'));
    // Waiting emails come before sent ones.
    const waiting = (await outbox()).find(({ recipient }) => recipient === maria.email);
    expect(waiting).toMatchObject({ status: 'waiting', attempts: 1 });
    pass(2_000);
    await eventually(() => expect(letters()).toHaveLength(before + 2));
    expect(letters().at(-1)?.content).toMatch(/^maria$/m);
    await eventually(async () => expect((await outbox())[1]).toMatchObject({ status: 'sent', attempts: 2, last_error: null }));
  });

  test('a recipient that is refused for good is given up, and says why', async () => {
    smtp.answerRecipients('550 no such person');
    replyOf(await call(recoverUsername, { body: { email: maria.email } }));
    await eventually(async () => {
      const [mail] = await outbox();
      expect(mail).toMatchObject({ status: 'failed', attempts: 1 });
      expect(mail?.last_error).toContain('550');
    });
    smtp.answerRecipients('250 ok');
  });
});

describe('the wait between attempts', () => {
  test.each([
    [1, 10_000],
    [2, 20_000],
    [9, 2_560_000],
    [10, 3_600_000],
    [15, 3_600_000],
    [16, undefined],
  ])('after attempt %i is %s ms', (attempts, wait) => {
    expect(backOff(attempts)).toBe(wait);
  });
});
