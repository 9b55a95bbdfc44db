import { afterAll, describe, expect, test } from 'vitest';
import { COUNTERS, HIDDEN, WRAPPERS } from '#test/wrapped-links.ts';
import { findLinks } from './find-links.ts';
import { ScamCheck } from './scam-check.ts';
import { passingOf } from './through-others.ts';

const check = new ScamCheck();
afterAll(() => check.close());
const EVIL = 'https://paypa1-login.com/confirm';

function passingOfText(text: string) {
  const [link] = findLinks(text);
  return link === undefined ? undefined : passingOf(link.address.url, link.address.host);
}

describe.each(Object.entries(WRAPPERS))('%s', (_, wrap) => {
  test('shows its target', async () => {
    for (const url of [EVIL, 'https://www.example.org/a_b-c'])
      expect(passingOfText(wrap(url))?.targets.map((target) => new URL(target).hostname)).toEqual([new URL(url).hostname]);
    const { parts, verdict } = await check.checkText(`Sign in and confirm your details: ${wrap(EVIL)}`);
    expect(verdict).toBe('dangerous');
    expect(parts.links.map(({ host }) => host)).toContain('paypa1-login.com');
    expect(parts.links[0]?.trust).not.toBe('trusted');
  });
  test('is calm about an honest target', async () => {
    for (const url of ['https://www.paypal.com/activity', 'https://www.example.org/program'])
      expect((await check.checkText(`Here is the page that we spoke about: ${wrap(url)}`)).verdict).toBe('nothing_found');
  });
});

test.each([...HIDDEN])('%s hides its target, which is no alarm', async (link) => {
  expect(passingOfText(link)?.targets).toEqual([]);
  const { reasons, verdict } = await check.checkText(`Please pay the invoice within 14 days, today at the latest: ${link}`);
  expect(reasons.map(({ code }) => code)).toContain('hidden_target');
  expect(verdict).toBe('nothing_found');
});

test('gateways within gateways are read', async () => {
  const [first, second, third] = ['Safe Links', 'Proofpoint 3', 'Sophos'].map((name) => WRAPPERS[name]);
  const nested = first?.(second?.(third?.(EVIL) ?? '') ?? '') ?? '';
  expect((await check.checkText(`Sign in: ${nested}`)).verdict).toBe('dangerous');
});

test('Proofpoint 3 writes letters of other alphabets behind the address', () => {
  const letters = Buffer.from('éüö').toString('base64url');
  expect(passingOfText(`https://urldefense.com/v3/__https://example.org/caf*-**A__;${letters}!!AbC$`)?.targets).toEqual([
    'https://example.org/café-üö',
  ]);
});

test.each([
  'https://www.facebook.com/login',
  'https://wa.me/4915112345678',
  'https://www.google.com/search?q=weather',
  'https://t.me/news',
  'https://www.mimecast.com/products/',
  'https://mailchi.mp/shop/news',
])('%s goes through nobody', (link) => expect(passingOfText(link)).toBeUndefined());

describe.each(COUNTERS)('the counter %s', (link) => {
  const mail = (from: string) =>
    new TextEncoder().encode(
      `From: ${from}\r\nSubject: News\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>News</p><a href="${link}">www.paypal.com</a>`,
    );
  test('is calm in a letter of the organisation that the link shows', async () =>
    expect((await check.checkFile('a.eml', mail('PayPal <news@mail.paypal.com>'))).verdict).toBe('nothing_found'));
  test('differs from the shown address in a letter of another', async () =>
    expect((await check.checkFile('a.eml', mail('News <news@evil-host.net>'))).reasons.map(({ code }) => code)).toContain(
      'link_text_differs',
    ));
});
