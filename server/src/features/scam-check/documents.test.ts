import { ole } from '@palisade/scanner/test/containers';
import PostalMime from 'postal-mime';
import { describe, expect, test } from 'vitest';
import { readOutlookLetter, readPdf } from './documents.ts';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

describe('a PDF', () => {
  const page = 'BT /F1 12 Tf 72 700 Td (Pay the fee at our office.) Tj ET';
  const pdf = Buffer.from(
    [
      '%PDF-1.4',
      '1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj',
      '2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj',
      '3 0 obj << /Type /Page /Parent 2 0 R /Contents 4 0 R /Annots [5 0 R] >> endobj',
      `4 0 obj << /Length ${page.length} >> stream\n${page}\nendstream endobj`,
      '5 0 obj << /Type /Annot /Subtype /Link /A << /S /URI /URI (https://dhl-fee.top/a\\(b\\)) >> >> endobj',
      'trailer << /Root 1 0 R >>',
      '%%EOF',
    ].join('\n'),
  );

  test('gives the text of its pages and its links', async () => {
    const { text, coverage } = (await readPdf(pdf)) ?? {};
    expect(coverage).toEqual({});
    expect(text).toContain('Pay the fee at our office.');
    expect(text).toContain('https://dhl-fee.top/a(b)');
  });
  test('that is cut off gives what it has', async () =>
    expect((await readPdf(pdf.subarray(0, pdf.length - 60)))?.text).toContain('Pay the fee at our office.'));
  test('without text and links is not read', async () => expect(await readPdf(Buffer.from('%PDF-1.4\n%%EOF'))).toBeUndefined());
  test('is told by its bytes', async () => expect(await readPdf(Buffer.from('BT (words) Tj ET'))).toBeUndefined());
});

describe('a letter of Outlook', () => {
  const letter = ole([
    { name: '__substg1.0_0037001F', content: utf16('Your account\r\nBcc: everyone') },
    { name: '__substg1.0_0C1A001F', content: utf16('PayPal') },
    { name: '__substg1.0_0C1F001F', content: utf16('/o=Exchange/cn=someone') },
    { name: '__substg1.0_5D01001F', content: utf16('service@paypa1-secure.com') },
    { name: '__substg1.0_007D001F', content: utf16('Received: x\r\nReply-To: collect@example.net\r\nSubject: other') },
    { name: '__substg1.0_1000001F', content: utf16('Confirm at https://paypa1-secure.com/login') },
    { name: '__substg1.0_10130102', content: Buffer.from('<a href="https://paypa1-secure.com">PayPal</a>') },
    { name: '__substg1.0_37010102', content: Buffer.from('program') },
    { name: '__substg1.0_3707001F', content: utf16('invoice.pdf.exe') },
  ]);

  test('becomes the source of an email, with one line for each field', async () => {
    const { source = '', coverage } = (await readOutlookLetter(letter)) ?? {};
    expect(coverage).toEqual({});
    const email = await PostalMime.parse(source);
    expect(email).toMatchObject({
      from: { name: 'PayPal', address: 'service@paypa1-secure.com' },
      replyTo: [{ address: 'collect@example.net' }],
      subject: 'Your account Bcc: everyone',
      attachments: [{ filename: 'invoice.pdf.exe' }],
    });
    expect(email.text).toContain('Confirm at https://paypa1-secure.com/login');
    expect(email.html).toContain('href="https://paypa1-secure.com"');
    expect(email.bcc).toBeUndefined();
  });
  test('keeps all its files, for the limit of the check', async () => {
    const files = Array.from({ length: 55 }, (_, at) => ({ name: '__substg1.0_37010102', content: Buffer.from(`file ${at}`) }));
    const { source = '' } =
      (await readOutlookLetter(ole([{ name: '__substg1.0_0C1F001F', content: utf16('a@example.org') }, ...files]))) ?? {};
    expect((await PostalMime.parse(source)).attachments).toHaveLength(55);
  });
  test('says that it has pictures, or words in rich text alone', async () => {
    const pictured = Buffer.from(
      '%PDF-1.4\n1 0 obj << /S /URI /URI (https://example.org/) >> endobj\n6 0 obj << /Subtype /Image >> endobj\n%%EOF',
    );
    expect((await readPdf(pictured))?.coverage).toMatchObject({ codes: 'document_pictures' });
    const rich = ole([
      { name: '__substg1.0_0C1F001F', content: utf16('a@example.org') },
      { name: '__substg1.0_10090102', content: Buffer.alloc(40) },
    ]);
    expect((await readOutlookLetter(rich))?.coverage).toMatchObject({ words: 'no_document_reader' });
  });
  test('that is damaged gives nothing', async () => {
    expect(await readOutlookLetter(letter.subarray(0, 600))).toBeUndefined();
    expect(await readOutlookLetter(Buffer.from('words'))).toBeUndefined();
  });
});
