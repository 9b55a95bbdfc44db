import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { addWebDevice, addWebName } from '@palisade/contract/web-protection';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { readAnswer, replyOf } from './harness.ts';
import { startProxy } from './proxies.ts';
import { EXAMPLES } from './proxy-examples.ts';
import { HAS_NGINX_STREAM, withoutProxy } from './proxy-programs.ts';
import { startServer } from './server-process.ts';

/** Part of every name that is asked for. */
const MARK = `q${randomBytes(9).toString('hex')}`;
/** Questions of each way, and those that are asked once the server is gone. */
const QUESTIONS = 10_000;
const LAST = 200;
const AT_ONCE = 50;
const HOST = '127.0.0.1';

const wire = (name: string) =>
  Buffer.concat([...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]), Buffer.from([0])]);

/** The question of this number: some are refused, some find no upstream, some are malformed, transfers or longer than a message. */
function questionOf(index: number): Buffer {
  const kind = index % 10;
  const parent = kind === 1 ? 'games.example' : kind === 2 && index % 200 < 10 ? 'silent.example' : 'shop.example';
  const type = kind === 3 ? [0, 252] : kind === 4 ? [0, 255] : [0, 1];
  const head = Buffer.from([index >> 8, index & 0xff, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const question = Buffer.concat([head, wire(`${MARK}-${index}.${parent}`), Buffer.from([...type, 0, 1])]);
  if (kind === 5) return question.subarray(0, question.length - 3);
  if (kind === 6) return Buffer.concat([question, Buffer.from(MARK)]);
  return kind === 7 && index % 100 === 7 ? Buffer.concat([question, Buffer.alloc(70_000, MARK)]) : question;
}

/** The ways in which the mark could be written: also within base64, at each of its three places. */
const FORMS = [
  MARK,
  Buffer.from(MARK).toString('hex'),
  ...[0, 1, 2].map((before) =>
    Buffer.from(`${'x'.repeat(before)}${MARK}`)
      .toString('base64')
      .slice(4, 20),
  ),
];
const marksIn = (text: string) => FORMS.filter((form) => text.toLowerCase().includes(form.toLowerCase()));

/** A name server that answers, badly for some names and never for `silent` ones. */
async function startUpstream(): Promise<number> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    if (/silent/iu.test(query.toString('latin1'))) return;
    const end = query.indexOf(0, 12) + 5;
    const answer = Buffer.concat([query.subarray(0, end), Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1])]);
    answer.writeUInt16BE(query.readUInt16BE(0) % 50 === 0 ? 0x8182 : 0x8180, 2);
    answer.writeUInt16BE(1, 6);
    answer.writeUInt16BE(0, 10);
    socket.send(answer, port, address);
  });
  socket.bind(0, HOST);
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return socket.address().port;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE, rejectUnauthorized: false });

/** A question over HTTPS by GET or POST, whatever comes back. */
function askHttps(port: number, key: string, message: Buffer, index: number): Promise<void> {
  const isGet = index % 2 === 0;
  const path = `/dns/${index % 97 === 0 ? 'b'.repeat(26) : key}${isGet ? `?dns=${message.toString('base64url').slice(0, 30_000)}` : ''}`;
  const headers = { host: 'localhost', 'content-type': index % 31 === 0 ? 'text/plain' : 'application/dns-message' };
  return new Promise((resolve) => {
    const sent = request({ host: HOST, port, servername: 'localhost', agent, path, method: isGet ? 'GET' : 'POST', headers });
    sent
      .once('error', () => resolve())
      .once('response', (answer) =>
        answer
          .resume()
          .once('close', resolve)
          .on('error', () => {}),
      );
    sent.end(isGet ? undefined : message);
  });
}

/** Questions over connections that each carry some; a malformed one ends its connection. */
async function askStream(open: () => ReturnType<typeof connect>, messages: readonly Buffer[]): Promise<void> {
  for (let at = 0; at < messages.length; at += AT_ONCE) {
    const socket = open().on('error', () => {});
    for (const message of messages.slice(at, at + AT_ONCE)) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Math.min(message.length, 0xffff));
      socket.write(Buffer.concat([length, message.subarray(0, 0xffff)]));
    }
    socket.end();
    await new Promise((closed) => socket.resume().once('close', closed));
  }
}

async function askUdp(port: number, messages: readonly Buffer[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const message of messages)
    await new Promise<void>((sent) => socket.send(message.subarray(0, 60_000), port, HOST, () => sent()));
  socket.close();
}

const HAS_PROXIES = withoutProxy('nginx') === undefined && withoutProxy('Caddy') === undefined;

needing('nginx, Caddy and HAProxy', HAS_PROXIES).test(
  'no name that was asked for is in a log, a metric or a proxy’s log',
  { timeout: 300_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'palisade-logs-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [cert, private_key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const subject = ['-subj', '/CN=names.example.net', '-addext', 'subjectAltName=DNS:*.names.example.net'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', private_key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
    const ports = { plain: await freePort(), tls: await freePort(), stream: await freePort(), metrics: await freePort() };
    const server = await startServer({
      ...{ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'debug', TRUSTED_PROXIES: HOST, METRICS_PORT: String(ports.metrics) },
      ...{ DNS_UPSTREAM: `${HOST}:${await startUpstream()}`, DNS_LISTEN: `${HOST}:${ports.plain}` },
      ...{ DNS_TLS_HOST: `names.example.net:${ports.tls}`, DNS_TLS_CERT_FILE: cert, DNS_TLS_KEY_FILE: private_key },
    });
    const token = await server.signIn('boss');
    const post = (path: string, body: unknown) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      return server.fetch(`/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    };
    await post(addWebName.path, { name: 'games.example', verdict: 'block' });
    const devices = [];
    for (let count = 0; count < 10; count++) {
      const body = { name: `Device ${count}`, kind: 'other', ...(count === 0 ? { address: 'network' } : {}) };
      devices.push(replyOf(await readAnswer(addWebDevice, await post(addWebDevice.path, body))));
    }
    const keys = devices.map(({ key }) => key);
    const folders: string[] = [];
    const proxied = async (kind: 'nginx' | 'Caddy') => {
      const at = await freePort();
      await startProxy(kind, { url: server.url, at }, onTestFinished, (place) => {
        folders.push(place.folder);
        if (kind === 'Caddy') return EXAMPLES.Caddy(place);
        return EXAMPLES.nginx(place, HAS_NGINX_STREAM ? { port: ports.stream, upstream: ports.tls } : undefined);
      });
      return at;
    };
    const ways = [await proxied('nginx'), await proxied('Caddy')];
    const overHttps = async (from: number, count: number) => {
      let next = from;
      const ask = async () => {
        for (let index = next++; index < from + count; index = next++)
          await askHttps(ways[index % 2] ?? 0, keys[index % keys.length] ?? '', questionOf(index), index);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
    };
    const messages = Array.from({ length: QUESTIONS }, (_, index) => questionOf(index));
    await overHttps(0, QUESTIONS * 0.5);
    await askUdp(ports.plain, messages.slice(QUESTIONS * 0.5, QUESTIONS * 0.7));
    await askStream(() => connect(ports.plain, HOST), messages.slice(QUESTIONS * 0.7, QUESTIONS * 0.8));
    for (const [index, port] of (HAS_NGINX_STREAM ? [ports.tls, ports.stream] : [ports.tls]).entries()) {
      const servername = `${keys[index + 1]}.names.example.net`;
      const open = () => connectTls({ host: HOST, port, servername, rejectUnauthorized: false });
      await askStream(open, messages.slice(QUESTIONS * (0.8 + index / 10), QUESTIONS * (0.9 + index / 10)));
    }
    const metrics = async () => await (await fetch(`http://${HOST}:${ports.metrics}/metrics`)).text();
    const measured = await metrics();
    expect(measured).toContain('palisade_');
    // The proxies say most when the server is away.
    await server.kill('SIGTERM');
    await overHttps(QUESTIONS, LAST);

    const logs: Record<string, string> = { server: server.errors(), metrics: measured };
    for (const place of folders)
      for (const name of readdirSync(place).filter((one) => /^(?:errors|.*\.log)$/u.test(one)))
        logs[join(place, name)] = readFileSync(join(place, name), 'utf8');
    expect(Object.keys(logs).length).toBeGreaterThan(4);
    expect(Object.entries(logs).flatMap(([log, text]) => marksIn(text).map((form) => [log, form]))).toEqual([]);
    expect(Object.entries(logs).filter(([, text]) => keys.some((key) => text.includes(key)))).toEqual([]);
    // Something was logged, and the forms would be found.
    expect(logs['server']).toContain('"level"');
    const written = questionOf(12_345);
    expect(marksIn(written.toString('base64url'))).toHaveLength(1);
    expect(marksIn(`${written.toString('hex')} ${written.toString('latin1')}`)).toHaveLength(2);
  },
);
