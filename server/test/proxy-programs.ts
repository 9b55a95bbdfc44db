import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { freePort } from './free-port.ts';

const found = (...paths: string[]) => paths.find((path) => existsSync(path));
const NGINX = found('/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/local/bin/nginx', '/opt/homebrew/bin/nginx');
const CADDY = found('/usr/bin/caddy', '/usr/local/bin/caddy', '/opt/homebrew/bin/caddy');
const HAPROXY = found('/usr/sbin/haproxy', '/usr/local/sbin/haproxy', '/usr/local/bin/haproxy', '/opt/homebrew/bin/haproxy');

/**
 * Real proxies as people set them up: nginx with nothing but `proxy_pass` (HTTP/1.0, the server's own address as `Host`, no header of its own), nginx with the
 * headers that every guide names, Caddy's `reverse_proxy` and a backend of HAProxy in `mode http`, both with nothing else said.
 */
export const PROXY_KINDS = ['nginx', 'nginx with headers', 'Caddy', 'HAProxy'] as const;
export type ProxyKind = (typeof PROXY_KINDS)[number];

/** Writes a configuration into the folder, and answers what to run. */
export type Prepare = (place: { folder: string; port: number; upstream: number }) => { command: string; args: string[] };

interface Program {
  path: string | undefined;
  package: string;
  prepare: Prepare;
}

/** The module of nginx that passes connections on, a package of its own on Debian. */
const NGINX_STREAM = '/usr/lib/nginx/modules/ngx_stream_module.so';
export const HAS_NGINX_STREAM = existsSync(NGINX_STREAM);

/** nginx with these directives of its `http` block, and a `stream` block where there is one. */
export function nginxWith(folder: string, http: string, stream?: string): ReturnType<Prepare> {
  const conf = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`);
  const modules = stream === undefined ? [] : [`load_module ${NGINX_STREAM};`];
  const settings = [
    ...modules,
    'daemon off;',
    'master_process off;',
    `pid ${folder}/nginx.pid;`,
    'error_log stderr;',
    'events {}',
  ];
  writeFileSync(
    conf,
    `${settings.join('\n')}\nhttp {\n  access_log off;\n  ${temporary.join('\n  ')}\n${http}\n}\n${stream ?? ''}\n`,
  );
  return { command: NGINX ?? 'nginx', args: ['-p', folder, '-c', conf] };
}

/** Caddy with this Caddyfile, whose global options are `options`, and these variables. */
export function caddyWith(
  folder: string,
  options: readonly string[],
  caddyfile: string,
  variables: Readonly<Record<string, string>> = {},
): ReturnType<Prepare> {
  const conf = join(folder, 'Caddyfile');
  // A Caddyfile has one block of global options, which comes first: these go into the one that is there.
  const lines = options.map((option) => `\t${option}\n`).join('');
  const own = /^\{\n/mu.exec(caddyfile);
  const at = own ? own.index + own[0].length : 0;
  const global = own ? lines : `{\n${lines}}\n`;
  writeFileSync(conf, `${caddyfile.slice(0, at)}${global}${caddyfile.slice(at)}`);
  const homes = ['HOME', 'XDG_DATA_HOME', 'XDG_CONFIG_HOME'].map((name) => `${name}=${folder}`);
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return {
    command: '/usr/bin/env',
    args: [...homes, ...set, CADDY ?? 'caddy', 'run', '--config', conf, '--adapter', 'caddyfile'],
  };
}

function prepareNginx(headers: readonly string[]): Prepare {
  return ({ folder, port, upstream }) =>
    nginxWith(
      folder,
      `  client_max_body_size 0;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${upstream};
      ${headers.join('\n      ')}
    }
  }`,
    );
}

const NGINX_HEADERS = [
  'proxy_http_version 1.1;',
  'proxy_set_header Host $host;',
  'proxy_set_header X-Real-IP $remote_addr;',
  'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
  'proxy_set_header X-Forwarded-Proto $scheme;',
  'proxy_set_header Upgrade $http_upgrade;',
  'proxy_set_header Connection "upgrade";',
];

const PROGRAMS: Readonly<Record<ProxyKind, Program>> = {
  nginx: { path: NGINX, package: 'nginx', prepare: prepareNginx([]) },
  'nginx with headers': { path: NGINX, package: 'nginx', prepare: prepareNginx(NGINX_HEADERS) },
  Caddy: {
    path: CADDY,
    package: 'caddy',
    prepare: ({ folder, port, upstream }) =>
      caddyWith(
        folder,
        ['admin off', 'auto_https off'],
        `http://:${port} {\n\tbind 127.0.0.1\n\treverse_proxy 127.0.0.1:${upstream}\n}\n`,
      ),
  },
  HAProxy: {
    path: HAPROXY,
    package: 'haproxy',
    prepare({ folder, port, upstream }) {
      const conf = join(folder, 'haproxy.cfg');
      writeFileSync(
        conf,
        `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend people
  bind 127.0.0.1:${port}
  default_backend palisade
backend palisade
  server palisade 127.0.0.1:${upstream}
`,
      );
      return { command: HAPROXY ?? 'haproxy', args: ['-db', '-q', '-f', conf] };
    },
  },
};

/** Why there are no tests with a proxy on this machine, in one sentence; undefined when there are. In CI, where `npm test` installs it, they are never left out. */
export function withoutProxy(kind: ProxyKind): string | undefined {
  const program = PROGRAMS[kind];
  if (program.path !== undefined || process.env['CI']) return undefined;
  const reason = `no ${kind} on this machine (install the package ${program.package})`;
  process.stdout.write(`skipped: tests behind ${kind}: ${reason}\n`);
  return reason;
}

export interface TestProxy {
  kind: ProxyKind;
  /** Where people reach the server through it. */
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Answers once the port has a listener. */
const listens = (port: number) =>
  new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    }).once('error', reject);
  });

/** Time for a proxy to listen, and interval of checks, in ms. */
const START_MS = 20_000;
const LOOK_MS = 20;

/** A real proxy on a free port of loopback, or the one that is named, before the server at `url`, until it is stopped or this process ends. */
export async function runProxy(
  kind: ProxyKind,
  { url, at }: { url: string; at?: number },
  prepare: Prepare = PROGRAMS[kind].prepare,
): Promise<TestProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-proxy-'));
  const port = at ?? (await freePort());
  const { command, args } = prepare({ folder, port, upstream: Number(new URL(url).port) });
  const log = join(folder, 'errors');
  const child = spawnBound('/bin/sh', ['-c', `exec "$0" "$@" 2>${log}`, command, ...args]);
  let isGone = false;
  const gone = new Promise<void>((resolve) => {
    for (const event of ['exit', 'error'])
      child.once(event, () => {
        isGone = true;
        resolve();
      });
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  };
  for (const until = performance.now() + START_MS; ; await pause(LOOK_MS)) {
    const isThere = await listens(port).then(
      () => true,
      () => false,
    );
    if (isThere) return { kind, url: `http://127.0.0.1:${port}`, port, stop };
    if (!isGone && performance.now() < until) continue;
    const said = existsSync(log) ? readFileSync(log, 'utf8') : '';
    await stop();
    throw new Error(`${kind} does not listen (it ended with ${child.exitCode}): ${said}`);
  }
}
