import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { emailSchema } from './auth.ts';
import { addressIn, canonicalEmail, emailFault, typedEmail } from './email.ts';

test.each([
  ['Maria@Example.COM', 'maria@example.com'],
  ["o'brien@example.com", "o'brien@example.com"],
  ['!#$%&*+/=?^_`{|}~-.x@example.com', '!#$%&*+/=?^_`{|}~-.x@example.com'],
  ['first.last+tag@sub.example.co.uk', 'first.last+tag@sub.example.co.uk'],
  ['name@bücher.example', 'name@xn--bcher-kva.example'],
  ['name@BÜCHER.example', 'name@xn--bcher-kva.example'],
  ['name@bu\u0308cher.example', 'name@xn--bcher-kva.example'],
  ['name@XN--BCHER-KVA.example', 'name@xn--bcher-kva.example'],
  ['name@bücher.example.', 'name@xn--bcher-kva.example'],
  ['ｎａｍｅ＠ｂücher．example', 'name@xn--bcher-kva.example'],
  ['name@例え。テスト', 'name@xn--r8jz45g.xn--zckzah'],
  ['name@faß.example', 'name@xn--fa-hia.example'],
  ['name@xn--80ak6aa92e.xn--p1ai', 'name@xn--80ak6aa92e.xn--p1ai'],
  [' name@example.com \n', 'name@example.com'],
  ['a..b.@example.com', 'a..b.@example.com'],
  ['name@localhost', 'name@localhost'],
  ['Name@Nas.', 'name@nas'],
  ['name@bücher', 'name@xn--bcher-kva'],
])('the address %j is %j', (typed, email) => {
  expect(emailSchema.parse(typed)).toBe(email);
  expect(emailSchema.parse(email)).toBe(email);
});

test.each([
  'name',
  '@example.com',
  'name@',
  'name@-a.example',
  'name@a-.example',
  'na me@example.com',
  'name@exa mple.com',
  'name@127.0.0.1',
  'name@1.2.3',
  'name@1',
  'name@2130706433',
  'name@0x7f000001',
  'name@x.0x1',
  'name@１２７.0.0.1',
  'name@.',
  'name@.localhost',
  'name@[127.0.0.1]',
  'a@b@example.com',
  'name@bücher.example/x',
  'name@bücher.example:80',
  'name@b%C3%BC.example',
  'ünal@example.com',
  'name@bücher..example',
  `a@${'b'.repeat(64)}.example`,
  'name@ü\u200d.example',
  'name@example.com\u0000',
  'name,other@example.com',
  '"name"@example.com',
])('%j is no address', (typed) => {
  expect(emailSchema.safeParse(typed).success).toBe(false);
  expect(canonicalEmail(typed)).toBeUndefined();
});

/** Texts around a copied address, from programs, lists and sentences. */
const AROUND: readonly ((address: string) => string)[] = [
  (address) => `Erin Bar <${address}>`,
  (address) => `"Bar, Erin" <${address}>;`,
  (address) => `Erin Bar (${address})`,
  (address) => `Erin Bar [${address}],`,
  (address) => `<${address}>`,
  (address) => `${address} <${address}>`,
  (address) => `${address}<mailto:${address}>`,
  (address) => `'${address}' <${address}>`,
  (address) => `${address} (Erin Bar)`,
  (address) => `mailto:${address}`,
  (address) => `MailTo:${address}?subject=Hello%20there&cc=x@y.example`,
  (address) => `<mailto:${encodeURIComponent(address)}>`,
  (address) => `${address};`,
  (address) => `${address}, `,
  (address) => `; ${address}`,
  (address) => `${address}...`,
  (address) => `${address}:`,
  (address) => `\u201c${address}\u201d.`,
  (address) => `(${address})`,
  (address) => `${address}\uff1b`,
  (address) => `\ufeff${address}\u200b`,
  (address) => `\u202a${address}\u202c`,
  (address) => `\u2068${address}\u2069`,
  (address) => `\u00a0${address}\u3000\r\n`,
  (address) => `\u200d${address}\u200c`,
  (address) => address.replace('@', '\u200b@\u00ad'),
  (address) => address.replace('.', '\u2060.'),
];
const PASTED = [
  'maria@example.com',
  'Maria.Huber+tag@Mail.Example.co.uk',
  "o'brien@example.com",
  'name@b\u00fccher.example',
  'name@localhost',
];

test.each(AROUND.map((around) => [around('x@y.example'), around] as const))('takes the address out of %j', (_shown, around) => {
  for (const address of PASTED) {
    expect(typedEmail(around(address))).toBe(canonicalEmail(address));
    expect(emailSchema.parse(around(address))).toBe(canonicalEmail(address));
    expect(emailFault(around(address))).toBeUndefined();
  }
});

test('an address is left as it is spelled', () => {
  expect(addressIn('Erin <Maria@B\u00fccher.example>')).toBe('Maria@B\u00fccher.example');
  expect(addressIn("'name@example.com")).toBe("'name@example.com");
  expect(addressIn('nobody, really;')).toBe('nobody, really;');
});

test.each([
  ['name', 'Enter an email address, like name@example.com.'],
  ['maria@', 'Enter an email address, like name@example.com.'],
  ['Erin Bar <>', 'Enter an email address, like name@example.com.'],
  ['na me@example.com', 'Enter the email address alone, without spaces.'],
  ['Erin Bar x@y.example', 'Enter the email address alone, without spaces.'],
  ['x@y.example, z@w.example', 'Enter only one email address.'],
  ['Erin <x@y.example>; Bob <z@w.example>', 'Enter only one email address.'],
  ['x@y.example <z@w.example>', 'Enter only one email address.'],
  ['mailto:x@y.example,z@w.example', 'Enter only one email address.'],
  ['\u00fcnal@example.com', 'Use only letters from a to z, digits, and signs before the @.'],
  [`${'a'.repeat(250)}@example.com`, 'Use at most 254 characters for the email address.'],
])('%j: %s', (typed, sentence) => {
  expect(emailFault(typed)).toBe(sentence);
  expect(emailSchema.safeParse(typed).error?.issues[0]?.message).toBe(sentence);
});

test('names a fault exactly where it takes no address, and takes its own answer as it is', () => {
  const units = fc.constantFrom('x@y.example', 'Erin', 'mailto:', '%', ...'<>()[],;:.\' @\u200b\u00ad\u00fc"?'.split(''));
  fc.assert(
    fc.property(fc.string({ unit: units, maxLength: 12 }), (typed) => {
      const email = typedEmail(typed);
      expect(emailFault(typed) === undefined).toBe(email !== undefined);
      if (email !== undefined) expect(canonicalEmail(email)).toBe(email);
    }),
    { seed: 21, numRuns: 3_000 },
  );
});

// So no stored address has to be changed, and no two accounts become one.
test('every address that was taken before is stored as it was', () => {
  const before = z.string().trim().max(254).toLowerCase().pipe(z.email());
  const letters = fc.constantFrom(..."aZ09.-_+'@xn--bcher-kva.example.com".split(''));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.emailAddress(),
        fc.string({ unit: letters, maxLength: 40 }).map((text) => `${text}@${text}.example`),
      ),
      (typed) => {
        const known = before.safeParse(typed);
        // The pattern before took labels that no domain has: with a dash at their end, or longer than 63.
        if (known.success && !/-(?:\.|$)|[^.@]{64}/u.test(known.data.slice(known.data.indexOf('@'))))
          expect(emailSchema.parse(typed)).toBe(known.data);
      },
    ),
    { seed: 32, numRuns: 3_000 },
  );
});
