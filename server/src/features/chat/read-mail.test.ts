import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createAnswerAddresses } from './answer-address.ts';
import { textOfHtml } from './html-text.ts';
import { readMailApart, UnreadableMail } from './mail-reader.ts';
import { ANSWER_ABOVE, withoutNotice } from './quoted.ts';
import { readMail } from './read-mail.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const key = Buffer.alloc(32, 7);
const addresses = createAnswerAddresses({ address: 'support@example.com', key });
const mailOf = (headers: string[], body: string) => Buffer.from([...headers, '', ...body.split('\n')].join('\r\n'));
const HEAD = [
  'From: Maria <Maria@Example.com>',
  `To: ${addresses.of(ID)}`,
  'Message-ID: <1@mail.example.com>',
  'Subject: Re: answer',
];

describe('the address of an answer', () => {
  test('names its conversation, in any case that a mail server makes of it', () => {
    const address = addresses.of(ID);
    expect(address).toMatch(/^support\+[a-z2-7]{42}@example\.com$/);
    for (const said of [address, address.toUpperCase(), `To: "A" <${address}>, <b@example.com>`])
      expect(addresses.read(said)).toBe(ID);
    const starred = createAnswerAddresses({ address: 'answer-*@example.com', key });
    expect(starred.of(ID)).toMatch(/^answer-[a-z2-7]{42}@example\.com$/);
    expect(starred.read(`x: <answer-${'a'.repeat(42)}@example.com>, <${starred.of(ID)}>`)).toBe(ID);
    expect(
      createAnswerAddresses({ address: `${'a'.repeat(21)}@example.com`, key })
        .of(ID)
        .indexOf('@'),
    ).toBeLessThanOrEqual(64);
  });

  // proves: support-bad-input-14
  test('cannot be forged: with another key, another conversation, or one letter changed it is invalid', () => {
    const address = addresses.of(ID);
    const token = /\+(\w+)@/.exec(address)?.[1] ?? '';
    const other = createAnswerAddresses({ address: 'support@example.com', key: Buffer.alloc(32, 8) });
    expect(other.read(address)).toBeUndefined();
    for (let at = 0; at < token.length - 1; at += 1) {
      const changed = `${token.slice(0, at)}${token[at] === 'b' ? 'c' : 'b'}${token.slice(at + 1)}`;
      expect(addresses.read(`support+${changed}@example.com`)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (text) => addresses.read(text) === undefined));
    expect(addresses.read('a'.repeat(1_000_000))).toBeUndefined();
  });
});

describe("the author's own text", () => {
  const LETTER = `${ANSWER_ABOVE}<br><br>Hello Maria,<br><br>Ana replied to you in the support chat.`;
  test.each([
    ['blocks and blanks', '<div>One&nbsp; two</div><p>three<br>four</p>', 'One two\n\nthree\nfour'],
    [
      'nothing that runs or draws',
      '<style>p{}</style><script>alert(1)</script><p onclick="x()">a &lt;b&gt; &#65;&#x42;</p><!-- c -->',
      'a <b> AB',
    ],
    [
      'where links lead',
      '<a href="https://example.com/x">here</a> <a href="javascript:x()">there</a>',
      'here (https://example.com/x) there',
    ],
    ['quotes as lines with a mark', 'new<blockquote>old<br>older</blockquote>', 'new\n> old\n> older'],
    ['lists', '<ul><li>a</li><li>b</li></ul>', '- a\n- b'],
  ])('is text when it came as HTML: %s', (_what, html, text) => {
    expect(textOfHtml(html)).toBe(text);
  });

  test('is found in HTML answers of Gmail and Outlook', () => {
    const gmail = `<div dir="ltr">It works.</div><br><div class="gmail_quote"><div class="gmail_attr">On Sun Palisade wrote:<br></div><blockquote>${LETTER}</blockquote></div>`;
    expect(withoutNotice(textOfHtml(gmail))).toBe('It works.');
    const outlook = `<p>It works.</p><div id="divRplyFwdMsg"><b>From:</b> Palisade</div><div>${LETTER}</div>`;
    expect(withoutNotice(textOfHtml(outlook))).toBe('It works.');
  });

  test('is read in a time that grows with its length alone, for any content', () => {
    const pieces = [
      '<',
      '<div class="',
      '<a href=',
      '&#',
      '&amp',
      '<!--',
      '<p>',
      '</p>',
      '<blockquote>',
      '> ',
      'From: ',
      'wrote:\n',
      '\n',
      '-- \n',
      '"',
      "'",
      '____',
    ];
    for (const piece of pieces) {
      const text = piece.repeat(200_000 / piece.length);
      expect(withoutNotice(textOfHtml(text)).length).toBeLessThanOrEqual(text.length * 2);
      expect(withoutNotice(text).length).toBeLessThanOrEqual(text.length);
    }
    fc.assert(fc.property(fc.string(), (text) => typeof withoutNotice(textOfHtml(text)) === 'string'));
  });
});

describe('a mail', () => {
  test('is read with its words, its author and its files', async () => {
    const mail = await readMail(
      mailOf(
        [...HEAD, 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
        '--b\nContent-Type: multipart/alternative; boundary=c\n\n--c\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nGr=FC=DFe\n--c\nContent-Type: text/html\n\n<b>no</b>\n--c--\n--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename="=?utf-8?q?n=C3=B6te=2Etxt?="\nContent-Transfer-Encoding: base64\n\nYWJj\n--b\nContent-Type: image/png\nContent-Disposition: inline\nContent-ID: <logo>\nContent-Transfer-Encoding: base64\n\niVBORw0K\n--b--',
      ),
    );
    expect(mail).toMatchObject({ from: 'maria@example.com', automatic: undefined, text: 'Grüße', left_out: 0 });
    expect(addresses.read(mail.recipients)).toBe(ID);
    expect(mail.files.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([['nöte.txt', 'abc']]);
  });

  test.each([
    ['Auto-Submitted: auto-replied'],
    ['Precedence: bulk'],
    ['List-Id: <news.example.com>'],
    ['X-Autoreply: yes'],
    ['Return-Path: <>'],
    ['Content-Type: multipart/report; boundary=b'],
  ])('that no person wrote is known by %s', async (header) => {
    const { automatic } = await readMail(mailOf([...HEAD, header], 'I am on holiday.'));
    expect(automatic).toBeDefined();
    expect((await readMail(mailOf([...HEAD, 'Auto-Submitted: no'], 'x'))).automatic).toBeUndefined();
  });

  test('has the same key in each copy, and another one when it says something else', async () => {
    const one = await readMail(mailOf(['Received: from a', ...HEAD], 'one'));
    const copy = await readMail(mailOf(['Received: from b', 'Received: from c', ...HEAD], 'one'));
    const other = await readMail(mailOf(HEAD, 'other'));
    expect(copy.key).toBe(one.key);
    expect(other.key).not.toBe(one.key);
  });

  // proves: support-bad-input-14
  test('that was made to harm is read, or refused, and never ends more than its own thread', { timeout: 120_000 }, async () => {
    const nested = Array.from({ length: 500 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}`).join(
      '\r\n',
    );
    const hostile = [
      Buffer.from(`${HEAD.join('\r\n')}\r\n${nested}`),
      Buffer.from(`${HEAD.join('\r\n')}\r\n${'X: y\r\n'.repeat(200_000)}\r\nx`),
      Buffer.from(
        `${HEAD.join('\r\n')}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(20_000)}`,
      ),
      Buffer.from(`Subject: ${'=?utf-8?q?x?= '.repeat(30_000)}\r\nTo: ${'a@b, '.repeat(60_000)}\r\n\r\nx`),
      Buffer.alloc(2_000_000, 0x3c),
      randomBytes(100_000),
      Buffer.alloc(0),
    ];
    for (const raw of hostile) {
      const read = await readMailApart(raw).catch((error: unknown) => error);
      if (read instanceof Error) expect(read).toBeInstanceOf(UnreadableMail);
      else expect(read).toHaveProperty('key');
    }
    await expect(readMailApart(hostile[0] ?? Buffer.alloc(0), { read_ms: 0 })).rejects.toBeInstanceOf(UnreadableMail);
  });
});
