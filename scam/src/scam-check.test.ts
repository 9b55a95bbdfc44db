import { readdirSync, readFileSync } from 'node:fs';
import { SCAM_FILE_MAXIMUM, SCAM_REASONS_MAXIMUM, SCAM_SITUATIONS } from '@palisade/contract/scam-check';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { explainCode } from './code-contents.ts';
import { findAccounts, isIban } from './find-accounts.ts';
import { findLinks } from './find-links.ts';
import { findNumbers } from './find-numbers.ts';
import { editsBetween, isSlip } from './likeness.ts';
import { checkPictureSize, pictureSize } from './picture-header.ts';
import { readText } from './readable.ts';
import { ScamCheck } from './scam-check.ts';
import { isKnownLanguage } from './words/lists.ts';

const check = new ScamCheck({
  provider: { name: 'Northwind Help', domains: ['northwind-help.com'] },
  trusted: new Set(['paypa1.com']),
});
afterAll(() => check.close());
const verdictOf = async (text: string) => (await check.checkText(text)).verdict;

describe('the verdict', () => {
  test.each([
    ['dangerous', 'an imitated brand with a request', 'Sign in at https://paypai.com/login to confirm your details'],
    [
      'dangerous',
      'an intent with two supporting signs',
      'Hi mum, my phone is broken, this is my new number. Text me on WhatsApp, I urgently need you to transfer 500 pounds',
    ],
    ['suspicious', 'an imitated brand alone', 'https://paypai.com/'],
    ['suspicious', 'an intent alone', 'I sent you a 6 digit code by mistake, can you forward it?'],
    ['nothing_found', 'pressure alone', 'Please answer today, it is urgent!'],
    ['nothing_found', 'a brand’s own address', 'Your order: https://www.amazon.com/orders'],
    ['nothing_found', 'a trusted address', 'https://paypa1.com/'],
    ['nothing_found', 'an ordinary word of a brand before a domain', 'https://apple.example-orchard.net/'],
    ['dangerous', 'such a word with a request', 'https://apple.example-orchard.net/verify-account'],
    ['not_checked', 'nothing', ' \n '],
  ])('is %s for %s', async (verdict, _, text) => expect(await verdictOf(text)).toBe(verdict));

  test('protects the provider’s own name', async () => {
    expect(await verdictOf('https://northwind-help.com/login')).toBe('nothing_found');
    expect(await verdictOf('https://northwlnd-help.com/login')).toBe('dangerous');
    expect(await verdictOf('https://northwindhelp-login.com/')).toBe('dangerous');
  });

  test('has at most five reasons and advice for each situation', async () => {
    const { reasons, advice } = await check.checkText(
      'URGENT: your PayPal account is locked! Pay 500 pounds in bitcoin, keep it between us, message me on WhatsApp: hxxp://user@paypai[.]com/login, http://203.0.113.9/a.exe call 09061701461',
    );
    expect(reasons).toHaveLength(SCAM_REASONS_MAXIMUM);
    expect(reasons.map(({ weight }) => weight)).toEqual(reasons.map(({ weight }) => weight).toSorted((a, b) => b - a));
    for (const situation of SCAM_SITUATIONS) expect(advice[situation].length).toBeGreaterThan(0);
  });

  test.each([
    ['Hi mum, my phone is broken, this is my new number, lend me 500 pounds', ['no_answer', 'ask_relative', 'report']],
    ['https://paypai.com/login', ['no_link', 'no_answer', 'ask_directly', 'report_imitated']],
    ['WINNER! Call 09061701461 to claim. 150p per min', ['no_call', 'no_answer', 'ask_elsewhere', 'report']],
    ['See you on Sunday', ['stay_careful', 'ask_elsewhere']],
  ])('advises of what %j has alone', async (text, codes) =>
    expect((await check.checkText(text)).advice.nothing.map(({ code }) => code)).toEqual(codes),
  );

  test.each([
    ['Thanks in advance! The 20 euros are in the envelope', 'asks_for_money'],
    ['Your library loan is due: £2', 'asks_for_money'],
    ['Your code is 482913. Never share the code or your password.', 'asks_for_secret'],
    ['Your one-time code is 482913. Keep it between us: tell no one.', 'secrecy'],
    ['You have a new voicemail from Anna. Call her back on 020 7946 0123', 'intent_paid_number'],
    ['Kundennr. 0900 123 456, bitte bei Fragen angeben', 'premium_number'],
  ])('%j shows no %s', async (text, code) =>
    expect((await check.checkText(text)).reasons.map((reason) => reason.code)).not.toContain(code),
  );

  test('tells one story of the sender', async () => {
    const { reasons } = await check.checkText(
      'Hi mum, new number, my phone is broken. I am in a meeting: buy gift cards and send me the codes, lend me 500 pounds',
    );
    expect(reasons.filter(({ code }) => code.startsWith('intent_'))).toHaveLength(1);
  });

  test('says what was not checked', async () => {
    const { checked } = await check.checkText('See https://example.org/a');
    expect(checked.find(({ part }) => part === 'domain_lists')).toMatchObject({ state: 'not_checked', code: 'no_lists' });
    expect(checked.find(({ part }) => part === 'link_target')).toMatchObject({ state: 'not_checked', code: 'never_visited' });
    expect(checked.find(({ part }) => part === 'codes')).toMatchObject({ state: 'absent' });
  });

  test('does not judge words of a language that it does not know', async () => {
    const { verdict, checked } = await check.checkText('ваш счет заблокирован позвоните нам сейчас и назовите пароль срочно');
    expect(verdict).toBe('not_checked');
    expect(checked.find(({ part }) => part === 'words')).toMatchObject({ code: 'language_unknown' });
    expect(
      isKnownLanguage(readText('Hej mamma, jag har ett nytt nummer nu eftersom min telefon tyvärr slutade fungera igår kväll')),
    ).toBe(false);
  });
});

describe('the sample messages of the repository', () => {
  const folder = new URL('../samples/', import.meta.url);
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.tsv'))) {
    const rows = readFileSync(new URL(name, folder), 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((row) => row.split('\t'));
    test(`${name}: each row to which word lists are fitted`, async () => {
      const wrong: string[] = [];
      for (const [set, label, , text = ''] of rows) {
        const isFound = ['suspicious', 'dangerous'].includes(await verdictOf(text));
        if (set === 'tune' && isFound !== (label === 'scam')) wrong.push(text);
      }
      expect(wrong).toEqual([]);
      expect(rows.filter(([set]) => set === 'held')).toHaveLength(50);
    });
  }
});

describe('links', () => {
  test.each([
    ['hxxps://a-b.net/c', ['a-b.net']],
    ['a-b[.]net and c (dot) d-e.com', ['a-b.net', 'c.d-e.com']],
    ['http[:]//a-b.net', ['a-b.net']],
    ['ｈｔｔｐｓ://ａ-ｂ.net', ['a-b.net']],
    ['a-b。net', ['a-b.net']],
    ['https://a-b\n.net/x', ['a-b.net']],
    ['(see https://a-b.net/x_(y)).', ['a-b.net']],
    ['See you.It was fun', []],
    ['e.g. this, i.e. that', []],
    ['version 1.2.3', []],
    ['ok.so', []],
  ])('of %j', (text, hosts) => expect(findLinks(text).map(({ address }) => address.host)).toEqual(hosts));
  test.each([
    ['Pay at evil-host dot com today', 'evil-host dot com'],
    ['See a-b[.]net, or not', 'a-b[.]net'],
    ['Open hxxps://a-b.net/c now', 'hxxps://a-b.net/c'],
  ])('of %j are shown as they are written', (text, shown) => expect(findLinks(text)).toMatchObject([{ shown }]));
});

describe('numbers and accounts', () => {
  test('knows premium numbers of each country by their beginning', () => {
    expect(findNumbers('call 0906 170 1461 now', { said: new Set(['GB']) })[0]).toMatchObject({ kind: 'premium', country: 'GB' });
    expect(findNumbers('+43 900 123456')[0]).toMatchObject({ kind: 'premium', country: 'AT' });
    expect(findNumbers('text WIN to 87121')[0]).toMatchObject({ kind: 'short', number: '87121' });
    expect(findNumbers('call 0345 600 1234')[0]).toMatchObject({ kind: 'ordinary' });
  });
  test('checks the digits of an IBAN', () => {
    expect(isIban('DE89 3704 0044 0532 0130 00')).toBe(true);
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 21 }), fc.integer({ min: 1, max: 9 }), (at, add) => {
        const digits = [...'DE89370400440532013000'];
        digits[at] = String((Number(digits[at]) + add) % 10);
        return !isIban(digits.join(''));
      }),
      { seed: 36 },
    );
  });
  test('takes an IBAN out of a sentence, without the words behind it', () => {
    expect(findAccounts('to DE89 3704 0044 0532 0130 00 until Friday')).toMatchObject([
      { account: 'DE89370400440532013000', isValid: true, start: 3, end: 30 },
    ]);
  });
  test('tells a wallet with right check digits', () => {
    expect(findAccounts('1BoatSLRHtKNngkdXEeobR76b53LETtpyT')).toMatchObject([{ kind: 'crypto', isValid: true }]);
    expect(findAccounts('1BoatSLRHtKNngkdXEeobR76b53LETtpyX')).toMatchObject([{ kind: 'crypto', isValid: false }]);
  });
});

describe('codes', () => {
  test.each([
    ['https://a.example/x', 'link', 'link', 'https://a.example/x'],
    ['BCD\n002\n1\nSCT\n\nAda\nDE89370400440532013000\nEUR12.50\n\n\nRent', 'payment', 'payee', 'Ada'],
    ['WIFI:S:My\\;Net;T:WPA;P:secret;;', 'wifi', 'network', 'My;Net'],
    ['BEGIN:VCARD\nFN:Ada\nTEL;TYPE=cell:+431234567\nEND:VCARD', 'contact', 'phone', '+431234567'],
    ['MECARD:N:Ada;TEL:123456;;', 'contact', 'name', 'Ada'],
    ['BEGIN:VEVENT\nSUMMARY:Party\nEND:VEVENT', 'calendar', 'title', 'Party'],
    ['SMSTO:87121:WIN', 'sms', 'phone', '87121'],
    ['tel:+431234567', 'phone', 'phone', '+431234567'],
    ['mailto:a@b.example?subject=x', 'mail', 'mail', 'a@b.example'],
    ['geo:48.2,16.3', 'place', 'place', '48.2,16.3'],
    ['bitcoin:1Boat?amount=1', 'payment', 'wallet', '1Boat'],
    ['00020126330014br.gov.bcb.pix5204000053039865802BR5903Ada6005LISBO6304ABCD', 'payment', 'payee', 'Ada'],
    ['otpauth://totp/x', 'app', 'app', 'otpauth'],
    ['MEBKM:TITLE:Bank;URL:https\\://a-b.net/c;;', 'link', 'link', 'https://a-b.net/c'],
    ['URLTO:a-b.net/c', 'link', 'link', 'a-b.net/c'],
    ['BEGIN:VCARD\nitem1.TEL:+431234567\nitem1.X-ABLabel:Bank\nEND:VCARD', 'contact', 'phone', '+431234567'],
    ['BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:M=C3=BCl=\nler;Ada\nEND:VCARD', 'contact', 'name', 'Müller;Ada'],
    ['SMSTO:+431234567:Pay at: https://a-b.net?x', 'sms', 'text', 'Pay at: https://a-b.net?x'],
    ['sms:+431234567?body=Pay%20now', 'sms', 'text', 'Pay now'],
    ['sms:+431234567&body=Pay%20now', 'sms', 'text', 'Pay now'],
    ['MATMSG:TO:a@b.example;SUB:Hi;BODY:Pay\\; now;;', 'mail', 'mail', 'a@b.example'],
    ['SMTP:a@b.example:Hi:Pay now', 'mail', 'mail', 'a@b.example'],
  ])('%j is explained', (text, kind, name, value) => {
    const code = explainCode('QRCode', text);
    expect(code.kind).toBe(kind);
    expect(code.facts).toContainEqual({ name, value });
  });
});

describe('the whole content of a code or a card is searched', () => {
  const LINK = 'https://paypa1-login.com/confirm';
  const quoted = LINK.replaceAll(/[=-]/gu, (sign) => `=${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const escaped = LINK.replaceAll(':', '\\:');
  test.each([
    `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Bank\r\nitem1.URL;type=pref:${LINK.slice(0, 20)}\r\n ${LINK.slice(20)}\r\nEND:VCARD`,
    `BEGIN:VCARD\nVERSION:3.0\nitem2.URL:${escaped}\nEND:VCARD`,
    `BEGIN:VCARD\nVERSION:2.1\nNOTE;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Confirm your details =\n${quoted.slice(0, 30)}=\n${quoted.slice(30)}\nEND:VCARD`,
    `BEGIN:VCALENDAR\nBEGIN:VEVENT\nDESCRIPTION:Confirm\\, please\\n${LINK}\\nThanks\nEND:VEVENT\nEND:VCALENDAR`,
    `MECARD:N:Bank;URL:${escaped};;`,
    `MEBKM:TITLE:Bank;URL:${escaped};;`,
    `URLTO:${LINK}`,
    `SMSTO:+431234567:Confirm your details: ${LINK}`,
    `sms:+431234567?body=${encodeURIComponent(`Confirm: ${LINK}`)}`,
    `mailto:a@b.example?subject=Bank&body=${encodeURIComponent(`Confirm: ${LINK}`)}`,
    `MATMSG:TO:a@b.example;SUB:Bank;BODY:Confirm\\: ${escaped};;`,
    `SMTP:a@b.example:Bank:Confirm: ${LINK}`,
    `geo:48.2,16.3?q=${encodeURIComponent(LINK)}`,
    `bitcoin:1Boat?message=${encodeURIComponent(`Confirm: ${LINK}`)}`,
    `intent://paypa1-login.com/confirm#Intent;scheme=https;end`,
  ])('%j', async (text) => {
    const { parts, verdict } = await check.checkText(text);
    expect(parts.links.map(({ host }) => host)).toContain('paypa1-login.com');
    expect(verdict).toBe('dangerous');
  });
});

describe('addresses alone', () => {
  test.each([
    'http://192.168.1.1/login',
    'http://169.254.7.7/',
    'http://100.100.100.100/',
    'http://[fe80::1]/',
    'http://[::1]:8080/',
    'https://1.1.1.1/',
    'https://8.8.8.8',
  ])('%s belongs to no stranger', async (text) => expect((await check.checkText(text)).verdict).toBe('nothing_found'));
  test.each(['http://203.0.113.9/', 'http://[2001:db8::9]/', 'http://100.128.0.1/', 'http://1.1.1.2/', 'http://172.32.0.1/'])(
    '%s is suspicious',
    async (text) => expect((await check.checkText(text)).verdict).toBe('suspicious'),
  );
  test.each(['https://paypal.example-shop.com/', 'https://paypal.example-info.com/'])(
    '%s names an organisation and asks for nothing',
    async (text) => expect((await check.checkText(text)).verdict).toBe('suspicious'),
  );
  test.each(['https://paypal.example-login.com/', 'https://paypal.example.com/verify', 'https://paypal.secureverify.com/'])(
    '%s names an organisation and asks for something',
    async (text) => expect((await check.checkText(text)).verdict).toBe('dangerous'),
  );
});

test('signs that stand for a whole sentence are read as one sign', () => {
  const text = 'ﷺ'.repeat(1_000);
  expect(readText(`${text}pay now`).words.map((word) => word.text)).toEqual(['pay', 'now']);
  expect(findLinks(`${text} https://example.org/a`)).toMatchObject([{ start: 1_001, shown: 'https://example.org/a' }]);
});

test('signs that imitate letters are read as letters only in a word that has letters', () => {
  const words = readText('p4yp4l 4055 at').words.map(({ text, alternative }) => [text, alternative]);
  expect(words).toEqual([
    ['p4yp4l', 'paypal'],
    ['4055', undefined],
    ['at', undefined],
  ]);
});

test('an answer says what the reader of a document could not open', async () => {
  const reading = new ScamCheck({
    readDocument: () => Promise.resolve({ text: 'Invoice 4711 of our office', coverage: { codes: 'document_pictures' } }),
  });
  const { verdict, checked } = await reading.checkFile('a.pdf', Buffer.from('%PDF-1.4\0'));
  expect(verdict).toBe('not_checked');
  expect(checked.find(({ part }) => part === 'codes')).toMatchObject({ state: 'not_checked', code: 'document_pictures' });
});

describe('pictures', () => {
  const header = (width: number, height: number) => {
    const bytes = Buffer.alloc(64);
    bytes.set(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };
  test('a claim of 30,000 x 30,000 pixels is refused before it is decoded', async () => {
    expect(pictureSize(header(30_000, 30_000))).toMatchObject({ format: 'png', width: 30_000, height: 30_000 });
    const { verdict, checked } = await check.checkFile('a.png', header(30_000, 30_000));
    expect(verdict).toBe('not_checked');
    expect(checked.find(({ part }) => part === 'codes')).toMatchObject({ code: 'too_large' });
  });
  const png = (width: number, height: number, depth: number, type: number) => {
    const bytes = header(width, height);
    bytes.set([depth, type], 24);
    return bytes;
  };
  const jpeg = (width: number, height: number, marker: number, samplings: readonly number[]) => {
    const bytes = Buffer.alloc(64);
    bytes.set([0xff, 0xd8, 0xff, marker, 0, 8 + 3 * samplings.length, 8]);
    bytes.writeUInt16BE(height, 7);
    bytes.writeUInt16BE(width, 9);
    bytes.set([samplings.length, ...samplings.flatMap((sampling, at) => [at + 1, sampling, 0])], 11);
    return bytes;
  };
  const COLOR = [0x22, 0x11, 0x11];
  test.each([
    ['a gray PNG of 24 million pixels', png(5_712, 4_284, 8, 0), undefined],
    ['a gray PNG of 40 million pixels', png(8_000, 5_000, 8, 0), 'too_large'],
    ['a PNG in color of 24 million pixels', png(5_712, 4_284, 8, 2), undefined],
    ['a PNG with transparency of 24 million pixels', png(5_712, 4_284, 8, 6), 'too_large'],
    ['a PNG in deep color of 12 million pixels', png(4_000, 3_000, 16, 6), 'too_large'],
    ['a photograph of 24 million pixels', jpeg(5_712, 4_284, 0xc0, COLOR), undefined],
    ['a progressive photograph of 24 million pixels', jpeg(5_712, 4_284, 0xc2, COLOR), undefined],
    ['the same with all colors', jpeg(5_712, 4_284, 0xc2, [0x11, 0x11, 0x11]), 'too_large'],
    ['a photograph of 25 million pixels', jpeg(6_250, 4_000, 0xc0, COLOR), 'too_large'],
  ] as const)('%s is refused where decoding takes more than its process has', (_, picture, refused) =>
    expect(checkPictureSize(picture)).toBe(refused),
  );
  test('the text of a photograph of more than 12.5 million pixels is not read', () => {
    expect(checkPictureSize(jpeg(4_000, 3_000, 0xc0, COLOR), 'text')).toBeUndefined();
    expect(checkPictureSize(jpeg(5_000, 4_000, 0xc0, COLOR), 'text')).toBe('too_large');
  });
  test('a code in WebP is read', async () => {
    const webp = [
      'UklGRuQCAABXRUJQVlA4WAoAAAAgAAAAVgAAVgAASUNDUMgBAAAAAAHIAAAAAAQwAABtbnRyUkdCIFhZWiAH4AABAAEAAAAAAABhY3NwAAAAAA',
      'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAQAA9tYAAQAAAADTLQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      'AAAAAAlkZXNjAAAA8AAAACRyWFlaAAABFAAAABRnWFlaAAABKAAAABRiWFlaAAABPAAAABR3dHB0AAABUAAAABRyVFJDAAABZAAAAChnVFJDAA',
      'ABZAAAAChiVFJDAAABZAAAAChjcHJ0AAABjAAAADxtbHVjAAAAAAAAAAEAAAAMZW5VUwAAAAgAAAAcAHMAUgBHAEJYWVogAAAAAAAAb6IAADj1',
      'AAADkFhZWiAAAAAAAABimQAAt4UAABjaWFlaIAAAAAAAACSgAAAPhAAAts9YWVogAAAAAAAA9tYAAQAAAADTLXBhcmEAAAAAAAQAAAACZmYAAP',
      'KnAAANWQAAE9AAAApbAAAAAAAAAABtbHVjAAAAAAAAAAEAAAAMZW5VUwAAACAAAAAcAEcAbwBvAGcAbABlACAASQBuAGMALgAgADIAMAAxADZW',
      'UDhM9QAAAC9WgBUADzD/8z//8x94gNxsexTnG22+kQZGchu+/TXRgE0acFriRhtbA8wtyy8+gR3pR0kBEf03kLZNHGz7TZAkSZLpzwjw+eE/34',
      'BotvGTXjLFrhk/L4p8DWeE9SpnRQ0nVCnfGY7AVqWnkJfQ7JWZVR1rX0q3qPpffd8C29WqDPR00CGhN2Maka8uexetpPNupXRezPjyWJdjTJNf',
      'a19d1KHVIZllHzoiwkW7K1sVPINRWVv7BIfxMxmVrSTCbQvNytpRJS/7OdiUe6mOZVv2yqzKzbYAxv4cRUcXz6AfXj5YVdkbDc0oRnVP63Jcht',
      '0/ePkEAA==',
    ].join('');
    const { parts } = await check.checkFile('a.webp', Buffer.from(webp, 'base64'));
    expect(parts.codes).toMatchObject([{ kind: 'link', text: 'https://paypa1-secure.com/login' }]);
  });
  test('HEIC is not read, and the answer says what to do', async () => {
    const { verdict, checked } = await check.checkFile('a.heic', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'));
    expect(verdict).toBe('not_checked');
    expect(checked.find(({ part }) => part === 'codes')).toMatchObject({ state: 'not_checked', code: 'heic' });
  });
  test('a damaged picture is not checked', async () => {
    const { checked } = await check.checkFile('a.png', header(10, 10));
    expect(checked.find(({ part }) => part === 'codes')).toMatchObject({ state: 'not_checked', code: 'picture_broken' });
  });
  test('text in a picture is not checked where no reader is given', async () => {
    const { checked } = await check.checkFile('a.png', header(30_000, 30_000));
    expect(checked.find(({ part }) => part === 'picture_text')).toMatchObject({ state: 'not_checked', code: 'no_text_reader' });
  });
  test('the answer says why the text in a picture was not read', async () => {
    const gif = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex');
    for (const code of ['too_large', 'took_too_long'] as const) {
      const reading = new ScamCheck({ readPictureText: () => Promise.resolve({ code }) });
      const { checked } = await reading.checkFile('a.gif', gif);
      reading.close();
      expect(checked.find(({ part }) => part === 'picture_text')).toMatchObject({ state: 'not_checked', code });
    }
  });
  test('text in a picture is judged where a reader is given', async () => {
    const reading = new ScamCheck({
      readPictureText: () =>
        Promise.resolve({ text: 'Your parcel is on hold, pay the customs fee today: parcels-pay.top', languages: ['eng'] }),
    });
    const gif = Buffer.from('47494638396101000100800000000000ffffff2c00000000010001000002024401003b', 'hex');
    const { verdict, reasons } = await reading.checkFile('a.gif', gif);
    reading.close();
    expect(verdict).toBe('dangerous');
    expect(reasons[0]?.span?.source).toBe('picture');
  });
});

test('a file beyond the maximum and one of an unknown kind are not checked', async () => {
  expect((await check.checkFile('a.bin', new Uint8Array(SCAM_FILE_MAXIMUM + 1))).verdict).toBe('not_checked');
  expect((await check.checkFile('a.bin', Uint8Array.from([0, 1, 2, 3]))).verdict).toBe('not_checked');
});

test('a contact card and a calendar entry are read with their folded lines', async () => {
  const card = new TextEncoder().encode('BEGIN:VCARD\r\nFN:Support\r\nURL:https://paypai.co\r\n m/login\r\nEND:VCARD\r\n');
  expect(await check.checkFile('a.vcf', card)).toMatchObject({ kind: 'contact', verdict: 'dangerous' });
});

test('slips of a hand are told from other words', () => {
  expect(isSlip('amzaon', 'amazon')).toBe(true);
  expect(isSlip('amazoon', 'amazon')).toBe(true);
  expect(isSlip('amazom', 'amazon')).toBe(true);
  expect(isSlip('amazin', 'amazon')).toBe(true);
  expect(isSlip('qamazon', 'amazon')).toBe(true);
  expect(isSlip('amabon', 'amazon')).toBe(false);
  expect(editsBetween('amzaon', 'amazon', 2)).toBe(1);
});

test('no text makes it throw, and each span is a place of the text', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
      const { reasons } = await check.checkText(text);
      for (const { span } of reasons)
        if (span?.source === 'text') expect(text.slice(span.start, span.end).startsWith(span.text)).toBe(true);
    }),
    { seed: 36, numRuns: 200 },
  );
});

test('a span never ends inside an amount or a word', async () => {
  const amounts = fc
    .tuple(
      fc.constantFrom('1,250.00', '1.250,00', '1’250', '12 500,00', '999', '1\u202f250', '3.5'),
      fc.constantFrom(' €', '€', ' USD', ' zł'),
    )
    .map((parts) => parts.join(''));
  const asks = fc.constantFrom(
    'Pay',
    'You must pay',
    'Transfer',
    'Send a payment of',
    'Bitte überweisen Sie',
    'Veuillez payer',
    'Zapłać',
  );
  const urges = fc.constantFrom('within 24 hours', 'immediately', 'innerhalb von 24 Stunden', 'or your account is suspended');
  await fc.assert(
    fc.asyncProperty(asks, amounts, urges, async (ask, amount, urge) => {
      const text = `Your parcel is held. ${ask} ${amount} ${urge} at https://customs-pay.example-parcel.com/x1. Do not tell anyone.`;
      const { reasons } = await check.checkText(text);
      const spans = reasons.flatMap(({ span }) => (span?.source === 'text' ? [span] : []));
      expect(spans.length).toBeGreaterThan(0);
      for (const { start, end, text: shown } of spans) {
        expect(shown).toBe(text.slice(start, end));
        const [before, first, last, after] = [start - 1, start, end - 1, end].map((at) => text.charAt(at));
        expect(/^[\p{L}\p{N}]{2}$/u.test(`${before}${first}`), shown).toBe(false);
        expect(/^[\p{L}\p{N}]{2}$/u.test(`${last}${after}`), shown).toBe(false);
        expect(/^\d[.,’\u202f]\d/u.test(text.slice(end - 1)), shown).toBe(false);
      }
    }),
    { seed: 49, numRuns: 150 },
  );
});
