// Runs HAProxy with a self-signed certificate in front of a server.
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { type BenchServer, startServer } from './server.ts';

/** A started server that answers over TLS. */
export interface Started {
  url: string;
  /** Its processes; their children count too. */
  pids: readonly number[];
  /** Time from the start of its processes to its first response over TLS, in ms. */
  started_ms: number;
  stop(): Promise<void>;
}

/** Palisade's server behind HAProxy. */
interface Ours extends Started {
  signIn: BenchServer['signIn'];
}

const PATIENCE_MS = 120_000;

function asks(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume();
      resolve((response.statusCode ?? 500) < 400);
    });
    sent.once('error', () => resolve(false));
    sent.end();
  });
}

/** Polls an address every 10 ms until it answers. */
export async function answers(url: string, ended: Promise<void>): Promise<void> {
  let has_ended = false;
  void ended.then(() => (has_ended = true));
  for (const until = performance.now() + PATIENCE_MS; !(await asks(url)); await pause(10))
    if (has_ended || performance.now() > until) throw new Error(`nothing answers at ${url}`);
}

/** Makes a certificate for this machine, valid for an hour, and its key in one file for HAProxy. */
function certify(folder: string): string {
  const [key, certificate, both] = ['key.pem', 'certificate.pem', 'both.pem'].map((name) => join(folder, name));
  if (key === undefined || certificate === undefined || both === undefined) throw new Error('no paths');
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...name, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
  writeFileSync(both, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'), { mode: 0o600 });
  return both;
}

/** Starts HAProxy in front of a local port. It only terminates TLS. */
async function startProxy(folder: string, inner: number) {
  const both = certify(folder);
  const port = await freePort();
  const conf = join(folder, 'haproxy.cfg');
  writeFileSync(
    conf,
    `global
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend tls
  bind 127.0.0.1:${port} ssl crt ${both}
  default_backend inner
backend inner
  server one 127.0.0.1:${inner}
`,
  );
  const began = performance.now();
  const proxy = spawn('/usr/sbin/haproxy', ['-db', '-q', '-f', conf], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise<void>((resolve) => proxy.once('exit', () => resolve()));
  return {
    url: `https://127.0.0.1:${port}`,
    pid: proxy.pid ?? 0,
    began,
    ended,
    async stop() {
      proxy.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Starts the built server behind HAProxy, which only terminates TLS. MeshCentral terminates TLS itself, so HAProxy's resources count as Palisade's. The port is chosen
 * first, so that both can start concurrently.
 */
export async function startOurs(folder: string, data_dir: string, environment: Record<string, string> = {}): Promise<Ours> {
  const inner = await freePort();
  const proxy = await startProxy(folder, inner);
  let server: BenchServer | undefined;
  const stop = async () => {
    await server?.stop();
    await proxy.stop();
  };
  try {
    server = await startServer(data_dir, { ...environment, PORT: `${inner}` });
    await answers(`${proxy.url}/`, proxy.ended);
  } catch (error) {
    await stop();
    throw error;
  }
  const started_ms = performance.now() - proxy.began;
  return { url: proxy.url, pids: [server.pid, proxy.pid], started_ms, stop, signIn: server.signIn };
}
