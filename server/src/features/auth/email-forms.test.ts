import { register } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { setupConfig } from '@palisade/contract/setup';
import { assignSubscription } from '@palisade/contract/subscription';
import { expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';

test('an address of a domain beyond ASCII is written in its own letters in mails and answers', async () => {
  const { call, signIn } = await startTestApp();
  const { token } = await signIn('boss');
  replyOf(
    await call(register, { body: { email: 'name@bücher.example', username: 'books', password: 'a long enough password' } }),
  );
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
