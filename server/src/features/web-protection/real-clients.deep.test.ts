import { execFile, execFileSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addWebDevice, addWebName, listWebRefusals } from '@palisade/contract/web-protection';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { eventually } from '@palisade/scanner/test/eventually';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHROMIUM, has, mayUnshare, RESOLVED } from '#test/dns-programs.ts';
import { freePort } from '#test/free-port.ts';
import { COUNTED_IN_MEMORY, type ListeningApp, replyOf, startListeningApp } from '#test/harness.ts';
import { EXAMPLES, put } from '#test/proxy-examples.ts';
import { HAS_NGINX_STREAM, runProxy, type TestProxy, withoutProxy } from '#test/proxy-programs.ts';

const run = promisify(execFile);
const HAS_PROXIES = withoutProxy('nginx') === undefined && withoutProxy('Caddy') === undefined;
const folder = mkdtempSync(join(tmpdir(), 'palisade-dns-'));
const CERT = join(folder, 'cert.pem');
/** The page that Chromium and curl open by its name. */
const PAGE = 'this page was found by its name';
let app: ListeningApp;
let proxies: { nginx: TestProxy; Caddy: TestProxy } | undefined;
let ports: { plain: number; tls: number; stream: number; page: number };
let key: string;
let token: string;

/** A name server that knows every name: `page` names are this machine. */
async function nameServer(query: Buffer): Promise<Buffer> {
  const end = query.indexOf(0, 12) + 5;
  const isA = query[end - 3] === 1;
  const address = query.subarray(13, 17).toString().toLowerCase() === 'page' ? [127, 0, 0, 1] : [192, 0, 2, 1];
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, ...address]);
  const answer = Buffer.concat([query.subarray(0, end), ...(isA ? [record] : [])]);
  answer.writeUInt16BE(0x8180, 2);
  answer.writeUInt16BE(isA ? 1 : 0, 6);
  answer.writeUInt16BE(0, 10);
  return answer;
}

async function startProxies(): Promise<{ nginx: TestProxy; Caddy: TestProxy }> {
  const upstream = { port: ports.stream, upstream: ports.tls };
  const nginx = await runProxy('nginx', { url: app.url }, (place) => {
    const prepared = EXAMPLES.nginx(place, HAS_NGINX_STREAM ? upstream : undefined);
    for (const name of ['fullchain.pem', 'privkey.pem']) copyFileSync(join(place.folder, name), join(folder, name));
    return prepared;
  });
  const Caddy = await runProxy('Caddy', { url: app.url }, (place) => {
    const prepared = EXAMPLES.Caddy(place);
    const conf = join(place.folder, 'Caddyfile');
    // kdig takes no certificate without a subject, as those that Caddy makes itself are.
    const certificate = `\ttls ${join(folder, 'fullchain.pem')} ${join(folder, 'privkey.pem')}\n`;
    writeFileSync(
      conf,
      put(readFileSync(conf, 'utf8'), '{$PALISADE_HOST:palisade.example.com} {\n', `{$PALISADE_HOST} {\n${certificate}`),
    );
    return prepared;
  });
  return { nginx, Caddy };
}

beforeAll(async () => {
  const private_key = join(folder, 'key.pem');
  const subject = ['-subj', '/CN=names.example.net', '-addext', 'subjectAltName=DNS:*.names.example.net'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', private_key, '-out', CERT, ...subject], {
    stdio: 'ignore',
  });
  ports = { plain: await freePort(), tls: await freePort(), stream: await freePort(), page: await freePort() };
  app = await startListeningApp({
    environment: {
      ...COUNTED_IN_MEMORY,
      TRUSTED_PROXIES: '127.0.0.1',
      DNS_LISTEN: `127.0.0.1:${ports.plain}`,
      DNS_TLS_HOST: `names.example.net:${ports.tls}`,
      DNS_TLS_CERT_FILE: CERT,
      DNS_TLS_KEY_FILE: private_key,
    },
    surroundings: { name_servers: [nameServer] },
  });
  await app.app.listenForNames();
  ({ token } = await app.signIn('admin', 'admin'));
  for (const name of ['games.example', 'names.example.net'])
    await app.call(addWebName, { token, body: { name, verdict: 'block' } });
  await app.call(addWebName, { token, body: { name: 'page.example', verdict: 'allow' } });
  const body = { name: 'Home', kind: 'router', address: 'network' } as const;
  key = replyOf(await app.call(addWebDevice, { token, body })).key;
  if (HAS_PROXIES) proxies = await startProxies();
  const page = createServer((_request, response) => response.end(`<!doctype html><p>${PAGE}</p>`)).listen(
    ports.page,
    '127.0.0.1',
  );
  return async () => {
    page.close();
    for (const proxy of Object.values(proxies ?? {})) await proxy.stop();
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dig = async (...args: string[]) => (await run('dig', ['@127.0.0.1', '-p', String(ports.plain), ...args])).stdout;
const kdigTls = async (name: string, ...args: string[]) =>
  (await run('kdig', ['@127.0.0.1', '-p', String(ports.tls), '+tls', `+tls-ca=${CERT}`, ...args, name])).stdout;
const byName = (label: string) => [`+tls-sni=${label}.names.example.net`, `+tls-hostname=${label}.names.example.net`];

needing('dig', has('dig')).test('dig over UDP and TCP', async () => {
  expect(await dig('shop.example')).toMatch(/status: NOERROR[\s\S]*192\.0\.2\.1/);
  expect(await dig('+tcp', 'shop.example')).toContain('192.0.2.1');
  expect(await dig('a.games.example')).toMatch(/status: NXDOMAIN[\s\S]*EDE: 17/);
  expect(await dig('shop.example', 'AXFR')).toContain('Transfer failed');
  expect(await dig('shop.example', 'ANY')).toContain('RFC8482');
  expect(await dig('+edns=7', '+noednsnegotiation', 'shop.example')).toContain('BADVERS');
  expect(await dig('CH', 'TXT', 'version.bind')).toContain('REFUSED');
  // Phones find Private DNS through this name, so that nobody can block it.
  expect(await dig('x.names.example.net')).toContain('NOERROR');
});

needing('kdig', has('kdig')).test('kdig over TLS, by the name of its device alone', async () => {
  expect(await kdigTls('shop.example', ...byName(key))).toContain('192.0.2.1');
  expect(await kdigTls('games.example', ...byName(key))).toContain('NXDOMAIN');
  await expect(kdigTls('shop.example', '+retry=0', '+timeout=2', ...byName('a'.repeat(26)))).rejects.toThrow();
});

needing('the stream module of nginx', has('kdig') && HAS_NGINX_STREAM && HAS_PROXIES).test(
  'kdig over TLS through nginx',
  async () => {
    const args = ['@127.0.0.1', '-p', String(ports.stream), '+tls', `+tls-ca=${CERT}`, ...byName(key), 'shop.example'];
    expect((await run('kdig', args)).stdout).toContain('192.0.2.1');
  },
);

test('curl with DNS over HTTPS asks by POST', async () => {
  const message = join(folder, 'message');
  const asked = ['-s', '-H', 'content-type: application/dns-message', '--data-binary', `@${message}`, `${app.url}/dns/${key}`];
  execFileSync('sh', ['-c', `printf '\\0\\7\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\4shop\\7example\\0\\0\\1\\0\\1' > ${message}`]);
  const { stdout } = await run('curl', asked, { encoding: 'buffer' });
  expect(stdout.subarray(-4)).toEqual(Buffer.from([192, 0, 2, 1]));
});

needing('nginx, Caddy and HAProxy', HAS_PROXIES).describe('behind the examples for proxies', () => {
  test.each(['nginx', 'Caddy'] as const)('kdig and curl with DNS over HTTPS through %s', async (kind) => {
    const { port = 0 } = proxies?.[kind] ?? {};
    for (const method of ['+https', '+https-get']) {
      const args = ['@127.0.0.1', '-p', String(port), `${method}=/dns/${key}`, '+tls-sni=localhost'];
      const kdig = async (name: string) => (await run('kdig', [...args, name])).stdout;
      expect(await kdig('shop.example')).toMatch(/status: NOERROR[\s\S]*192\.0\.2\.1/);
      expect(await kdig('games.example')).toContain('NXDOMAIN');
    }
    const doh = ['-sS', '--max-time', '20', '--doh-insecure', '--doh-url', `https://localhost:${port}/dns/${key}`];
    const curl = (name: string) => run('curl', [...doh, `http://${name}:${ports.page}/`]);
    expect((await curl('page.example')).stdout).toContain(PAGE);
    await expect(curl('page.games.example')).rejects.toThrow(/resolve/iu);
  });

  needing('Chromium', CHROMIUM !== undefined && mayUnshare('-rm')).test(
    'Chromium with a policy for secure DNS',
    { timeout: 120_000 },
    async () => {
      const { publicKey } = new X509Certificate(readFileSync(join(folder, 'fullchain.pem')));
      const spki = createHash('sha256')
        .update(publicKey.export({ type: 'spki', format: 'der' }))
        .digest('base64');
      const templates = `https://localhost:${proxies?.nginx.port}/dns/${key}{?dns}`;
      writeFileSync(
        join(folder, 'policy.json'),
        JSON.stringify({ DnsOverHttpsMode: 'secure', DnsOverHttpsTemplates: templates }),
      );
      const flags =
        '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync';
      const open = async (name: string, profile: string) => {
        const chromium = `${CHROMIUM} ${flags} --user-data-dir=${join(folder, profile)} --ignore-certificate-errors-spki-list=${spki}`;
        const script = `mount -t tmpfs tmpfs /etc/chromium && mkdir -p /etc/chromium/policies/managed &&
          cp ${join(folder, 'policy.json')} /etc/chromium/policies/managed/ && exec ${chromium} --dump-dom http://${name}:${ports.page}/`;
        return (await run('unshare', ['-Urm', 'sh', '-c', script], { timeout: 60_000 })).stdout;
      };
      expect(await open('page.example', 'one')).toContain(PAGE);
      expect(await open('page.chromium.games.example', 'other')).not.toContain(PAGE);
      await eventually(async () => {
        const refusals = replyOf(await app.call(listWebRefusals, { token }));
        expect(refusals.map(({ name }) => name)).toContain('page.chromium.games.example');
      });
    },
  );
});

needing('dnsperf', has('dnsperf')).test('dnsperf loses no question within the limit of a device', async () => {
  const questions = join(folder, 'questions');
  writeFileSync(questions, Array.from({ length: 400 }, (_, index) => `host${index}.shop.example A\n`).join(''));
  const args = ['-s', '127.0.0.1', '-p', String(ports.plain), '-d', questions, '-n', '1', '-c', '4', '-q', '20'];
  const { stdout } = await run('dnsperf', args);
  expect(stdout).toMatch(/Queries completed:\s+400 \(100/);
  expect(stdout).toMatch(/Response codes:\s+NOERROR 400/);
});

const NAMESPACE = ['--map-user=1000', '--map-group=1000', '--keep-caps', '-nm', '--kill-child', '--fork', '-p'];
/** Sockets of the file system lead out of the namespace of a network. */
const relayOf = (to: string) =>
  `const net = require('node:net'); net.createServer((one) => { const other = net.connect(${to});
  for (const [from, into] of [[one, other], [other, one]]) from.on('error', () => into.destroy()).pipe(into); })`;

needing('systemd-resolved, dig, ip and namespaces', RESOLVED !== undefined && has('dig', 'ip') && mayUnshare(...NAMESPACE)).test(
  'systemd-resolved over TLS, in a namespace of its own',
  { timeout: 90_000 },
  async () => {
    const socket = join(folder, 'relay.socket');
    const relay = spawnBound(process.execPath, ['-e', `${relayOf(String(ports.tls))}.listen('${socket}')`]);
    const conf = `[Resolve]\nDNS=127.0.0.1:8853#${key}.names.example.net\nDNSOverTLS=yes\nDomains=~.\nFallbackDNS=\nDNSSEC=no\nLLMNR=no\nMulticastDNS=no\n`;
    writeFileSync(join(folder, 'resolved.conf'), conf);
    const script = `set -e
      ip link set lo up
      ip link add d0 type veth peer name d1
      ip addr add 10.9.9.1/24 dev d0
      ip link set d0 up
      ip link set d1 up
      ip route add default via 10.9.9.2
      echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
      mount -t tmpfs tmpfs /run
      mkdir -p /run/systemd/resolve /run/conf
      cp ${join(folder, 'resolved.conf')} /run/conf/
      mount --bind /run/conf /etc/systemd
      mount --bind ${CERT} /etc/ssl/certs/ca-certificates.crt
      ${process.execPath} -e "${relayOf(`'${socket}'`)}.listen(8853, '127.0.0.1')" &
      SSL_CERT_FILE=${CERT} ${RESOLVED} >/run/log 2>&1 &
      for name in shop.example games.example; do
        for try in $(seq 50); do
          dig @127.0.0.53 +time=2 +tries=1 $name > /run/answer && ! grep -q SERVFAIL /run/answer && break
          sleep 0.1
        done
        cat /run/answer
      done
      cat /run/log`;
    try {
      await eventually(() => expect(existsSync(socket)).toBe(true));
      const { stdout } = await run('unshare', ['-U', ...NAMESPACE, 'sh', '-c', script], { timeout: 60_000 });
      expect(stdout).toMatch(/shop\.example\.\s+\d+\s+IN\s+A\s+192\.0\.2\.1/);
      expect(stdout).toContain('status: NXDOMAIN');
    } finally {
      relay.kill();
    }
  },
);
