import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { addWebDevice } from '@palisade/contract/web-protection';
import { needing } from '@palisade/scanner/test/needs';
import { expect, onTestFinished } from 'vitest';
import { has } from './dns-programs.ts';
import { freePort } from './free-port.ts';
import { readAnswer, replyOf } from './harness.ts';
import { programOf, registerAt } from './server-process.ts';

const run = promisify(execFile);
const HOST = '127.0.0.1';

/** Opens sockets as the units of deploy/ do, and becomes the server: `python3 -c ... HOST PLAIN_PORT TLS_PORT program...`. */
const PASS = `
import os, socket, sys
host, plain, tls = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
places = [(socket.SOCK_STREAM, '127.0.0.1', tls), (socket.SOCK_STREAM, host, plain), (socket.SOCK_DGRAM, host, plain)]
sockets = [socket.socket(socket.AF_INET, kind) for kind, _, _ in places]
for one, (kind, where, port) in zip(sockets, places):
    one.bind((where, port))
    if kind == socket.SOCK_STREAM: one.listen(128)
kept = [os.dup2(one.fileno(), 40 + index) for index, one in enumerate(sockets)]
for index, fd in enumerate(kept): os.dup2(fd, 3 + index, inheritable=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='3', LISTEN_FDNAMES='palisade-dns-tls:palisade-dns:palisade-dns')
os.execv(sys.argv[4], sys.argv[4:])
`;

async function startWith(host: string) {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-sockets-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', '/CN=names.example.net', '-addext', 'subjectAltName=DNS:*.names.example.net'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  });
  const [plain, tls] = [await freePort(), await freePort()];
  const child = spawn('python3', ['-c', PASS, host, String(plain), String(tls), process.execPath, programOf('main.ts')], {
    env: {
      ...{ PATH: process.env['PATH'], PORT: '0', SCANNER_URL: 'none', DATA_DIR: join(folder, 'data') },
      // A port that this user could not open.
      ...{ DNS_LISTEN: `${HOST}:53`, DNS_TLS_HOST: 'names.example.net', DNS_TLS_CERT_FILE: cert, DNS_TLS_KEY_FILE: key },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const said = { output: '', errors: '' };
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      said.output += chunk.toString();
      const address = /Palisade runs at (\S+)/.exec(said.output)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said.errors += chunk.toString();
    });
    child.once('close', () => resolve(undefined));
  });
  return { url, said, plain, tls, cert };
}

const describing = needing('kdig', has('kdig', 'python3', 'openssl') && existsSync('/proc/self'));

describing.test('names are answered at the sockets that systemd passes on', { timeout: 60_000 }, async () => {
  const { url = '', plain, tls, cert } = await startWith(HOST);
  const token = await registerAt(url, 'boss');
  const answer = await fetch(`${url}/api${addWebDevice.path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Home', kind: 'router', address: 'network' }),
  });
  const { key } = replyOf(await readAnswer(addWebDevice, answer));
  const ask = async (port: number, ...args: string[]) =>
    (await run('kdig', [`@${HOST}`, '-p', String(port), '+timeout=5', ...args, 'localhost'])).stdout;
  for (const how of ['+notcp', '+tcp']) expect(await ask(plain, how)).toContain('127.0.0.1');
  const name = `${key}.names.example.net`;
  expect(await ask(tls, '+tls', `+tls-ca=${cert}`, `+tls-hostname=${name}`, `+tls-sni=${name}`)).toContain('127.0.0.1');
});

describing.test('plain DNS at a socket for all addresses is refused', { timeout: 60_000 }, async () => {
  const { url, said } = await startWith('0.0.0.0');
  expect(url).toBe(undefined);
  expect(said.errors).toContain(
    'palisade: The socket unit of plain DNS listens at 0.0.0.0, which strangers could reach. Set it to one private address of this machine.\n',
  );
});
