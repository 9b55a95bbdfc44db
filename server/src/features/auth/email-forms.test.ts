import { forgotPassword, login, register } from '@palisade/contract/auth';
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

  test('may have every symbol in front of its domain', async () => {
    const body = { email: "o'brien+home/x=1!#$%&*?^_`{|}~@example.com", username: 'brien', password: PASSWORD };
    expect(replyOf(await call(register, { body })).email).toBe(body.email);
  });
});
