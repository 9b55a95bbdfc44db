import { format } from '#scanner/formats/format.ts';
import type { Content } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';
import { openReader } from '#scanner/reading/reader.ts';
import { httpMessages } from './http-messages.ts';

// Files of HTTP messages, as saved by `curl -i`, proxies and browsers. Their bodies are the files that a client would receive.

/** Maximum size of a file, which is read into memory. Bytes. */
const BYTES_MAXIMUM = 16 * 1024 ** 2;
/** The first line and one header field. The first line alone also begins many logs. */
const BEGIN = /^(?:HTTP\/1\.[01] \d{3}[^\r\n]{0,200}|[A-Z]{3,10} \S{1,2048} HTTP\/1\.[01])\r?\n[A-Za-z][\w-]{0,60}:/;
const BEGIN_BYTES = 4096;

function isHttp(head: Buffer): boolean {
  // Most files do not begin with an upper-case letter, so the expression is not run on them.
  const [first = 0] = head;
  return first >= 0x41 && first <= 0x5a && BEGIN.test(head.toString('latin1', 0, BEGIN_BYTES));
}

/** The body of each message as a file. All other bytes are examined with the file itself. */
async function* httpMembers(content: Content, { budget }: ReadContext): AsyncGenerator<Member> {
  using reader = openReader(content, budget);
  if (reader.size > BYTES_MAXIMUM) return;
  const messages = httpMessages(reader.at(0, reader.size), budget);
  for (const [index, { bytes, ending }] of (messages?.bodies ?? []).entries()) {
    budget.addUnpacked(bytes.length, bytes.length, reader.size);
    yield { name: `message ${index + 1}${ending}`, read: () => ({ content: { size: bytes.length, bytes } }) };
  }
}

export const http = format({
  id: 'http',
  recogniseBeside: ({ head, first }) => (first === undefined && isHttp(head) ? 48 : 0),
  traits: { is_text: true, is_beside: true },
  limits: null,
  open: httpMembers,
});
