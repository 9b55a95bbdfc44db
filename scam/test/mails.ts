// Emails for tests.

export interface Part {
  name?: string;
  type?: string;
  content: Uint8Array | string;
}

const base64 = (content: Uint8Array | string) => Buffer.from(content).toString('base64').replaceAll(/.{76}/g, '$&\r\n');

/** The source of a part of an email, in base64. */
function partOf({ name, type = 'application/octet-stream', content }: Part): string {
  const disposition = name === undefined ? '' : `Content-Disposition: attachment; filename="${name}"\r\n`;
  return `Content-Type: ${type}\r\n${disposition}Content-Transfer-Encoding: base64\r\n\r\n${base64(content)}\r\n`;
}

/** The source of an email: its fields, its text, and its attachments. */
export function mailOf(parts: readonly Part[] = [], text = 'See you at eight, I have the tickets for you.', fields = ''): string {
  const head = `From: Ada <ada@example.org>\r\nTo: <me@example.net>\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n${fields}`;
  const all = [{ type: 'text/plain; charset=utf-8', content: text }, ...parts].map((part) => `--palisade\r\n${partOf(part)}`);
  return `${head}Content-Type: multipart/mixed; boundary=palisade\r\n\r\n${all.join('')}--palisade--\r\n`;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
