import { forgotPassword, login, register } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { setupConfig } from '@palisade/contract/setup';
import { assignSubscription } from '@palisade/contract/subscription';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

const PASSWORD = 'a long enough password';
const SPELLINGS = [
  'name@bücher.example',
  'NAME@BÜCHER.Example.',
  'name@xn--bcher-kva.example',
  'ｎａｍｅ＠bu\u0308cher．example',
];

describe('an address of a domain beyond ASCII', async () => {
  const { call, signIn } = await startTestApp({ environment: { ADMIN_EMAILS: 'Chef@Müller.example' } });

  test('has one account, however it is spelled', async () => {
    const { token } = await signIn('boss');
    const [email = ''] = SPELLINGS;
    replyOf(await call(register, { body: { email, username: 'books', password: PASSWORD } }));
    for (const [place, spelling] of SPELLINGS.entries()) {
      const body = { email: spelling, username: `books ${place}`, password: PASSWORD };
      expect(problemOf(await call(register, { body })).code).toBe('email_taken');
      replyOf(await call(login, { body: { email: spelling, password: PASSWORD } }));
      replyOf(await call(forgotPassword, { body: { email: spelling } }));
      const plan = {
        plan_name: 'Home',
        price: 9.99,
        duration_months: 12 as const,
        max_devices: 1 as const,
        is_premium: false,
        features: ['Support'],
      };
      replyOf(await call(assignSubscription, { token, body: { user_email: spelling, ...plan } }));
    }
  });

  test('names an administrator in ADMIN_EMAILS', async () => {
    const body = { email: 'chef@xn--mller-kva.example', username: 'chef', password: PASSWORD };
    expect(replyOf(await call(register, { body })).role).toBe('admin');
  });

  test('is written in its own letters in mails and answers', async () => {
    const { token } = await signIn('second.boss', 'admin');
    const client_info = { company_name: 'Books', support_phone: '', support_email: 'help@xn--bcher-kva.example' };
    const timestamp = '2026-11-20T10:00:00.000Z';
    replyOf(await call(setupConfig, { token, body: { client_info, setup_type: 'basic_installation', timestamp } }));
    const given = {
      plan_name: 'Home',
      price: 1,
      duration_months: 1 as const,
      max_devices: 1 as const,
      is_premium: false,
      features: ['One'],
    };
    replyOf(await call(assignSubscription, { token, body: { user_email: 'name@bücher.example', ...given } }));
    const [mail] = replyOf(await call(listOutbox, { token }));
    expect(mail?.text).toContain('Support: help@bücher.example');
    const body = { user_email: 'none@xn--bcher-kva.example', ...given };
    expect(problemOf(await call(assignSubscription, { token, body })).detail).toContain('none@bücher.example');
  });

  test.each(['name@localhost', 'name@nas'])('of one label, such as %s, has an account', async (email) => {
    const body = { email, username: `single ${email.length}`, password: PASSWORD };
    expect(replyOf(await call(register, { body })).email).toBe(email);
    replyOf(await call(login, { body: { email: email.toUpperCase(), password: PASSWORD } }));
  });

  test('may have every symbol in front of its domain', async () => {
    const body = { email: "o'brien+home/x=1!#$%&*?^_`{|}~@example.com", username: 'brien', password: PASSWORD };
    expect(replyOf(await call(register, { body })).email).toBe(body.email);
  });
});
