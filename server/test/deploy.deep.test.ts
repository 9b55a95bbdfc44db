import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scanSchema, UPLOAD_MAXIMUM } from '@palisade/contract/antivirus';
import { login, register } from '@palisade/contract/auth';
import { serverFrameSchema } from '@palisade/contract/events';
import { listSessions } from '@palisade/contract/sessions';
import { noise } from '@palisade/scanner/test/files';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseSettings } from '#platform/settings.ts';
import { freePort } from './free-port.ts';
import { startTestApp } from './harness.ts';
import { startProxy } from './proxies.ts';
import { caddyWith, nginxWith, withoutProxy } from './proxy-programs.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'palisade-deploy-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Puts something else in a text, which must be there once. */
function put(text: string, from: string, to: string): string {
  expect(text.split(from).length, from).toBe(2);
  return text.replace(from, to);
}

/** The examples with nothing changed but names, ports and certificates: what a machine without them needs. */
const EXAMPLES = {
  nginx: ({ folder: place, port, upstream }: { folder: string; port: number; upstream: number }) => {
    const [key, certificate] = [join(place, 'privkey.pem'), join(place, 'fullchain.pem')];
    const subject = ['-nodes', '-subj', '/CN=localhost', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    let conf = read('nginx.conf').replaceAll('palisade.example.com', 'localhost');
    conf = put(conf, '/etc/ssl/palisade/privkey.pem', key);
    conf = put(conf, '/etc/ssl/palisade/fullchain.pem', certificate);
    conf = put(conf, 'listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`);
    conf = put(conf, 'listen 80;', `listen unix:${join(place, 'http.socket')};`);
    return nginxWith(place, put(conf, 'server 127.0.0.1:3000;', `server 127.0.0.1:${upstream};`));
  },
  Caddy: ({ folder: place, port, upstream }: { folder: string; port: number; upstream: number }) =>
    caddyWith(place, ['admin off', 'auto_https disable_redirects', 'skip_install_trust'], read('Caddyfile'), {
      PALISADE_HOST: `localhost:${port}`,
      PALISADE_SERVERS: `127.0.0.1:${upstream}`,
    }),
} as const;
const kinds = (['nginx', 'Caddy'] as const).filter((kind) => withoutProxy(kind) === undefined);

interface Said {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** A request to localhost over TLS, from an address of loopback of its own. */
function ask(
  port: number,
  path: string,
  how: { method?: string; headers?: Record<string, string | number>; body?: Buffer | string; from?: string } = {},
): Promise<Said> {
  const { method = how.body === undefined ? 'GET' : 'POST', headers = {}, body, from } = how;
  const target = { host: '127.0.0.1', port, servername: 'localhost', rejectUnauthorized: false, agent: false } as const;
  return new Promise((resolve, reject) => {
    const sent = request(
      { ...target, path, method, headers: { host: `localhost:${port}`, ...headers }, ...(from && { localAddress: from }) },
      (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('error', reject);
        answer.once('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(parts).toString() }),
        );
      },
    );
    sent.once('error', reject);
    onTestFinished(() => void sent.destroy());
    // The head alone says how much is to come.
    if (headers['content-length'] !== undefined && body === undefined) sent.flushHeaders();
    else sent.end(body);
  });
}

describe.each(kinds)('the example for %s', (kind) => {
  test('passes on uploads, live events, large bodies and the true address of each client', async () => {
    const port = await freePort();
    const app = await startTestApp({
      environment: {
        PUBLIC_URL: `https://localhost:${port}`,
        EXPOSURE: 'public',
        ADMIN_EMAILS: 'boss@example.com',
        RESET_DELIVERY: 'outbox',
        TRUSTED_PROXIES: '127.0.0.1',
      },
    });
    await startProxy(kind, { url: app.url, at: port }, onTestFinished, EXAMPLES[kind]);
    const json = { 'content-type': 'application/json' };
    const person = { email: 'boss@example.com', password: 'a long enough password' };
    await vi.waitFor(async () => expect((await ask(port, '/api/ready')).status).toBe(200), { timeout: 30_000, interval: 100 });

    const spoofed = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9' };
    const made = await ask(port, `/api${register.path}`, {
      headers: json,
      body: JSON.stringify({ ...person, username: 'boss' }),
    });
    expect(made.status).toBe(201);
    const from = '127.0.0.57';
    const signed_in = await ask(port, `/api${login.path}`, {
      headers: { ...json, ...spoofed },
      body: JSON.stringify(person),
      from,
    });
    const { access_token } = z.object({ access_token: z.string() }).parse(JSON.parse(signed_in.text));
    const authorization = { authorization: `Bearer ${access_token}` };
    const sessions = await ask(port, `/api${listSessions.path}`, { headers: authorization });
    expect(sessions.text).toContain(from);
    expect(sessions.text).not.toContain('203.0.113.9');
    expect(signed_in.headers['strict-transport-security']).toContain('max-age=');

    const socket = new WebSocket(`wss://localhost:${port}/api/events`, {
      headers: { host: `localhost:${port}` },
      origin: `https://localhost:${port}`,
      rejectUnauthorized: false,
    });
    onTestFinished(() => socket.terminate());
    const kinds_heard: string[] = [];
    socket.on('message', (bytes: Buffer) => {
      const frame = serverFrameSchema.parse(JSON.parse(bytes.toString()));
      kinds_heard.push(frame.kind === 'event' ? frame.event.kind : frame.kind);
    });
    await new Promise((resolve, reject) => void socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ kind: 'hello', access_token }));
    await vi.waitFor(() => expect(kinds_heard).toContain('welcome'));

    const [boundary, content] = ['example-boundary', noise(3 * 1024 ** 2)];
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
    const uploaded = await ask(port, '/api/antivirus/scan', {
      headers: { ...authorization, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    });
    expect(scanSchema.parse(JSON.parse(uploaded.text))).toMatchObject({ scan_status: 'clean', size: content.length });
    await vi.waitFor(() => expect(kinds_heard).toContain('scan_changed'));

    // Whoever is not signed in is told so before a byte of the body; what is too large is Palisade's to say, in its own words.
    const large = { 'content-length': UPLOAD_MAXIMUM + 1_000, 'content-type': `multipart/form-data; boundary=${boundary}` };
    const refused = await ask(port, '/api/antivirus/scan', { method: 'POST', headers: large });
    expect([refused.status, refused.headers['content-type']]).toEqual([401, 'application/problem+json; charset=utf-8']);
  });
});

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      environment: z.record(z.string(), z.string()).optional(),
      stop_grace_period: z.string().optional(),
      depends_on: z.record(z.string(), z.unknown()).optional(),
      volumes: z.array(z.string()).optional(),
      networks: z.array(z.string()).optional(),
      configs: z.array(z.object({ source: z.string() })).optional(),
      image: z.string(),
    }),
  ),
  networks: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
  configs: z.record(z.string(), z.unknown()),
});
const seconds = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);

describe('compose.yaml', () => {
  const text = read('compose.yaml');
  const { services, ...defined } = composeSchema.parse(parse(text, { merge: true }));
  const servers = Object.entries(services).filter(([name]) => name.startsWith('server-'));
  /** As compose puts values in for `${NAME}`, `${NAME:?why}` and `${NAME:-otherwise}`. */
  const filled = (value: string) => value.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) => EXAMPLE[name] ?? '');
  const EXAMPLE: Record<string, string> = {
    PALISADE_HOST: 'palisade.example.com',
    ADMIN_EMAILS: 'you@example.com',
    SMTP_URL: 'smtp://user:password@mail.example.com:587',
    ...Object.fromEntries(
      ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'METRICS_TOKEN', 'STORAGE_SECRET', 'TURN_SECRET'].map((name) => [
        name,
        'f'.repeat(64),
      ]),
    ),
  };

  test('has every part of an installation with two servers', () => {
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['proxy', 'server-1', 'server-2', 'postgres', 'redis', 'clamd', 'storage', 'coturn']),
    );
  });

  test.each(servers)('%s has settings that the server knows and takes', (_, { environment = {} }) => {
    const known = new Set(
      [...readFileSync(new URL('../src/platform/settings.ts', import.meta.url), 'utf8').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(
        ([, name]) => name,
      ),
    );
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    const settings = parseSettings(Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)])));
    expect(settings.exposure).toBe('public');
    // Of the containers' own network, in which sealed files go without TLS.
    expect(settings.warnings).toEqual([expect.stringMatching(/^STORAGE_URL has tls=0/)]);
  });

  test.each(servers)('%s may stop in its own time', (_, { environment = {}, stop_grace_period }) => {
    const { stop_notice_s, stop_drain_s } = parseSettings({
      STOP_NOTICE: environment['STOP_NOTICE'],
      STOP_DRAIN: environment['STOP_DRAIN'],
    });
    expect(seconds(stop_grace_period)).toBeGreaterThanOrEqual(stop_notice_s + stop_drain_s + 5);
  });

  test('names nothing that it does not define, and mounts nothing that is not there', () => {
    const faults = Object.entries(services).flatMap(([name, { volumes = [], networks = [], depends_on = {}, configs = [] }]) => [
      ...volumes
        .map((volume) => volume.split(':', 1)[0] ?? '')
        .filter((source) => (source.startsWith('.') ? !existsSync(join(DEPLOY, source)) : !(source in defined.volumes)))
        .map((source) => `${name}: volume ${source}`),
      ...networks.filter((one) => !(one in defined.networks)).map((one) => `${name}: network ${one}`),
      ...Object.keys(depends_on)
        .filter((one) => !(one in services))
        .map((one) => `${name}: service ${one}`),
      ...configs.filter(({ source }) => !(source in defined.configs)).map(({ source }) => `${name}: config ${source}`),
    ]);
    expect(faults).toEqual([]);
  });

  test('asks for what example.env names, and for nothing else', () => {
    const asked = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    const given = [...read('example.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect([...asked].sort()).toEqual(given.sort());
    expect([...asked].sort()).toEqual(Object.keys(EXAMPLE).sort());
  });

  test('trusts the proxy alone, at the address of its network', () => {
    const subnet = /subnet: ([\d./]+)/.exec(text)?.[1];
    for (const [, { environment }] of servers) expect(environment?.['TRUSTED_PROXIES']).toBe(subnet);
  });

  test('has the clamd that passes, but for where it listens and logs', () => {
    const settingsOf = (conf: string) =>
      conf.split('\n').filter((line) => /^\w/.test(line) && !/^(LocalSocket|TCPSocket|FixStaleSocket|LogFile)/.test(line));
    const shipped = readFileSync(new URL('../clamd/clamd.conf', import.meta.url), 'utf8');
    expect(settingsOf(read('clamd.conf'))).toEqual(settingsOf(shipped));
    expect(read('clamd.conf')).toMatch(/^TCPSocket 3310$/m);
  });
});

const hasSystemd = existsSync('/usr/bin/systemd-analyze') || process.env['CI'] !== undefined;
if (!hasSystemd) process.stdout.write('skipped: no systemd-analyze on this machine (install the package systemd)\n');

describe('palisade.service', () => {
  const unit = read('palisade.service');

  test('may stop in its own time', () => {
    const { stop_notice_s, stop_drain_s } = parseSettings({});
    expect(seconds(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(stop_notice_s + stop_drain_s + 5);
  });

  test.runIf(hasSystemd)('is one that systemd takes, and finds well confined', () => {
    const path = join(folder, 'palisade.service');
    // What is not installed here stands for what will be there.
    writeFileSync(
      path,
      unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`).replace(/^(User|Group)=.*$/gm, '$1=daemon'),
    );
    const analyze = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    const verified = analyze('verify', '--man=no', '--recursive-errors=no');
    expect(verified.said.split('\n').filter((line) => line.includes('palisade.service'))).toEqual([]);
    // 0 is the best of 10, and 2 is called OK.
    expect(analyze('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 0 });
    const open = unit.replace(/^(ProtectSystem|NoNewPrivileges|CapabilityBoundingSet|SystemCallFilter|Private\w+)=.*$/gm, '');
    writeFileSync(path, open);
    expect(analyze('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 1 });
  });
});
