import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { afterAll, describe, expect, test } from 'vitest';
import { isEmailSource } from './email.ts';
import { readHtml } from './html-text.ts';
import { ScamCheck } from './scam-check.ts';
import type { Resolve } from './surroundings.ts';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const none = () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' }));
const resolve: Resolve = (name, type) =>
  type === 'TXT' && /^s\._domainkey\.(?:example\.com|evil-host\.net)$/u.test(name) ? Promise.resolve([[KEY]]) : none();

const check = new ScamCheck();
const withDns = new ScamCheck({ resolve });
const withoutAnswer = new ScamCheck({ resolve: () => Promise.reject(Object.assign(new Error('down'), { code: 'ESERVFAIL' })) });
afterAll(() => {
  for (const one of [check, withDns, withoutAnswer]) one.close();
});

const letter = (from = 'Maria <maria@example.com>', body = 'Hello', more = '') =>
  `${more}From: ${from}\r\nTo: <ada@example.net>\r\nSubject: Hello\r\nDate: Thu, 26 Nov 2026 10:00:00 +0000\r\n\r\n${body}\r\n`;

const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

async function signaturesOf(mail: string, names: readonly { signingDomain: string; selector: string }[]): Promise<string> {
  const signatureData = names.map((one) => ({ ...one, privateKey: PEM }));
  const [key = { signingDomain: '', selector: '', privateKey: PEM }] = signatureData;
  return (await dkimSign(mail, { canonicalization: 'relaxed/relaxed', ...key, signatureData })).signatures;
}

async function signed(mail: string, signingDomain = 'example.com'): Promise<string> {
  return `${await signaturesOf(mail, [{ signingDomain, selector: 's' }])}${mail}`;
}

const proofOf = async (mail: string, by = withDns) =>
  (await by.checkFile('a.eml', new TextEncoder().encode(mail))).parts.sender?.proof;

describe('the signature of an email', () => {
  test('proves the sender when it holds and is of the sender’s domain', async () =>
    expect(await proofOf(await signed(letter()))).toBe('proven'));
  test('fails when the email was changed', async () =>
    expect(await proofOf((await signed(letter())).replace('Hello\r\n', 'Hallo\r\n').replace(/Hello\r\n$/u, 'Pay\r\n'))).toBe(
      'failed',
    ));
  test('of another domain proves nothing', async () =>
    expect(await proofOf(await signed(letter(), 'evil-host.net'))).toBe('unsigned'));
  test('is missing', async () => expect(await proofOf(letter())).toBe('unsigned'));
  test('is not checked without the DNS', async () => expect(await proofOf(await signed(letter()), check)).toBe('not_checked'));
  test('is not checked when the DNS does not answer', async () =>
    expect(await proofOf(await signed(letter()), withoutAnswer)).toBe('not_checked'));
  test('of a pasted email is not checked', async () => {
    const { parts, checked } = await withDns.checkText(await signed(letter()));
    expect(parts.sender?.proof).toBe('not_checked');
    expect(checked.find(({ part }) => part === 'signature')).toMatchObject({ state: 'not_checked', code: 'pasted' });
  });
  test('that failed is a reason', async () => {
    const mail = (await signed(letter())).replace(/Hello\r\n$/u, 'Pay\r\n');
    const { reasons } = await withDns.checkFile('a.eml', new TextEncoder().encode(mail));
    expect(reasons.map(({ code }) => code)).toContain('signature_failed');
  });
});

test('a text with many folded lines is no email source, whatever ends its lines', () => {
  // A pattern that may take the return in two ways doubles its steps with each line.
  for (const end of ['\n', '\r\n'])
    for (const lines of [1, 1_000, 5_000]) expect(isEmailSource(`Subject: x${end}${` y${end}`.repeat(lines)}!`)).toBe(false);
});

describe('questions to the DNS', () => {
  const domains = fc.constantFrom(
    'example.com',
    'mail.example.com',
    'EXAMPLE.com',
    'example.net',
    'evil-host.net',
    'com',
    'co.uk',
  );
  const signatures = fc.array(fc.record({ signingDomain: domains, selector: fc.stringMatching(/^[a-z]{1,8}$/) }), {
    minLength: 1,
    maxLength: 12,
  });

  async function asked(mail: string, mayAskDns: boolean): Promise<string[]> {
    const names: string[] = [];
    const recording = new ScamCheck({
      resolve: (name, type) => {
        names.push(`${type} ${name.toLowerCase()}`);
        return none();
      },
    });
    const one = recording.forPerson({ mayAskDns });
    await one.checkFile('a.eml', new TextEncoder().encode(mail));
    await one.checkText(mail);
    recording.close();
    return names;
  }

  test('are for two keys of the sender’s domain at most, and none without permission', async () => {
    let most = 0;
    await fc.assert(
      fc.asyncProperty(signatures, fc.boolean(), async (names, hasArc) => {
        const plain = letter('Maria <maria@mail.example.com>');
        const written = await signaturesOf(plain, names);
        const [first = ''] = written.split(/(?=DKIM-Signature:)/u);
        const arc = `ARC-Seal: i=1; a=rsa-sha256; cv=none; d=example.com; s=seal; b=AAAA\r\n${first
          .replace('DKIM-Signature:', 'ARC-Message-Signature: i=1;')
          .replace(/ s=[a-z]+;/u, ' s=arcs;')}ARC-Authentication-Results: i=1; mx.example\r\n`;
        const mail = `${hasArc ? arc : ''}${written}${plain}`;
        expect(await asked(mail, false)).toEqual([]);
        const questions = await asked(mail, true);
        most = Math.max(most, questions.length);
        expect(questions.length).toBeLessThanOrEqual(2);
        for (const name of questions) expect(name).toMatch(/^TXT [a-z]+\._domainkey\.(?:mail\.)?example\.com$/u);
        expect(questions.filter((name) => /arcs|seal/u.test(name))).toEqual([]);
      }),
      { numRuns: 40 },
    );
    expect(most).toBe(2);
  });

  test('of a mail within another one are none', async () => {
    const inner = await signed(letter());
    const outer = `From: Ada <ada@example.org>\r\nSubject: Fwd\r\nContent-Type: message/rfc822\r\n\r\n${inner}`;
    expect(await asked(outer, true)).toEqual([]);
  });

  test('end before a third signature of the sender, and the answer says so', async () => {
    const signatures = await Promise.all(
      ['a', 'b', 's'].map((selector) => signaturesOf(letter(), [{ signingDomain: 'example.com', selector }])),
    );
    const answer = await withDns.checkFile('a.eml', new TextEncoder().encode(signatures.join('') + letter()));
    expect(answer.parts.sender?.proof).toBe('not_checked');
    expect(answer.checked.find(({ part }) => part === 'signature')).toMatchObject({ code: 'more_signatures' });
  });
});

test.each([
  'Authentication-Results: mx.example; dkim=pass header.d=example.com; dmarc=pass header.from=example.com\r\n',
  'ARC-Authentication-Results: i=1; x; dkim=pass\r\n',
  'Received-SPF: pass\r\n',
])('claims of an email about itself are not believed: %j', async (claim) => {
  for (const by of [check, withDns, withoutAnswer]) {
    expect(await proofOf(letter(undefined, undefined, claim), by)).not.toBe('proven');
    expect((await by.checkText(letter(undefined, undefined, claim))).parts.sender?.proof).not.toBe('proven');
  }
});

test('two senders are not proven by the signature of one', async () => {
  const mail = await signed(letter('Maria <maria@example.com>, PayPal <service@paypal.com>'));
  expect(await proofOf(mail)).not.toBe('proven');
});

test('tells the source of an email from a text', () => {
  expect(isEmailSource(letter())).toBe(true);
  expect(isEmailSource('From: Monday on the shop is open.\n\nSee you')).toBe(false);
  expect(isEmailSource('Subject: hello\nto you')).toBe(false);
});

describe('HTML', () => {
  test('gives words and links, without what is not shown', () => {
    const { text, links } = readHtml(
      '<style>x</style><p>Pay <b>now</b></p><div style="display:none">hidden <div>more</div></div><a href="https://a.example/x">Click<br>here</a>',
    );
    expect(text).toBe('Pay now\nClick\nhere');
    expect(links).toEqual([{ href: 'https://a.example/x', label: 'Clickhere' }]);
  });
  test('keeps the description of a picture that is a link', () => {
    expect(readHtml('<a href="https://a.example"><img alt="Your bank"></a>').links[0]?.label).toBe('Your bank');
  });
  test.each([
    ['<a href="/login">x</a><base href="https://a.example/b/">', 'https://a.example/login'],
    ['<head><base href="//a.example/b/"></head><a href="c">x</a>', 'https://a.example/b/c'],
    ['<base href="https://first.example/"><base href="https://second.example/"><a href="c">x</a>', 'https://first.example/c'],
    ['<a href="//a-b.com/c">x</a>', 'https://a-b.com/c'],
    ['<a href="a-b.com/c">x</a>', 'http://a-b.com/c'],
    ['<a href="a-b.com:8080/c">x</a>', 'http://a-b.com:8080/c'],
    ['<a href=" HTTPS://A-B.com ">x</a>', 'HTTPS://A-B.com'],
    ['<svg><a xlink:href="https://a-b.com/c"><text>x</text></a></svg>', 'https://a-b.com/c'],
    ['<map><area href="https://a-b.com/c"></map>', 'https://a-b.com/c'],
    ['<form><button formaction="https://a-b.com/c">x</button></form>', 'https://a-b.com/c'],
    ['<form><input type="submit" formaction="https://a-b.com/c" value="Sign in"></form>', 'https://a-b.com/c'],
    ['<head><meta http-equiv="Refresh" content="0; URL=\'https://a-b.com/c\'"></head>', 'https://a-b.com/c'],
    ['<meta http-equiv="refresh" content="3;https://a-b.com/c">', 'https://a-b.com/c'],
  ])('resolves a link as a mail program does: %s', (source, href) =>
    expect(readHtml(source).links.map((link) => link.href)).toEqual([href]),
  );
  test.each(['<a href="#top">x</a>', '<a href="/login">x</a>', '<a href="page.html">x</a>', '<meta charset="utf-8">'])(
    '%s leads nowhere',
    (source) => expect(readHtml(source).links).toEqual([]),
  );
  test('reads a form’s address as a link', () =>
    expect(readHtml('<form action="https://a.example/p"><input></form>').links).toHaveLength(1));
});

test('a dangerous email names sender, link and what is asked', async () => {
  const mail = letter(
    'PayPal <support@evil-host.net>',
    'Your account was limited. Verify your password at https://paypa1-login.com/ within 24 hours.',
  );
  const { verdict, reasons, parts, kind } = await check.checkFile('a.eml', new TextEncoder().encode(mail));
  expect({ verdict, kind }).toEqual({ verdict: 'dangerous', kind: 'email' });
  expect(reasons.map(({ code }) => code)).toEqual(
    expect.arrayContaining(['sender_name_differs', 'brand_in_address', 'intent_bank']),
  );
  expect(parts.links[0]).toMatchObject({ host: 'paypa1-login.com', imitates: 'PayPal', trust: 'suspicious' });
  expect(parts.asks.map(({ kind: ask }) => ask)).toEqual(expect.arrayContaining(['login', 'card']));
});
