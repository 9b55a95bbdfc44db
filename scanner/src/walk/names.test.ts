import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { headerText } from '#scanner/formats/mail/header-words.ts';
import { decodePage, encodePage, PASSWORD_FORMS_MAXIMUM, passwordForms } from '#scanner/text/code-pages.ts';
import { examined } from '#test/examined.ts';
import { EICAR } from '#test/files.ts';
import { packWith7Zip } from '#test/seven-zip-pack.ts';

const folder = mkdtempSync(join(tmpdir(), 'palisade-names-'));
const read = (bytes: Buffer, password?: string) => examined(bytes, { password });

/** A stored zip with one member, whose name and extra field are given byte by byte. */
function zipOf(name: Buffer, options: { flags?: number; extra?: Buffer; content?: Buffer } = {}): Buffer {
  const { flags = 0, extra = Buffer.alloc(0), content = EICAR } = options;
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt16LE(flags, 2);
  common.writeUInt32LE(crc32(EICAR), 10);
  common.writeUInt32LE(content.length, 14);
  common.writeUInt32LE(EICAR.length, 18);
  common.writeUInt16LE(name.length, 22);
  common.writeUInt16LE(extra.length, 24);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, name, extra, content]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, Buffer.alloc(14), name, extra]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

/** The extra field 0x7075 of Info-ZIP for a name in the header. */
function unicodePath(of: Buffer, name: string): Buffer {
  const text = Buffer.from(name);
  const field = Buffer.alloc(9);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(text.length + 5, 2);
  field[4] = 1;
  field.writeUInt32LE(crc32(of), 5);
  return Buffer.concat([field, text]);
}

describe('the name of a member of a zip', () => {
  const OLD = Buffer.from('8172818474', 'hex');
  test.each([
    ['in code page 437', Buffer.from('5a81726963682e636f6d', 'hex'), {}, 'Zürich.com'],
    ['in UTF-8 by its flag', Buffer.from('Zürich.com'), { flags: 0x800 }, 'Zürich.com'],
    ['in UTF-8 without the flag', Buffer.from('Łódź.com'), {}, 'Łódź.com'],
    ['in its Unicode field', OLD, { extra: unicodePath(OLD, '資料.com') }, '資料.com'],
    [
      'of the header, where the field belongs to another name',
      OLD,
      { extra: unicodePath(Buffer.from('other'), 'x.com') },
      'ürüät',
    ],
  ])('is read %s', async (_, name, options, expected) => {
    expect((await read(zipOf(name, options))).threat_member).toBe(expected);
  });
});

describe('the name of a file in a mail', () => {
  const mail = (disposition: string | Buffer) =>
    Buffer.concat([
      Buffer.from(
        'From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; ',
      ),
      Buffer.from(disposition),
      Buffer.from(`\r\n\r\n${EICAR.toString('base64')}\r\n`),
    ]);
  const word = (charset: string, bytes: Buffer) => `=?${charset}?B?${bytes.toString('base64')}?=`;
  test.each<[string, string | Buffer, string]>([
    [
      'a word in ISO-2022-JP',
      `filename="${word('ISO-2022-JP', Buffer.from('1b24423b714e411b28422e636f6d', 'hex'))}"`,
      '資料.com',
    ],
    [
      'a word in ISO-2022-KR',
      `filename="${word('iso-2022-kr', Buffer.from('1b2429430e4751315b0f2e636f6d', 'hex'))}"`,
      '한글.com',
    ],
    ['a word in Windows-1252', 'filename="=?windows-1252?Q?=80_M=FCnchen.com?="', '€ München.com'],
    ['a word in Windows-1251', `filename="${word('windows-1251', Buffer.from('cff0e8e2e5f22e636f6d', 'hex'))}"`, 'Привет.com'],
    ['a word in code page 850', `filename="${word('ibm850', Buffer.from('9b2e636f6d', 'hex'))}"`, 'ø.com'],
    ['a word with a language', 'filename="=?UTF-8*de?Q?M=C3=BCnchen.com?="', 'München.com'],
    [
      'a letter that was cut between two words',
      `filename="${word('utf-8', Buffer.from('e8b3', 'hex'))}\r\n ${word('utf-8', Buffer.from('87e696992e636f6d', 'hex'))}"`,
      '資料.com',
    ],
    ['raw UTF-8', 'filename="Zürich.com"', 'Zürich.com'],
    ['raw Windows-1252', Buffer.from('filename="Z\xfcrich.com"', 'latin1'), 'Zürich.com'],
    ['RFC 2231', "filename*=UTF-8''Z%C3%BCrich.com", 'Zürich.com'],
    ['RFC 2231 in ISO-8859-1', "filename*=iso-8859-1'de'Z%FCrich.com", 'Zürich.com'],
    ['RFC 2231 in pieces, not in their order', 'filename*1="%20.com"; filename*0*=UTF-8\'\'Z%C3%BCrich', 'Zürich%20.com'],
    ['RFC 2231 beside a plain name', 'filename="Zurich.com"; filename*=UTF-8\'\'Z%C3%BCrich.com', 'Zürich.com'],
    ['a percent sign that is one', 'filename="100%25.com"', '100%25.com'],
  ])('is read from %s', async (_, disposition, expected) => {
    expect((await read(mail(disposition))).threat_member).toBe(expected);
  });

  test('of an unknown charset is shown all the same', () => {
    expect(headerText('=?x-unknown?Q?a.com?=')).toBe('a.com');
  });
});

/** The old cipher of PKZIP (APPNOTE 6.1), for a password byte by byte. */
function locked(password: Buffer, plain: Buffer): Buffer {
  const crcOf = (crc: number, byte: number) => (crc32(Buffer.from([byte]), ~crc >>> 0) ^ 0xffffffff) >>> 0;
  let [key0, key1, key2] = [0x12345678, 0x23456789, 0x34567890];
  const turn = (byte: number) => {
    key0 = crcOf(key0, byte);
    key1 = (Math.imul(key1 + (key0 & 0xff), 134_775_813) + 1) >>> 0;
    key2 = crcOf(key2, key1 >>> 24);
  };
  for (const byte of password) turn(byte);
  return Buffer.from(
    plain.map((byte) => {
      const mixed = (key2 | 2) & 0xffff;
      const coded = byte ^ ((Math.imul(mixed, mixed ^ 1) >>> 8) & 0xff);
      turn(byte);
      return coded;
    }),
  );
}

/** An encrypted zip as a program of Windows writes it, which takes the password in its code page. */
function lockedZip(password: Buffer): Buffer {
  const head = Buffer.concat([Buffer.alloc(11, 7), Buffer.from([crc32(EICAR) >>> 24])]);
  return zipOf(Buffer.from('a.com'), { flags: 1, content: locked(password, Buffer.concat([head, EICAR])) });
}

describe('a password with letters outside ASCII', () => {
  test.each([
    ['cp850', 'Grüße'],
    ['cp437', 'ñandú π'],
    ['windows-1252', 'prix 5 €'],
    ['shift_jis', 'パスワード'],
    ['cp852', 'žluťoučký'],
    ['windows-1250', 'Kőbánya'],
    ['ibm866', 'пароль'],
    ['windows-1251', 'пароль'],
    ['gbk', '密码'],
    ['euc-kr', '비밀번호'],
    ['big5', '密碼'],
    ['windows-1253', 'κωδικός'],
    ['windows-1254', 'şifre ğ'],
  ])('opens a zip that was locked in %s', async (page, password) => {
    const bytes = encodePage(page, password);
    expect(bytes).toBeDefined();
    const examination = await read(lockedZip(bytes ?? Buffer.alloc(0)), password);
    expect(examination).toMatchObject({ threat: 'EICAR-Test-File', unread: [] });
  });

  test.each(['NFC', 'NFD'] as const)(
    'opens a zip and a 7z that were locked with its letters in %s, typed in either',
    async (form) => {
      const word = 'Grüße é';
      expect((await read(lockedZip(Buffer.from(word.normalize(form))), word.normalize('NFC'))).threat).toBe('EICAR-Test-File');
      expect((await read(lockedZip(Buffer.from(word.normalize(form))), word.normalize('NFD'))).threat).toBe('EICAR-Test-File');
      const packed = await packWith7Zip({ 'a.com': EICAR }, ['-t7z', '-mhe=on', `-p${word.normalize(form)}`]);
      expect((await read(packed, word.normalize('NFD'))).threat).toBe('EICAR-Test-File');
      expect((await read(packed, word.normalize('NFC'))).threat).toBe('EICAR-Test-File');
    },
  );

  test('does not open what another one locked', async () => {
    expect((await read(lockedZip(Buffer.from('other')), 'Grüße')).unread).toEqual(['encrypted']);
  });

  test('is tried in no more forms than the limit, and one of ASCII in one', () => {
    expect(passwordForms('secret')).toEqual([Buffer.from('secret')]);
    for (const word of ['Grüße', 'пароль', '密码', 'パスワード', 'é']) {
      const forms = passwordForms(word);
      expect(forms.length).toBeGreaterThanOrEqual(2);
      expect(forms.length).toBeLessThanOrEqual(PASSWORD_FORMS_MAXIMUM);
    }
  });

  const program = '/usr/bin/zip';
  test.skipIf(!existsSync(program))('opens an archive that the program zip locked with the bytes of code page 850', async () => {
    // The shell puts the bytes together: an argument of Node is UTF-8.
    execFileSync(
      '/bin/sh',
      ['-c', `printf '%s' "$1" > a.com && zip -q -P "$(printf 'Gr\\201\\341e')" a.zip a.com`, 'sh', EICAR.toString('latin1')],
      { cwd: folder },
    );
    expect((await read(readFileSync(join(folder, 'a.zip')), 'Grüße')).threat).toBe('EICAR-Test-File');
  });
});

test('a code page and its inverse are the same', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  for (const page of ['cp437', 'cp850', 'cp852', 'ibm866', 'windows-1252'])
    expect(encodePage(page, decodePage(page, bytes) ?? '')).toEqual(bytes);
});
