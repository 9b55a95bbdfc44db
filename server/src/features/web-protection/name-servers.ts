import { type Ask, endOfQuestion, isAnswerTo, plainUpstream, tlsUpstream } from '@palisade/names/upstream';
import type { NameServer } from '#platform/dns-settings.ts';

const MESSAGE = 'application/dns-message';
const MESSAGE_MAXIMUM = 65_524;

/** Reads a DNS message. @throws Error for a body above the maximum size of a message. */
async function readMessage(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MESSAGE_MAXIMUM) throw new Error('not a DNS message');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** An upstream over HTTPS (RFC 8484). */
function httpsUpstream(url: string): Ask {
  return async (query, signal) => {
    const headers = { 'content-type': MESSAGE, accept: MESSAGE };
    const reply = await fetch(url, { method: 'POST', redirect: 'error', headers, body: new Uint8Array(query), signal });
    const isMessage = reply.ok && reply.headers.get('content-type') === MESSAGE && reply.body !== null;
    const answer = isMessage ? await readMessage(reply.body) : Buffer.alloc(0);
    if (!isAnswerTo(query, endOfQuestion(query), answer)) throw new Error('not an answer to the question');
    return answer;
  };
}

export function askOf(server: NameServer): Ask {
  if (server.kind === 'https') return httpsUpstream(server.url);
  return server.kind === 'tls' ? tlsUpstream(server) : plainUpstream(server);
}
