import { gunzipSync } from 'node:zlib';
import { forgotPassword, resetPassword } from '@palisade/contract/auth';
import { listOutbox } from '@palisade/contract/mail';
import { readConfig } from '@palisade/contract/platform';
import { checkedLogoSchema, setupConfig, setupPayloadSchema } from '@palisade/contract/setup';
import { PNG } from 'pngjs';
import { describe, expect, test } from 'vitest';
import { builtWeb } from '#test/built-web.ts';
import { replyOf, startTestApp } from '#test/harness.ts';

const app = await startTestApp({ surroundings: { web_folder: builtWeb() } });
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
  ['a color in words', { ...payload(), brand: { accent: 'red' } }],
  ['a logo as a text', { ...payload(), brand: { logo: '<svg/>' } }],
  ['a time that is none', { ...payload(), timestamp: 'yesterday' }],
])('%s is refused', (_, body) => {
  expect(setupPayloadSchema.safeParse(body).success).toBe(false);
});

describe('the look of the installation', () => {
  const LOGO = new PNG({ width: 600, height: 120 });
  LOGO.data.fill(Buffer.from([200, 30, 90, 255]));
  const file = PNG.sync.write(LOGO);

  function check(bytes: Uint8Array<ArrayBuffer>, token = boss.token): Promise<Response> {
    const form = new FormData();
    form.append('file', new Blob([bytes]), 'logo.png');
    return app.fetch('/api/admin/check-logo', { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: form });
  }
  const brandNow = async () => replyOf(await call(readConfig)).brand;

  test('a checked logo and a color are saved with the rest, and served to people who are signed out', async () => {
    const checked = checkedLogoSchema.parse(await (await check(new Uint8Array(file))).json());
    expect(checked).toMatchObject({ width: 480, height: 96, on: 'any' });
    expect(await brandNow()).toEqual({ accent: null, logo: null });
    const brand = { accent: '#c81e5a', logo: checked.png };
    expect((await call(setupConfig, { token: boss.token, body: { ...payload(), brand } })).status).toBe(200);
    const { accent, logo } = (await brandNow()) ?? {};
    expect(accent).toBe('#c81e5a');
    expect(logo?.path).toMatch(/^\/api\/logo\/[\da-f]{16}\.png$/u);
    const served = await app.fetch(logo?.path ?? '');
    expect(Buffer.from(await served.arrayBuffer()).toString('base64')).toBe(checked.png);
    expect(Object.fromEntries(served.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'cross-origin',
    });
    const again = await app.fetch(logo?.path ?? '', { headers: { 'if-none-match': served.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
    // An address from an earlier mail.
    expect((await app.fetch('/api/logo/00.png')).headers.get('cache-control')).toBe('public, max-age=3600');
  });

  test('the page has the look in its head, in every encoding, and one tag for each look', async () => {
    const page = await app.fetch('/dashboard', { headers: { 'accept-encoding': 'gzip' } });
    expect(page.headers.get('content-encoding')).toBe('gzip');
    const html = gunzipSync(Buffer.from(await page.arrayBuffer())).toString();
    expect(html).toMatch(/<style id="accent" data-color="#c81e5a">:root\[data-mantine-color-scheme="dark"\]\{--accent:#/u);
    expect(html).toMatch(/<link id="logo" rel="preload" as="image" href="\/api\/logo\/[\da-f]{16}\.png" data-width="480"/u);
    expect(await (await app.fetch('/')).text()).toBe(html);
    const again = await app.fetch('/antivirus', { headers: { 'if-none-match': page.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  test('the icons of the tab, of an installation and of notices are those of the logo', async () => {
    const get = (name: string) => app.fetch(`/icons/${name}`);
    for (const [name, side, edge] of [
      ['icon-192.png', 192, 0],
      ['icon-512.png', 512, 0],
      ['icon-maskable-512.png', 512, 255],
    ] as const) {
      const answer = await get(name);
      expect(answer.headers.get('content-type')).toBe('image/png');
      const { data } = PNG.sync.read(Buffer.from(await answer.arrayBuffer()));
      expect(data).toHaveLength(side * side * 4);
      // The corner is the background, the middle the logo.
      expect(data[3]).toBe(edge);
      const middle = (side * side + side) * 2;
      expect([...data.subarray(middle, middle + 4)]).toEqual([200, 30, 90, 255]);
    }
    const html = await (await app.fetch('/')).text();
    expect(html).toMatch(/<link rel="icon" type="image\/png" sizes="192x192" href="\/icons\/icon-192\.png\?/u);
    expect(html).not.toContain('favicon.svg');
    expect((await get('icon-1.png')).status).toBe(404);
  });

  test('a call without the look leaves it as it is, and null goes back to the product’s', async () => {
    expect((await call(setupConfig, { token: boss.token, body: payload() })).status).toBe(200);
    const before = await brandNow();
    expect(before?.logo).not.toBeNull();
    await call(setupConfig, { token: boss.token, body: { ...payload(), brand: { logo: null } } });
    expect(await brandNow()).toEqual({ accent: '#c81e5a', logo: null });
    expect((await app.fetch(before?.logo?.path ?? '')).status).toBe(404);
    expect(await (await app.fetch('/icons/icon-192.png')).text()).toBe('the icon of the build');
    await call(setupConfig, { token: boss.token, body: { ...payload(), brand: { accent: null } } });
    expect(await brandNow()).toEqual({ accent: null, logo: null });
    expect(await (await app.fetch('/')).text()).not.toContain('<style');
  });

  test('a refused logo says why at its field, and nothing is saved', async () => {
    const refused = await check(new Uint8Array(Buffer.from('<svg/>')));
    expect(await refused.json()).toMatchObject({
      errors: [{ field: 'file', message: 'This isn’t a PNG file. Save the logo as PNG and choose it again.' }],
    });
    expect((await check(new Uint8Array(600 * 1024))).status).toBe(422);
    const body = {
      ...payload({ company_name: 'Other' }),
      brand: { accent: '#000000', logo: Buffer.from('GIF89a').toString('base64') },
    };
    const answer = await call(setupConfig, { token: boss.token, body });
    expect(answer).toMatchObject({ status: 422, problem: { errors: [{ field: 'brand.logo' }] } });
    expect(replyOf(await call(readConfig))).toMatchObject({ provider_name: 'Harbour IT', brand: { accent: null, logo: null } });
  });
});
