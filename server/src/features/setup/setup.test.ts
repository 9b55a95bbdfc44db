import { forgotPassword, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { readConfig } from '@palisade/contract/platform';
import { setupConfig, setupPayloadSchema } from '@palisade/contract/setup';
import { expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';

const app = await startTestApp();
const { call } = app;
const boss = await app.registerAndSignIn();
const customer = await app.registerAndSignIn();

const CLIENT = {
  company_name: 'Harbour IT',
  support_phone: '+1 800 555 0199',
  support_email: 'help@harbour.example',
  support_promise: 'Answers within a day',
};
const payload = (client_info: Record<string, string> = {}) => ({
  client_info: { ...CLIENT, ...client_info },
  setup_type: 'basic_installation' as const,
  timestamp: '2026-11-20T10:00:00.000Z',
});

test('before it the product’s own name stands for the provider', async () => {
  expect(replyOf(await call(readConfig))).toMatchObject({ provider_name: 'Palisade', support: { phone: '', email: '' } });
});

test('name and contact appear to everybody and in mails from then on, as typed', async () => {
  const company_name = `<script>alert('x')</script>`;
  const body = payload({ company_name: `  ${company_name}  ` });
  expect(replyOf(await call(setupConfig, { token: boss.token, body }))).toEqual({ success: true });
  expect(replyOf(await call(readConfig))).toMatchObject({
    provider_name: company_name,
    support: { phone: CLIENT.support_phone, email: CLIENT.support_email, promise: 'Answers within a day' },
  });
  const { reset_token } = replyOf(await call(forgotPassword, { body: { email: customer.email } }));
  await call(resetPassword, { body: { reset_token: reset_token ?? '', new_password: 'another long password' } });
  const [mail] = replyOf(await call(listOutbox, { token: boss.token }));
  expect(mail?.subject).toBe(`${company_name}: Your password was changed`);
  expect(mail?.text).toContain(`${company_name}\nSupport: ${CLIENT.support_phone}, ${CLIENT.support_email}`);
});

test('doing it again replaces it; phone and email may be blank', async () => {
  const body = payload({ support_phone: '', support_email: ' ' });
  expect((await call(setupConfig, { token: boss.token, body })).status).toBe(200);
  expect(replyOf(await call(readConfig))).toMatchObject({ provider_name: 'Harbour IT', support: { phone: '', email: '' } });
});

test.each([
  ['a blank company name', payload({ company_name: '   ' })],
  ['an over-long company name', payload({ company_name: 'x'.repeat(81) })],
  ['a company name of two lines', payload({ company_name: 'Harbour\r\nBcc: all@example.com' })],
  ['an over-long phone', payload({ support_phone: '1'.repeat(41) })],
  ['an over-long email', payload({ support_email: 'x'.repeat(255) })],
  ['a number for a name', { ...payload(), client_info: { ...CLIENT, company_name: 7 } }],
  ['no client info', { ...payload(), client_info: undefined }],
  ['another setup type', { ...payload(), setup_type: 'full_installation' }],
  ['a time that is none', { ...payload(), timestamp: 'yesterday' }],
])('%s is refused', (_, body) => {
  expect(setupPayloadSchema.safeParse(body).success).toBe(false);
});
