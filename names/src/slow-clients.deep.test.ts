import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { answerTo, questionFor } from '#test/messages.ts';
import { listenPlain, listenTls } from './listen.ts';

const HOST = '127.0.0.1';
const address = { host: HOST, port: 0 };
const answering = async (message: Buffer) => ({ answer: answerTo(message, []) });
const framed = (message: Buffer) => Buffer.concat([Buffer.from([0, message.length]), message]);

function certificate() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=dns.example'];
  execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const read = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return read;
}

const WAYS = {
  TCP: {
    listen: () => listenPlain(address, answering),
    open: async (port: number, localAddress: string) => {
      const socket = connect({ host: HOST, port, localAddress });
      await once(socket, 'connect');
      return socket;
    },
  },
  TLS: {
    listen: () => listenTls(address, certificate(), async () => answering),
    open: async (port: number, localAddress: string) => {
      const raw = connect({ host: HOST, port, localAddress });
      const socket = connectTls({ socket: raw, servername: 'key.dns.example', rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      return socket;
    },
  },
} as const;

async function started(way: keyof typeof WAYS) {
  const { listen, open } = WAYS[way];
  const listener = await listen();
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close();
  });
  return {
    port: listener.port,
    sockets,
    async open(source: string) {
      const socket = await open(listener.port, source);
      sockets.push(socket.on('error', () => {}));
      return socket;
    },
  };
}

it.each(['TCP', 'TLS'] as const)('a thousand idle connections over %s hold no question up', async (way) => {
  const { open, sockets } = await started(way);
  for (let source = 1; source <= 10; source++) await Promise.all(Array.from({ length: 100 }, () => open(`127.0.1.${source}`)));
  const asking = await open('127.0.2.1');
  asking.write(framed(questionFor('shop.example', { id: 11 })));
  const answer = await new Promise<Buffer>((resolve) => asking.once('data', resolve));
  expect(answer.readUInt16BE(2)).toBe(11);
  expect(sockets.filter((socket) => socket.readableEnded || socket.destroyed)).toEqual([]);
});

it.each([
  ['TCP', 'a message'],
  ['TLS', 'a message'],
  ['TLS', 'a greeting'],
] as const)('a connection over %s that sends %s byte by byte is ended', async (way, what) => {
  const { open, port } = await started(way);
  const socket = what === 'a message' ? await open('127.0.3.1') : connect({ host: HOST, port }).on('error', () => {});
  const bytes = what === 'a message' ? framed(questionFor('a-long-name.shop.example')) : Buffer.from('160301020001', 'hex');
  let sent = 0;
  const sending = setInterval(() => socket.write(bytes.subarray(sent, ++sent)), 1_000);
  socket.write(bytes.subarray(sent, ++sent));
  socket.resume();
  await once(socket, 'close');
  clearInterval(sending);
  expect(sent).toBeLessThan(bytes.length + 12);
  expect(sent).toBeGreaterThan(5);
});

it.each(['TCP', 'TLS'] as const)('connections over %s that ended leave their source its hundred', async (way) => {
  const { open } = await started(way);
  for (let round = 0; round < 3; round++) {
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open('127.0.4.1')));
    for (const socket of sockets) socket.end();
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
  }
});
