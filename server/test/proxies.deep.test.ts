import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { startProxy } from './proxies.ts';
import { PROXY_KINDS, type ProxyKind, withoutProxy } from './proxy-programs.ts';

const saidSchema = z.object({ version: z.string(), host: z.string(), names: z.array(z.string()) });

/** Basis of `platform/local-request.ts`: the requests of each proxy with its defaults to the server behind it. */
const SAYS: Readonly<Record<ProxyKind, { version: string; own_host: boolean; adds: string[] }>> = {
  nginx: { version: '1.0', own_host: true, adds: [] },
  'nginx with headers': { version: '1.1', own_host: false, adds: ['X-Real-IP', 'X-Forwarded-For', 'X-Forwarded-Proto'] },
  Caddy: { version: '1.1', own_host: false, adds: ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto'] },
  HAProxy: { version: '1.1', own_host: false, adds: [] },
};

async function startEcho(): Promise<string> {
  const server = createServer((request, reply) => {
    const names = request.rawHeaders.filter((_, index) => index % 2 === 0);
    reply.end(JSON.stringify({ version: request.httpVersion, host: request.headers.host, names }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

describe.each(PROXY_KINDS)('%s', (kind) => {
  test.skipIf(withoutProxy(kind) !== undefined)('sends the facts about the request to the server', async () => {
    const url = await startEcho();
    const proxy = await startProxy(kind, { url });
    const answer = await fetch(`${proxy.url}/somewhere`, { headers: { 'X-Own': 'x' } });
    const { version, host, names } = saidSchema.parse(await answer.json());
    expect({ version, own_host: host === new URL(url).host, adds: names.filter((name) => /^x-(?!own)/i.test(name)) }).toEqual(
      SAYS[kind],
    );
    // HAProxy writes every name in lower case, and sends no `connection`.
    expect(names.includes('host') && !names.some((name) => name.toLowerCase() === 'connection')).toBe(kind === 'HAProxy');
  });
});
