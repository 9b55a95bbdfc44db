import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { readMail } from './read-mail.ts';

const HEAD = 'From: Maria <maria@example.com>\r\nTo: <support@example.com>\r\nSubject: x\r\n';
const JAPANESE = 'ウイルスが見つかりました';
const mail = (fields: string, body: Buffer | string) =>
  Buffer.concat([Buffer.from(`${HEAD}${fields}\r\n`), typeof body === 'string' ? Buffer.from(body) : body]);
const plain = (charset?: string) => `Content-Type: text/plain${charset === undefined ? '' : `; charset=${charset}`}\r\n`;
const seven = (text: string) => Buffer.from(text, 'latin1');
const iso2022 = Buffer.from('\x1b$B%&%$%k%9$,8+$D$+$j$^$7$?\x1b(B', 'latin1');

describe('the letters of a mail', () => {
  test.each([
    ['UTF-8, said', plain('utf-8'), Buffer.from('Grüße €'), 'Grüße €'],
    ['UTF-8, not said', plain(), Buffer.from('Grüße € 漢字'), 'Grüße € 漢字'],
    ['UTF-8, without a type', '', Buffer.from('Grüße € 漢字'), 'Grüße € 漢字'],
    ['Windows 1252, not said', plain(), iconv.encode('Grüße – “10 €”', 'windows-1252'), 'Grüße – “10 €”'],
    ['Windows 1251, said', plain('windows-1251'), iconv.encode('Привет', 'windows-1251'), 'Привет'],
    ['Windows 1251, by the language', `${plain()}Content-Language: ru-RU\r\n`, iconv.encode('Привет', 'windows-1251'), 'Привет'],
    [
      'Windows 1250, by the language',
      `${plain()}Content-Language: cs\r\n`,
      iconv.encode('Příliš žluťoučký', 'windows-1250'),
      'Příliš žluťoučký',
    ],
    ['a code page that browsers do not know', plain('cp850'), iconv.encode('Grüße', 'cp850'), 'Grüße'],
    ['a code page of DOS', plain('"IBM437"'), iconv.encode('Grüße', 'cp437'), 'Grüße'],
    ['KOI8-R', plain('koi8-r'), iconv.encode('Привет', 'koi8-r'), 'Привет'],
    ['ISO-2022-JP, said', plain('iso-2022-jp'), iso2022, JAPANESE],
    ['ISO-2022-JP, not said', plain(), iso2022, JAPANESE],
    ['ISO-2022-JP, without a type', '', iso2022, JAPANESE],
    ['ISO-2022-KR, said', plain('iso-2022-kr'), seven('\x1b$)C\x0e>H3gGO<<?d\x0f Palisade'), '안녕하세요 Palisade'],
    ['ISO-2022-KR, not said', plain(), seven('\x1b$)C\x0e>H3gGO<<?d\x0f Palisade'), '안녕하세요 Palisade'],
    ['ISO-2022-CN, said', plain('ISO-2022-CN'), seven('\x1b$)A\x0eVPND<rLe\x0f!'), '中文简体!'],
    ['ISO-2022-CN, not said', plain(), seven('\x1b$)A\x0eVPND<rLe\x0f!'), '中文简体!'],
    ['ISO-2022-CN, whose lines end its letters', plain('iso-2022-cn'), seven('\x1b$)A\x0eVPND\nok'), '中文\nok'],
    ['HZ', plain('hz-gb-2312'), seven('~{VPND<rLe~} ~~ ok'), '中文简体 ~ ok'],
    ['quoted-printable, not said', `${plain()}Content-Transfer-Encoding: quoted-printable\r\n`, 'Gr=C3=BC=C3=9Fe', 'Grüße'],
    ['base64, not said', `${plain()}Content-Transfer-Encoding: base64\r\n`, Buffer.from('Grüße').toString('base64'), 'Grüße'],
    [
      'HTML with its charset in meta',
      'Content-Type: text/html\r\n',
      iconv.encode(
        '<html><head><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"></head><body>Привет</body></html>',
        'windows-1251',
      ),
      'Привет',
    ],
    [
      'HTML with meta charset',
      'Content-Type: text/html\r\n',
      iconv.encode('<meta charset=shift_jis><p>ウイルス</p>', 'shift_jis'),
      'ウイルス',
    ],
    [
      'HTML entities',
      'Content-Type: text/html; charset=utf-8\r\n',
      '<p>&Zcaron;&ccaron;&lambda;&rarr;&frac12;&#8364;&#x1F600;&#150;&NotEqualTilde;</p>',
      'Žčλ→½€😀–≂̸',
    ],
    [
      'HTML entities without an end',
      'Content-Type: text/html; charset=utf-8\r\n',
      '<p>AT&ampT &copy 2026 &eacute</p>',
      'AT&T © 2026 é',
    ],
  ])('are read as they were written: %s', async (_what, fields, body, text) => {
    expect(await readMail(mail(fields, body))).toMatchObject({ text, has_lost_letters: false });
  });

  test('are missed where no page here has them, so that the original is kept: ISO-2022-CN of Taiwan', async () => {
    const read = await readMail(mail(plain('iso-2022-cn'), seven('\x1b$)G\x0eGcGc\x0fok')));
    expect(read).toMatchObject({ text: '\ufffd\ufffdok', has_lost_letters: true });
  });

  test('of several parts are read each as it says', async () => {
    const body = Buffer.concat([
      Buffer.from('--b\r\nContent-Type: text/plain\r\n\r\n'),
      Buffer.from('Grüße'),
      Buffer.from('\r\n--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nÄpfel\r\n--b--\r\n'),
    ]);
    const { text } = await readMail(mail('MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n', body));
    expect(text).toContain('Grüße');
    expect(text).toContain('Äpfel');
  });

  test('that could not be read are reported as lost', async () => {
    const broken = Buffer.concat([Buffer.from('Gr'), Buffer.from([0xff, 0xfe]), Buffer.from('e')]);
    expect(await readMail(mail(plain('utf-8'), broken))).toMatchObject({ has_lost_letters: true });
  });
});
