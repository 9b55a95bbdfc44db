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
    [
      'cells apart',
      '<table><tr><th>a</th><th>b</th></tr><tr><td>11</td><td>12</td><td></td><td>13</td></tr></table>',
      'a | b\n11 | 12 | 13',
    ],
    ['cells with blocks in them', '<table><tr><td><p>11</p></td>\n<td><p>12</p></td></tr></table>', '11\n\n12'],
    ...[
      'style="display:none"',
      'style="mso-hide: all"',
      'style="color:#fff; FONT-SIZE: 0px !important"',
      'style="max-height:0;overflow:hidden"',
      'style="height:0px;overflow:hidden"',
      'style="opacity:0"',
      'class="preheader"',
      'id="preview-text"',
      'hidden',
    ].map((how) => [
      `without a preview with ${how}`,
      `<div ${how}>Look <b>in</b> here<br><a href="https://x.example">x</a></div>Words`,
      'Words',
    ]),
    ['with text of other sizes', '<p style="font-size:10px;opacity:0.8;height:0">small</p>', 'small'],
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
    const tags = ['<', '<div class="', '<a href=', '&#', '&amp', '<!--', '<p>', '</p>', '<blockquote>', '"', "'"];
    for (const piece of [...tags, '> ', 'From: ', 'wrote:\n', '\n', '-- \n', '____']) {
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

  const DER_OPEN = Buffer.from([0x80]);
  const END = Buffer.alloc(2);
  /** A value of ASN.1, with its length or with an open one. */
  function value(tag: number, content: Buffer, isOpen = false): Buffer {
    if (isOpen) return Buffer.concat([Buffer.from([tag]), DER_OPEN, content, END]);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(content.length);
    return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
  }
  const identifier = (hex: string) => value(0x06, Buffer.from(hex, 'hex'));

  /** Content within a signature that nobody made (RFC 5652, section 5.1). */
  function signed(content: Buffer, isOpen: boolean): Buffer {
    const octets = isOpen
      ? value(0x24, Buffer.concat([value(4, content.subarray(0, 9)), value(4, content.subarray(9))]), true)
      : value(4, content);
    const enclosed = value(0x30, Buffer.concat([identifier('2a864886f70d010701'), value(0xa0, octets, isOpen)]), isOpen);
    const message = value(0x30, Buffer.concat([value(2, Buffer.from([1])), value(0x31, Buffer.alloc(0)), enclosed]), isOpen);
    return value(0x30, Buffer.concat([identifier('2a864886f70d010702'), value(0xa0, message, isOpen)]), isOpen);
  }

  const INNER =
    'Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n--i\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n1;2\r\n--i--\r\n';

  test.each([
    { how: 'alone', isOpen: false, wraps: 1, type: 'application/pkcs7-mime; smime-type=signed-data; name=smime.p7m' },
    { how: 'with open lengths', isOpen: true, wraps: 1, type: 'application/x-pkcs7-mime; name="smime.p7m"' },
    { how: 'twice', isOpen: false, wraps: 2, type: 'application/pkcs7-mime' },
    { how: 'as a named file of no type', isOpen: false, wraps: 1, type: 'application/octet-stream; name=smime.p7m' },
  ])('keeps the words and files within an opaque signature: $how', async ({ isOpen, wraps, type }) => {
    const partOf = (content: string) =>
      `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment\r\n\r\n${signed(Buffer.from(content), isOpen).toString('base64')}`;
    let part = INNER;
    for (let wrap = 0; wrap < wraps; wrap += 1) part = partOf(part);
    const mail = await readMail(Buffer.from(`${HEAD.join('\r\n')}\r\nMIME-Version: 1.0\r\n${part}`));
    expect(mail.text).toBe('Grüße');
    expect(mail.files.map(({ name }) => name)).toEqual(['a.csv']);
  });

  test.each([
    ['bytes', 'only bytes'],
    // Each line may be read in one way only, or this takes for ever.
    ['a header without an end', `${'Ab: x\r\n'.repeat(49)}no`],
  ])('keeps as a file a signature of %s', async (_what, content) => {
    const body = signed(Buffer.from(content), false).toString('base64');
    const type = 'Content-Type: application/pkcs7-mime; name=x.p7m';
    const mail = await readMail(mailOf([...HEAD, type, 'Content-Transfer-Encoding: base64'], body));
    expect(mail.files.map(({ name }) => name)).toEqual(['x.p7m']);
  });

  test.each([
    ['image/jpeg', 'file-1.jpg'],
    ['image/png', 'file-1.png'],
    ['application/pdf', 'file-1.pdf'],
    ['text/csv', 'file-1.csv'],
    ['text/calendar', 'file-1.ics'],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'file-1.docx'],
    ['application/zip', 'file-1.zip'],
    ['audio/x-wav', 'file-1.wav'],
    ['application/octet-stream', 'file-1'],
    ['application/x-some-long-type', 'file-1'],
    ['message/rfc822', 'forwarded-mail-1.eml'],
  ])('names a file without a name by its type: %s', async (type, name) => {
    const content = Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(5_000)}`).toString('base64');
    const parts = `--b\nContent-Type: text/plain\n\nx\n--b\nContent-Type: ${type}\nContent-Disposition: attachment\nContent-Transfer-Encoding: base64\n\n${content}\n--b--`;
    const mail = await readMail(mailOf([...HEAD, 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'], parts));
    expect(mail.files.map((file) => file.name)).toEqual([name]);
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
      const read = await readMail(raw).catch((error: unknown) => error);
      if (!(read instanceof Error)) expect(read).toHaveProperty('key');
    }
    // A thread of its own reads one as well, and ends one that takes too long.
    expect(await readMailApart(mailOf(HEAD, 'one'))).toHaveProperty('key');
    await expect(readMailApart(hostile[0] ?? Buffer.alloc(0), { read_ms: 0 })).rejects.toBeInstanceOf(UnreadableMail);
  });
});
