import type { FastifyRequest } from 'fastify';
import { hostOf } from './local-request.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const HOST_SHOWN_MAXIMUM = 100;

function asText(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? '');
}

/** The page for a browser that used a host name which this server refuses in local exposure. */
export function wrongHostPage({ headers, raw }: FastifyRequest): string {
  const host = asText(hostOf(headers.host).slice(0, HOST_SHOWN_MAXIMUM));
  const port = raw.socket.localPort ?? '';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Palisade does not answer here</title>
<style>body { max-width: 40rem; margin: 4rem auto; padding: 0 1rem; font: 1rem/1.6 system-ui, sans-serif; color-scheme: light dark; }</style>
<h1>Palisade does not answer here</h1>
<p>You opened <strong>${host}</strong>. This server is set up for the machine that it runs on alone, and answers only to that machine's own names.</p>
<p>On that machine, open <a href="http://localhost:${port}">http://localhost:${port}</a>.</p>
<p>For other machines, or behind a proxy: whoever runs the server sets <code>PUBLIC_URL</code> to the address that people open, for example
<code>PUBLIC_URL=https://${host}</code>, and starts it again. What else is needed then, it says at its start.</p>
</html>
`;
}
