import { expect, test } from 'vitest';
import { examined } from '#test/examined.ts';
import { EICAR } from '#test/files.ts';

async function read(text: string) {
  const { threat, unread, coverage } = await examined(Buffer.from(text, 'latin1'));
  return { threat, unread, members: coverage.members_total };
}

const TEST_FILE = EICAR.toString('latin1');
const HEADER = 'From: a@example.net\nSubject: b\n';
const mmdf = (...mails: readonly string[]) => mails.map((mail) => `\x01\x01\x01\x01\n${mail}\x01\x01\x01\x01\n`).join('');
/** As Python's library writes it: the header once as it came and once as it is shown. */
const babyl = (...mails: readonly string[]) =>
  `BABYL OPTIONS:\nVersion: 5\nLabels:\n\x1f${mails.map((mail) => `\x0c\n1,,\n${HEADER}\n*** EOOH ***\n${HEADER}\n${mail}\n\x1f`).join('')}`;
const found = { threat: 'EICAR-Test-File', unread: [] };

test('a mail of a mailbox that is a test file is found, wherever it stands in it', async () => {
  expect(await read(mmdf(`${HEADER}\n${TEST_FILE}\n`, `${HEADER}\nhello\n`))).toMatchObject(found);
  expect(await read(mmdf(`From a@b Mon Mar  2 10:00:00 2026\n${HEADER}\nhello\n`, `${HEADER}\n${TEST_FILE}\n`))).toMatchObject(
    found,
  );
  expect(await read(babyl(TEST_FILE, 'hello'))).toMatchObject(found);
  expect(await read(babyl('hello', 'hello', TEST_FILE))).toMatchObject(found);
});

test('a mailbox that is cut short is read as far as it goes', async () => {
  expect(await read(mmdf(`${HEADER}\nhello\n`).slice(0, -9))).toMatchObject({ threat: null, unread: [] });
  expect(await read(babyl('hello').slice(0, 60))).toMatchObject({ threat: null, unread: [] });
});

test('the body of an HTTP message is a file', async () => {
  const response = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${TEST_FILE.length}\r\n\r\n${TEST_FILE}`;
  expect(await read(response)).toMatchObject(found);
  const chunks = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n${TEST_FILE.slice(0, 32)}\r\n24\r\n${TEST_FILE.slice(32)}\r\n0\r\n\r\n`;
  expect(await read(chunks)).toMatchObject(found);
  const form = 'POST /a HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n';
  expect(await read(`${form}${response}`)).toMatchObject(found);
  expect(await read('HTTP/1.1 is a protocol.\n')).toEqual({ threat: null, unread: [], members: 0 });
});

test('a mail is one, though a document that it carries begins within its first bytes', async () => {
  const document = `%PDF-1.5\n1 0 obj\n<< /Type /EmbeddedFile /Length ${TEST_FILE.length} >>\nstream\n${TEST_FILE}\nendstream\nendobj\n`;
  const quoted = Array.from(document, (letter) => `=${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
  const text = `${HEADER}Content-Transfer-Encoding: quoted-printable\n\n%PDF-1.5${quoted.slice(8).join('')}\n`;
  expect(await read(text)).toMatchObject(found);
});

test('base64 that looks like a saved value of Python is read as the text that it is', async () => {
  const text = Buffer.from(`print pack("H*", "${EICAR.toString('hex')}") # a comment that makes it longer`).toString('base64');
  expect(text[0]).toBe('c');
  expect(await read(text.replaceAll(/.{76}/g, '$&\n'))).toMatchObject({ threat: 'EICAR-Test-File' });
});
