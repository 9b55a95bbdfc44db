import { CHECKED_PARTS, type ScamAnswer } from '@palisade/contract/scam-check';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { picturesOfCodes } from '#test/codes.ts';
import { bytesOf, mailOf, type Part } from '#test/mails.ts';
import { type Coverage, hasUnread, mergeCoverage } from './coverage.ts';
import { ScamCheck } from './scam-check.ts';
import { type NotCheckedCode, UNASKED_SENTENCES, UNREAD_SENTENCES } from './sentences.ts';

const BAIT = 'Your PayPal account is limited. Confirm your details at https://paypa1-secure.com/login within 24 hours.';
const LINK = 'https://paypa1-secure.com/login';

const check = new ScamCheck({
  scanAttachment: (name) => Promise.resolve(name.startsWith('locked') ? 'not_checked' : 'clean'),
  readDocument: (_, content) =>
    Promise.resolve(content[0] === 0x25 ? { text: new TextDecoder().decode(content), coverage: {} } : undefined),
});
afterAll(() => check.close());
const mailed = (...parts: Part[]) => check.checkFile('a.eml', bytesOf(mailOf(parts)));
const stateOf = ({ checked }: ScamAnswer, part: (typeof CHECKED_PARTS)[number]) => checked.find((one) => one.part === part);

describe('coverage', () => {
  const isCode = (key: string): key is NotCheckedCode => key in UNREAD_SENTENCES || key in UNASKED_SENTENCES;
  const codes = Object.keys({ ...UNREAD_SENTENCES, ...UNASKED_SENTENCES }).filter(isCode);
  const state = fc.oneof(fc.constant('checked' as const), fc.constantFrom(...codes));
  const coverage: fc.Arbitrary<Coverage> = fc.dictionary(fc.constantFrom(...CHECKED_PARTS), state);

  test('of several readers is the worst of each part, in any order', () => {
    fc.assert(
      fc.property(fc.array(coverage, { maxLength: 6 }), (coverages) => {
        const [merged, turned] = [mergeCoverage(coverages), mergeCoverage(coverages.toReversed())];
        expect(hasUnread(merged)).toBe(coverages.some(hasUnread));
        for (const part of CHECKED_PARTS) {
          expect(merged[part] === undefined).toBe(coverages.every((one) => one[part] === undefined));
          expect(merged[part] === 'checked').toBe(turned[part] === 'checked');
        }
      }),
    );
  });
});

describe('a file in a mail is as dangerous as alone', () => {
  const card = `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:PayPal Support\r\nNOTE:${BAIT}\r\nURL:${LINK}\r\nEND:VCARD\r\n`;
  const day = `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:PayPal\r\nDESCRIPTION:${BAIT}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`;
  const page = `<!DOCTYPE html><html><body><p>Your PayPal account is limited. Confirm your details.</p><a href="${LINK}">Log in</a></body></html>`;
  const files: readonly (readonly [string, string, string])[] = [
    ['message.txt', 'text/plain', BAIT],
    ['notes.dat', 'application/octet-stream', BAIT],
    ['card.vcf', 'text/vcard', card],
    ['day.ics', 'text/calendar; method=REQUEST', day],
    ['page', 'application/octet-stream', page],
    ['form.pdf', 'application/pdf', `%PDF-1.4 ${BAIT}`],
    ['forwarded.eml', 'message/rfc822', mailOf([], BAIT)],
    ['forwarded', 'message/rfc822', mailOf([{ name: 'a.txt', type: 'text/plain', content: BAIT }])],
  ];
  test.each(files)('%s (%s)', async (name, type, content) => {
    expect(await check.checkFile(name, bytesOf(content))).toMatchObject({ verdict: 'dangerous' });
    expect(await mailed({ name, type, content })).toMatchObject({ verdict: 'dangerous', kind: 'email' });
    expect(await mailed({ type, content })).toMatchObject({ verdict: 'dangerous' });
  });
  test('a picture with a code', async () => {
    expect(await mailed({ name: 'a.png', type: 'image/png', content: await picturesOfCodes([LINK]) })).toMatchObject({
      verdict: 'dangerous',
    });
  });
  test('a mail whose sender alone imitates', async () => {
    const inner = mailOf().replace('Ada <ada@example.org>', 'PayPal <service@example.org>');
    expect((await mailed({ type: 'message/rfc822', content: inner })).reasons.map(({ code }) => code)).toContain(
      'sender_name_differs',
    );
  });
  test('and what lies in two files is seen together', async () => {
    const parcel = { name: 'a.txt', type: 'text/plain', content: 'Your parcel is on hold. Pay the customs fee today.' };
    expect(await mailed(parcel, { name: 'b.txt', type: 'text/plain', content: 'Here: parcels-pay.top' })).toMatchObject({
      verdict: 'dangerous',
    });
  });
});

describe('a part that cannot be read', () => {
  test.each([
    ['a broken picture before a good one', [Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'code'], 'codes'],
    ['a broken picture after a good one', ['code', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')], 'codes'],
  ] as const)('%s', async (_, pictures, part) => {
    const good = await picturesOfCodes(['https://example.org/a']);
    const answer = await mailed(
      ...pictures.map((picture) => ({ name: 'a.png', type: 'image/png', content: picture === 'code' ? good : picture })),
    );
    expect(answer.verdict).toBe('not_checked');
    expect(answer.headline).toContain('all of this');
    expect(stateOf(answer, part)).toMatchObject({ state: 'not_checked', code: 'picture_broken' });
  });

  test.each([
    ['an archive', { name: 'a.zip', content: Buffer.from('504b0304140000000800', 'hex') }, 'attachments', 'attachment_unread'],
    ['what the engine could not open', { name: 'locked.txt', content: 'Hello' }, 'attachments', 'attachment_locked'],
    ['winmail.dat', { name: 'winmail.dat', content: Buffer.from('789f3e220100', 'hex') }, 'attachments', 'tnef'],
    [
      'an encrypted part',
      { name: 'a.asc', content: '-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n' },
      'words',
      'encrypted',
    ],
  ] as const)('%s', async (_, part, checked, code) => {
    const answer = await mailed(part);
    expect(answer.verdict).toBe('not_checked');
    expect(stateOf(answer, checked)).toMatchObject({ state: 'not_checked', code });
  });

  test('a file in a calendar entry, and one that is read', async () => {
    const day = (file: string) =>
      bytesOf(
        `BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Lunch\r\nATTACH;ENCODING=BASE64;VALUE=BINARY:${Buffer.from(file).toString('base64')}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
      );
    expect(await check.checkFile('a.ics', day(`PK\u0003\u0004${'x'.repeat(60)}`))).toMatchObject({ verdict: 'not_checked' });
    expect(await check.checkFile('a.ics', day(BAIT))).toMatchObject({ verdict: 'dangerous' });
  });

  test('the words of rich text', async () => {
    expect(await mailed({ name: 'a.rtf', content: '{\\rtf1 See you at eight, I have the tickets for you.}' })).toMatchObject({
      verdict: 'not_checked',
    });
  });

  test.each([
    ['a piece of a mail', [{ type: 'message/partial; id=a; number=1; total=2', content: 'See you' }], 'Hello to you'],
    ['a file within the text', [], 'Hello to you\r\n\r\nbegin 644 a.exe\r\n#0V%T\r\n`\r\nend\r\n'],
  ])('%s', async (_, parts, text) => {
    const answer = await check.checkFile('a.eml', bytesOf(mailOf(parts, text)));
    expect(answer.verdict).toBe('not_checked');
    expect(stateOf(answer, 'attachments')).toMatchObject({ code: 'attachment_unread' });
  });

  test('excludes no danger in the others', async () => {
    expect(
      await mailed({ name: 'a.zip', content: Buffer.from('504b0304', 'hex') }, { name: 'a.txt', content: BAIT }),
    ).toMatchObject({
      verdict: 'dangerous',
    });
  });
});

describe('parts that nobody asked for are named and exclude nothing', () => {
  const plain = new ScamCheck();
  afterAll(() => plain.close());
  const answerTo = (body: string, parts: Part[] = []) => plain.checkFile('a.eml', bytesOf(mailOf(parts, body)));
  test('the target of a link, lists, the words of a picture, an engine', async () => {
    const picture = { name: 'a.png', type: 'image/png', content: await picturesOfCodes(['https://example.org/a']) };
    const answer = await answerTo('See you at https://example.org/a', [picture]);
    expect(answer.verdict).toBe('nothing_found');
    for (const [part, code] of [
      ['link_target', 'never_visited'],
      ['domain_lists', 'no_lists'],
      ['picture_text', 'no_text_reader'],
      ['attachments', 'no_engine'],
      ['signature', 'unsigned'],
    ] as const)
      expect(stateOf(answer, part)).toMatchObject({ state: 'not_checked', code });
  });
  test('pictures of other servers', async () => {
    const source =
      'From: Ada <ada@example.org>\r\nSubject: Hi\r\nContent-Type: text/html\r\n\r\n<p>See you</p><img src="https://example.org/a.png">';
    const answer = await plain.checkFile('a.eml', bytesOf(source));
    expect(answer.verdict).toBe('nothing_found');
    expect(stateOf(answer, 'codes')).toMatchObject({ code: 'remote_pictures' });
  });
});

/** A value of DER, or of BER with an open length. */
function der(tag: number, content: readonly Uint8Array[] | string, isOpen = false): Buffer {
  const body = typeof content === 'string' ? Buffer.from(content, 'hex') : Buffer.concat(content);
  if (isOpen) return Buffer.concat([Buffer.from([tag, 0x80]), body, Buffer.alloc(2)]);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  return Buffer.concat([Buffer.from([tag, 0x82, body.length >> 8, body.length & 0xff]), body]);
}

/** An S/MIME message around content, as openssl writes it; without content its signature is detached. */
function cms(kind: '02' | '03' | '06', content: string | undefined, isOpen = false): Buffer {
  const octets =
    content === undefined
      ? []
      : isOpen
        ? [
            der(
              0xa0,
              [der(0x24, [der(0x04, [Buffer.from(content.slice(0, 40))]), der(0x04, [Buffer.from(content.slice(40))])], true)],
              true,
            ),
          ]
        : [der(0xa0, [der(0x04, [Buffer.from(content)])])];
  const message = [
    der(0x02, '01'),
    der(0x31, ''),
    der(0x30, [der(0x06, '2a864886f70d010701'), ...octets], isOpen),
    der(0x31, ''),
  ];
  return der(0x30, [der(0x06, `2a864886f70d0107${kind}`), der(0xa0, [der(0x30, message, isOpen)], isOpen)], isOpen);
}

describe('S/MIME', () => {
  const entity = `Content-Type: text/plain\r\n\r\n${BAIT}\r\n`;
  const rooted = (type: string, content: Uint8Array) =>
    bytesOf(
      `From: Ada <ada@example.org>\r\nSubject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: ${type}; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64')}\r\n`,
    );
  test.each([
    ['DER', false],
    ['open lengths', true],
  ] as const)('content inside a signature is read (%s), and the signature is not claimed', async (_, isOpen) => {
    for (const type of ['application/pkcs7-mime; smime-type=signed-data', 'application/x-pkcs7-mime']) {
      const answer = await check.checkFile('a.eml', rooted(type, cms('02', entity, isOpen)));
      expect(answer).toMatchObject({ verdict: 'dangerous', parts: { sender: { proof: 'unsigned' } } });
    }
    expect(await check.checkFile('a.p7m', cms('02', entity, isOpen))).toMatchObject({ verdict: 'dangerous' });
    const base64 = cms('02', entity, isOpen).toString('base64');
    expect(await check.checkFile('a.p7m', bytesOf(base64))).toMatchObject({ verdict: 'dangerous' });
    const lined = `-----BEGIN PKCS7-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END PKCS7-----\n`;
    expect(await check.checkFile('a.p7m', bytesOf(lined))).toMatchObject({ verdict: 'dangerous' });
    expect(await check.checkFile('bill.txt.p7m', cms('02', BAIT, isOpen))).toMatchObject({ verdict: 'dangerous' });
    expect(await mailed({ name: 'a.p7m', content: cms('02', entity, isOpen) })).toMatchObject({ verdict: 'dangerous' });
  });
  test('lines of a header without an end are read once', async () => {
    const header = `${'Ab: x\r\n'.repeat(99)}no ${BAIT}`;
    expect(await check.checkFile('a.p7m', cms('02', header))).toMatchObject({ verdict: 'dangerous' });
    const armour = `-----BEGIN PGP SIGNATURE-----${'\r\nA: x'.repeat(99)} ${BAIT}`;
    expect(await check.checkText(armour)).toMatchObject({ verdict: 'dangerous' });
  });
  test('a mail in a mail inside a signature is read', async () => {
    const inner = `Content-Type: message/rfc822\r\n\r\n${mailOf([], BAIT)}`;
    expect(await check.checkFile('a.eml', rooted('application/pkcs7-mime', cms('02', inner)))).toMatchObject({
      verdict: 'dangerous',
    });
  });
  test.each(['03', '06'] as const)('enveloped content (%s) is not checked', async (kind) => {
    for (const answer of [
      await check.checkFile('a.eml', rooted('application/pkcs7-mime; smime-type=enveloped-data', cms(kind, 'xx'))),
      await check.checkFile('a.p7m', cms(kind, 'xx')),
      await mailed({ name: 'smime.p7m', type: 'application/pkcs7-mime', content: cms(kind, 'xx') }),
    ]) {
      expect(answer.verdict).toBe('not_checked');
      expect(stateOf(answer, 'words')).toMatchObject({ code: 'encrypted' });
    }
  });
  test('content in pieces of pieces is not checked', async () => {
    const pieces = der(0x24, [der(0x24, [der(0x04, [Buffer.from(BAIT)])])]);
    const content = der(0x30, [der(0x06, '2a864886f70d010701'), der(0xa0, [pieces])]);
    const signed = der(0x30, [der(0x02, '01'), der(0x31, ''), content]);
    const message = der(0x30, [der(0x06, '2a864886f70d010702'), der(0xa0, [signed])]);
    expect(await check.checkFile('a.p7m', message)).toMatchObject({ verdict: 'not_checked' });
    expect(await mailed({ name: 'a.p7m', content: message })).toMatchObject({ verdict: 'not_checked' });
  });
  test('a detached signature beside the text excludes nothing', async () => {
    const signature = { name: 'smime.p7s', type: 'application/pkcs7-signature', content: cms('02', undefined) };
    expect(await mailed(signature)).toMatchObject({ verdict: 'nothing_found' });
  });
});

describe('PGP', () => {
  const lines = Array.from({ length: 30 }, (_, at) => Buffer.alloc(48, at).toString('base64')).join('\r\n');
  test('an encrypted message is not checked, in a body and in a paste', async () => {
    const message = `Hi\r\n\r\n-----BEGIN PGP MESSAGE-----\r\n\r\n${lines}\r\n-----END PGP MESSAGE-----\r\n`;
    for (const answer of [await check.checkText(message), await check.checkFile('a.eml', bytesOf(mailOf([], message)))]) {
      expect(answer.verdict).toBe('not_checked');
      expect(stateOf(answer, 'words')).toMatchObject({ code: 'encrypted' });
    }
  });
  test('multipart/encrypted is not checked', async () => {
    const mail = `From: Ada <ada@example.org>\r\nSubject: ...\r\nContent-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\r\n\r\n--b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\nContent-Type: application/octet-stream\r\n\r\n\x01\x02\x03\r\n--b--\r\n`;
    const answer = await check.checkFile('a.eml', bytesOf(mail));
    expect(answer.verdict).toBe('not_checked');
    expect(stateOf(answer, 'words')).toMatchObject({ code: 'encrypted' });
  });
  test('lines of a signature are no words, and hide none', async () => {
    const signed = (text: string) =>
      `-----BEGIN PGP SIGNED MESSAGE-----\r\nHash: SHA256\r\n\r\nSee you at eight, I have the tickets for you.\r\n-----BEGIN PGP SIGNATURE-----\r\n${text}\r\n${lines}\r\n=abcd\r\n-----END PGP SIGNATURE-----\r\n`;
    expect(await check.checkText(signed(''))).toMatchObject({ verdict: 'nothing_found' });
    expect(await check.checkText(signed(`Comment: ${BAIT}\r\n`))).toMatchObject({ verdict: 'dangerous' });
  });
});
