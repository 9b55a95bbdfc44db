import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { listMessages } from '@palisade/contract/chat-read';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished } from 'vitest';
import { z } from 'zod';
import { freshFolder, HAS_CLUSTER, startCluster } from './cluster.ts';
import { freePort } from './free-port.ts';
import { startProxy } from './proxies.ts';
import { nginxBeforeTwo } from './proxy-examples.ts';
import { withoutProxy } from './proxy-programs.ts';
import { registerAt } from './server-process.ts';

// The example for nginx before two servers that stop and start again one after the other, as in a rolling upgrade.

const SOURCES = 20;
const PEOPLE = 5;
const AT_ONCE = 4;
const REQUESTS = 1_000;
const LOOK_MS = 20;
const BOUNDARY = 'a-boundary';
const is_possible = HAS_CLUSTER && withoutProxy('nginx') === undefined;

interface Asked {
  method: 'GET' | 'POST';
  path: string;
  from: string;
  token: string;
  body?: string;
}

/** nginx and two servers behind it, and requests to it that keep their connections, as those of browsers. */
async function startBehindNginx() {
  const cluster = await startCluster();
  const port = await freePort();
  const url = `https://localhost:${port}`;
  const fixed = { PUBLIC_URL: url, EXPOSURE: 'local', TRUSTED_PROXIES: '127.0.0.1', DATABASE_TIMEOUT: '60' };
  const places = [await freePort(), await freePort()].map((at) => ({ PORT: `${at}`, DATA_DIR: freshFolder('behind-nginx') }));
  const start = async (place: Record<string, string>) => await cluster.start({ ...fixed, ...place });
  const [first, second] = places.map(({ PORT }) => Number(PORT));
  await startProxy('nginx', { url, at: port }, onTestFinished, nginxBeforeTwo(first ?? 0, second ?? 0));
  const agents = new Map<string, Agent>();
  onTestFinished(() => void [...agents.values()].map((agent) => agent.destroy()));

  function open({ method, path, from, token }: Asked, headers: Record<string, string>) {
    const agent = agents.get(from) ?? new Agent({ keepAlive: true, localAddress: from, rejectUnauthorized: false });
    agents.set(from, agent);
    return request(`${url}/api${path}`, { method, agent, headers: { authorization: `Bearer ${token}`, ...headers } });
  }
  async function ask(asked: Asked): Promise<{ status: number; text: string }> {
    const sent = open(asked, asked.body === undefined ? {} : { 'content-type': 'application/json' });
    sent.end(asked.body);
    const [answer] = z.tuple([z.custom<import('node:http').IncomingMessage>()]).parse(await once(sent, 'response'));
    const parts = await answer.setEncoding('utf8').toArray();
    return { status: answer.statusCode ?? 0, text: parts.join('') };
  }
  return { places, start, ask, open };
}

needing('PostgreSQL, an S3 server, Redis and nginx', is_possible).test(
  'a rolling upgrade behind nginx has no answer 502 or 504, reads are all answered, and no message is lost or doubled',
  { timeout: 600_000 },
  async () => {
    const { places, start, ask, open } = await startBehindNginx();
    const servers = await Promise.all(places.map(start));
    const tokens: string[] = [];
    for (let person = 0; person < PEOPLE; person += 1)
      tokens.push(await registerAt(`http://127.0.0.1:${places[person % 2]?.PORT}`, `person${person}`));
    const someone = (index: number) => ({ from: `127.0.0.${2 + (index % SOURCES)}`, token: tokens[index % PEOPLE] ?? '' });

    const answers = { GET: new Map<number, number>(), POST: new Map<number, number>() };
    const said = new Set<string>();
    let sent = 0;
    let is_over = false;
    async function work(): Promise<void> {
      while (!is_over) {
        const index = sent;
        sent += 1;
        const message = `message ${index}`;
        const asked: Asked =
          index % 3 === 0
            ? { ...someone(index), method: 'POST', path: '/chat/messages', body: JSON.stringify({ message, sender: 'user' }) }
            : { ...someone(index), method: 'GET', path: index % 3 === 1 ? '/dashboard/status' : '/antivirus/scans' };
        const { status } = await ask(asked);
        const statuses = answers[asked.method];
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (asked.method === 'POST' && status < 300) said.add(message);
      }
    }
    const workers = Promise.all(Array.from({ length: AT_ONCE }, work));
    /** Until so many more requests were sent, or one of the workers fails. */
    async function more(count: number): Promise<void> {
      for (const until = sent + count; sent < until; ) await Promise.race([workers, pause(LOOK_MS)]);
    }
    await more(REQUESTS / 5);
    for (const [index, place] of places.entries()) {
      // An upload from each address that has not come whole: the server that stops waits for some of them and refuses other requests with 503.
      const uploads = Array.from({ length: SOURCES }, (_, source) => {
        const upload = open(
          { ...someone(source), method: 'POST', path: '/antivirus/scan' },
          { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
        );
        upload.on('error', () => {}).on('response', (answer) => answer.resume());
        upload.write(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf`);
        return upload;
      });
      await more(REQUESTS / 10);
      const ended = servers[index]?.kill('SIGTERM');
      await more(REQUESTS / 10);
      for (const upload of uploads) upload.end(`\r\n--${BOUNDARY}--\r\n`);
      expect(await ended).toBe(0);
      await more(REQUESTS / 10);
      servers[index] = await start(place);
    }
    await more(REQUESTS / 5);
    is_over = true;
    await workers;

    const counted = { GET: Object.fromEntries(answers.GET), POST: Object.fromEntries(answers.POST) };
    process.stdout.write(`${sent} requests: ${JSON.stringify(counted)}\n`);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    expect(Object.keys(counted.GET)).toEqual(['200']);
    expect(Object.keys(counted.POST).filter((status) => !['200', '201', '503'].includes(status))).toEqual([]);
    const stored: string[] = [];
    for (const [index, token] of tokens.entries()) {
      const { text } = await ask({ method: 'GET', path: `${listMessages.path}?limit=500`, from: someone(index).from, token });
      const messages = z.array(z.object({ message: z.string(), sender: z.string() })).parse(JSON.parse(text));
      // Beside them are automatic replies.
      stored.push(...messages.filter(({ sender }) => sender === 'user').map(({ message }) => message));
    }
    expect(stored.length).toBe(new Set(stored).size);
    expect([...said].filter((message) => !stored.includes(message))).toEqual([]);
  },
);
