import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { BlockList } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseSettings } from '#platform/settings.ts';

// The example files. Tests that run nginx and Caddy are in deploy.deep.test.ts.

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'palisade-deploy-'));

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.looseObject({
      environment: z.record(z.string(), z.string()).optional(),
      stop_grace_period: z.string().optional(),
      depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
      volumes: z.array(z.string()).optional(),
      networks: z.array(z.string()).optional(),
      secrets: z.array(z.string()).optional(),
      image: z.string(),
      build: z.unknown().optional(),
      user: z.string().optional(),
      entrypoint: z.array(z.string()).optional(),
      command: z.array(z.string()).optional(),
      read_only: z.boolean().optional(),
      cap_drop: z.array(z.string()).optional(),
      cap_add: z.array(z.string()).optional(),
      security_opt: z.array(z.string()).optional(),
      pids_limit: z.number().optional(),
      mem_limit: z.string().optional(),
      logging: z.object({ options: z.strictObject({ 'max-size': z.string(), 'max-file': z.string() }) }).optional(),
      healthcheck: z.object({ test: z.array(z.string()), interval: z.string(), timeout: z.string() }).optional(),
    }),
  ),
  networks: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});
/** The folder that make-secrets.sh makes for this mail server. */
function madeSecrets(smtp_url: string, env?: string): string {
  const place = mkdtempSync(join(folder, 'compose-'));
  cpSync(join(DEPLOY, 'make-secrets.sh'), join(place, 'make-secrets.sh'));
  if (env !== undefined) writeFileSync(join(place, '.env'), env);
  const { status, stderr } = spawnSync('sh', [join(place, 'make-secrets.sh')], { input: `${smtp_url}\n`, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return join(place, 'secrets');
}

const seconds = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);

describe('compose.yaml', () => {
  const text = read('compose.yaml');
  const { services, ...defined } = composeSchema.parse(parse(text, { merge: true }));
  const servers = Object.entries(services).filter(([name]) => name.startsWith('server-'));
  /** As compose puts values in for `${NAME}`, `${NAME:?why}` and `${NAME:-otherwise}`. */
  const filled = (value: string) => value.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, name: string) => EXAMPLE[name] ?? '');
  const EXAMPLE: Record<string, string> = { PALISADE_HOST: 'palisade.example.com', ADMIN_EMAILS: 'you@example.com' };
  const secrets = madeSecrets('smtp://user:password@mail.example.com:587');
  const secretOf = (name: string) => readFileSync(join(secrets, name), 'utf8').trim();
  /** The environment of a server, with files where its secrets will be. */
  const settingsOf = (environment: Record<string, string> = {}) =>
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, filled(value).replace('/run/secrets', secrets)]),
    );

  test('has every part of an installation with two servers', () => {
    expect(Object.keys(services)).toEqual(
      expect.arrayContaining(['proxy', 'server-1', 'server-2', 'postgres', 'redis', 'clamd', 'storage', 'coturn']),
    );
  });

  test.each(servers)('%s has settings that the server knows and takes', (_, { environment = {} }) => {
    const known = new Set(
      ['settings', 'secret-files'].flatMap((name) =>
        [...readFileSync(new URL(`../src/platform/${name}.ts`, import.meta.url), 'utf8').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(
          ([, found]) => found,
        ),
      ),
    );
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    const settings = parseSettings(settingsOf(environment));
    expect(settings).toMatchObject({
      database_url: `postgres://palisade:${secretOf('postgres_password')}@postgres/palisade`,
      redis_url: `redis://:${secretOf('redis_password')}@redis`,
      mail_server: { url: 'smtp://user:password@mail.example.com:587' },
      turn: { secret: secretOf('turn_secret') },
      metrics: { token: secretOf('metrics_token') },
      storage: { access_key: 'palisade', secret_file: join(secrets, 'storage_secret') },
    });
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
    const faults = Object.entries(services).flatMap(
      ([name, { volumes = [], networks = [], depends_on = {}, secrets: used = [] }]) => [
        ...volumes
          .map((volume) => volume.split(':', 1)[0] ?? '')
          .filter((source) => (source.startsWith('.') ? !existsSync(join(DEPLOY, source)) : !(source in defined.volumes)))
          .map((source) => `${name}: volume ${source}`),
        ...networks.filter((one) => !(one in defined.networks)).map((one) => `${name}: network ${one}`),
        ...Object.keys(depends_on)
          .filter((one) => !(one in services))
          .map((one) => `${name}: service ${one}`),
        ...used.filter((one) => !(one in defined.secrets)).map((one) => `${name}: secret ${one}`),
      ],
    );
    expect(faults).toEqual([]);
  });

  /** Services that run as root, and why; the rest has a user of its own. */
  const AS_ROOT = ['proxy', 'storage'];
  /** Capabilities beside none at all. */
  const CAPABILITIES: Record<string, string[]> = { proxy: ['NET_BIND_SERVICE'], coturn: ['NET_BIND_SERVICE'] };

  test.each(Object.entries(services))('%s is confined, bounded and watched', (name, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
    expect(service.cap_add ?? []).toEqual(CAPABILITIES[name] ?? []);
    expect(service.user === undefined).toBe(AS_ROOT.includes(name));
    expect(service.user ?? '').not.toMatch(/^(root|0)\b/);
    expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    expect(service.pids_limit).toBeGreaterThan(0);
    expect(service.logging).toBeDefined();
    // One that ends needs no health check: others wait for its end.
    expect(service.healthcheck === undefined).toBe(name === 'storage-bucket');
    if (service.healthcheck)
      expect(seconds(service.healthcheck.timeout)).toBeLessThanOrEqual(seconds(service.healthcheck.interval));
  });

  test('has no mount of the host but files of this folder, read only', () => {
    const mounts = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter((volume) => /^[./~]/.test(volume)));
    expect(mounts.filter((mount) => !/^\.\/[\w.]+:\/[\w./]+:ro$/.test(mount))).toEqual([]);
    expect(text).not.toContain('docker.sock');
  });

  test('names every image by a version, and a digest by all of its letters', () => {
    const images = Object.values(services).flatMap(({ image, build }) => (build === undefined ? [image] : []));
    expect(images.length).toBeGreaterThan(5);
    expect(images.filter((image) => !/^[\w.-]+\/[\w./-]+:(?!latest)[\w.-]+(@sha256:[0-9a-f]{64})?$/.test(image))).toEqual([]);
  });

  test('has each secret in a file that make-secrets.sh makes, and none in an environment or a command', () => {
    const files = Object.values(defined.secrets).map(({ file }) => file.replace('./secrets/', ''));
    expect(files.sort()).toEqual(readdirSync(secrets).sort());
    const told = Object.values(services).flatMap(({ environment = {}, entrypoint = [], command = [], healthcheck }) => [
      ...Object.entries(environment).flat(),
      ...entrypoint,
      ...command,
      ...(healthcheck?.test ?? []),
    ]);
    expect(told.filter((one) => /(?<!\$)\$\{?\w*(PASSWORD|SECRET|TOKEN|SMTP)/.test(one))).toEqual([]);
    for (const [name, { environment = {}, entrypoint = [], healthcheck, secrets: given = [] }] of Object.entries(services)) {
      const used = JSON.stringify([environment, entrypoint, healthcheck]).matchAll(/\/run\/secrets\/(\w+)/g);
      expect([...new Set([...used].map(([, secret]) => secret))].sort(), name).toEqual([...given].sort());
    }
  });

  test.each(servers)('%s starts when the database, Redis, and the bucket are there', (_, { depends_on }) => {
    expect(depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
      storage: { condition: 'service_healthy' },
      'storage-bucket': { condition: 'service_completed_successfully' },
    });
  });

  test('keeps secrets and settings out of the repository and the image', () => {
    for (const name of ['.gitignore', '.dockerignore']) {
      const ignored = readFileSync(join(DEPLOY, '..', name), 'utf8').split('\n');
      expect(ignored.map((line) => line.replace(/^\/|\/$/g, ''))).toEqual(
        expect.arrayContaining(['deploy/secrets', 'deploy/.env']),
      );
    }
  });

  describe('its scripts', () => {
    /** Runs the script of a service with stand-ins for its programs, which print their arguments and the values asked of them. */
    function runScript(name: string, programs: Record<string, string>, files = secrets) {
      const place = mkdtempSync(join(folder, 'script-'));
      mkdirSync(join(place, 'bin'));
      for (const [program, body] of Object.entries(programs)) {
        writeFileSync(join(place, 'bin', program), `#!/bin/sh\n${body}\n`);
        chmodSync(join(place, 'bin', program), 0o755);
      }
      const { entrypoint = [], command = [] } = services[name] ?? {};
      const [shell = '', ...args] = [...entrypoint, ...command].map((part) =>
        filled(part.replaceAll(/(?<!\$)\$\{(\w+)[^}]*\}/g, 'example'))
          .replaceAll('$$', '$')
          .replaceAll('/tmp/', `${place}/`)
          .replaceAll('/run/secrets', files)
          .replaceAll('/entrypoint.sh', `${place}/bin/entrypoint.sh`),
      );
      const PATH = `${place}/bin:${process.env['PATH']}`;
      const { status, stdout, stderr } = spawnSync(shell, args, { env: { PATH }, encoding: 'utf8', timeout: 10_000 });
      return { status, stdout, stderr, place };
    }

    test('redis reads its password from standard input, and has it in no argument', () => {
      const { stdout, status } = runScript('redis', { 'redis-server': 'echo "$@"; cat' });
      expect(status).toBe(0);
      const [args, config] = stdout.split('\n');
      expect(args).toMatch(/^- --save {2}--maxmemory 256mb/);
      expect(config).toBe(`requirepass ${secretOf('redis_password')}`);
    });

    test('the store knows the account of the servers, in a file for itself', () => {
      const { place, stdout } = runScript('storage', { 'entrypoint.sh': 'echo "$@"' });
      expect(stdout).toMatch(/^server -dir=\/data -s3 -s3\.config=/);
      const path = join(place, 's3.json');
      expect(statSync(path).mode & 0o077).toBe(0);
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
        identities: [{ credentials: [{ accessKey: 'palisade', secretKey: secretOf('storage_secret') }] }],
      });
    });

    test('coturn has its secret in a file, and its options as they are', () => {
      const { place, stdout } = runScript('coturn', { turnserver: 'echo "$@"' });
      expect(stdout).toMatch(/^-c \S+\/turnserver\.conf --log-file=stdout --realm=example --use-auth-secret/);
      expect(stdout).not.toContain(secretOf('turn_secret'));
      expect(readFileSync(join(place, 'turnserver.conf'), 'utf8')).toBe(`static-auth-secret=${secretOf('turn_secret')}\n`);
    });

    test('coturn reaches no address of a network behind it, in any form', () => {
      // One for each family, as coturn compares: Node finds an IPv4 address in a range of mapped ones.
      const denied = { ipv4: new BlockList(), ipv6: new BlockList() };
      const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4');
      for (const option of services['coturn']?.command ?? []) {
        const [, first = '', last = ''] = /^--denied-peer-ip=([^-]+)-(.+)$/.exec(option) ?? [];
        if (first !== '') denied[familyOf(first)].addRange(first, last, familyOf(first));
      }
      const isDenied = (address: string) => denied[familyOf(address)].check(address, familyOf(address));
      const inside = [
        '10.0.0.7',
        '127.0.0.1',
        '169.254.169.254',
        '172.31.255.255',
        '192.168.1.1',
        '100.64.0.1',
        '198.18.0.1',
        '224.0.0.1',
        '255.255.255.255',
        '0.0.0.0',
      ];
      const others = [
        '::',
        '::1',
        '::7f00:1',
        '::ffff:a00:7',
        '64:ff9b::a00:7',
        '64:ff9b:1::a00:7',
        '2002:a00:7::1',
        '2001:0:a00:7::1',
        'fd00::1',
        'fe80::1',
        'fec0::1',
        'ff02::1',
      ];
      for (const address of [...inside, ...others]) expect(isDenied(address), address).toBe(true);
      for (const address of ['1.1.1.1', '172.32.0.1', '192.1.0.1', '2606:4700::1111', '2a00:1450::1'])
        expect(isDenied(address), address).toBe(false);
    });

    test('coturn is of a version without known high faults', () => {
      const [, major = '0', minor = '0'] = /coturn:(\d+)\.(\d+)/.exec(services['coturn']?.image ?? '') ?? [];
      expect(Number(major) * 100 + Number(minor)).toBeGreaterThanOrEqual(410);
    });

    test.each([
      ['redis', 'redis-server'],
      ['storage', 'entrypoint.sh'],
      ['coturn', 'turnserver'],
    ])('%s does not start without its secret', (name, program) => {
      const { status, stdout } = runScript(name, { [program]: 'echo started' }, join(folder, 'nowhere'));
      expect([status === 0, stdout]).toEqual([false, '']);
    });

    test('the bucket is made until it is there', () => {
      // A store that has the bucket after the second try, as one that is still starting.
      // The shell alone answers, without other programs: each try asks anew.
      const weed = (after: number) =>
        `tries=\${0%/*}/tries; read line; case $line in *create*) echo x >> "$tries" ;; *) n=0; while read x; do n=$((n + 1)); done < "$tries"; [ $n -ge ${after} ] && echo "  palisade	size:0" ;; esac; exit 0`;
      const made = runScript('storage-bucket', { weed: weed(2), sleep: 'exit 0' });
      expect(made.status).toBe(0);
      expect(readFileSync(join(made.place, 'bin/tries'), 'utf8')).toBe('x\nx\n');
      expect(runScript('storage-bucket', { weed: weed(99), sleep: 'exit 0' }).status).toBe(1);
    });

    test('make-secrets.sh makes long secrets that their owner alone reaches, and keeps those that are there', () => {
      expect(statSync(secrets).mode & 0o777).toBe(0o700);
      for (const name of readdirSync(secrets)) expect(statSync(join(secrets, name)).mode & 0o777).toBe(0o644);
      expect(secretOf('postgres_password')).toMatch(/^[0-9a-f]{64}$/);
      expect(new Set(readdirSync(secrets).map(secretOf)).size).toBe(6);
      const before = readdirSync(secrets).map(secretOf);
      execFileSync('sh', [join(secrets, '../make-secrets.sh')], { input: 'smtp://other\n' });
      expect(readdirSync(secrets).map(secretOf)).toEqual(before);
    });

    test('make-secrets.sh takes over the values of an older .env, and refuses an invalid mail server', () => {
      const taken = madeSecrets('', 'POSTGRES_PASSWORD=old-one\nSMTP_URL=smtp://user:a=b@host\nREDIS_PASSWORD=\n');
      expect(readFileSync(join(taken, 'postgres_password'), 'utf8')).toBe('old-one\n');
      expect(readFileSync(join(taken, 'smtp_url'), 'utf8')).toBe('smtp://user:a=b@host\n');
      expect(readFileSync(join(taken, 'redis_password'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/);
      expect(() => madeSecrets('mail.example.com')).toThrow('starts with smtp://');
    });
  });

  test('asks for what example.env names, and for nothing else', () => {
    const asked = new Set([...text.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name));
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

  test.each([
    ['x86_64', 'x64'],
    ['aarch64', 'arm64'],
  ])('runs on %s with the Node for %s', (machine, cpu) => {
    const place = mkdtempSync(join(folder, 'unit-'));
    const node = join(place, `node_modules/node-linux-${cpu}/bin`);
    mkdirSync(node, { recursive: true });
    mkdirSync(join(place, 'bin'));
    writeFileSync(join(node, 'node'), '#!/bin/sh\necho "$0 $@"\n', { mode: 0o755 });
    writeFileSync(join(place, 'bin/uname'), `#!/bin/sh\necho ${machine}\n`, { mode: 0o755 });
    // As systemd reads it: quotes, and $$ for one $.
    const [, program = '', script = ''] = /^ExecStart=(\S+) -c '(.*)'$/m.exec(unit) ?? [];
    const ran = spawnSync(program, ['-c', script.replaceAll('$$', '$').replaceAll('/opt/palisade', place)], {
      env: { PATH: `${place}/bin:/usr/bin:/bin` },
      encoding: 'utf8',
    });
    expect(ran.stdout).toBe(
      `${node}/node --max-semi-space-size=2 --heap-growing-percent=100 --v8-pool-size=1 ${place}/server/dist/main.js\n`,
    );
  });

  test.runIf(hasSystemd)('is one that systemd takes, and finds well confined', () => {
    const path = join(folder, 'palisade.service');
    // A user that every machine has.
    writeFileSync(path, unit.replace(/^(User|Group)=.*$/gm, '$1=daemon'));
    const analyze = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, path], { encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    const verified = analyze('verify', '--man=no', '--recursive-errors=no');
    expect(verified.said.split('\n').filter((line) => line.includes('palisade.service'))).toEqual([]);
    for (const name of ['palisade-dns.socket', 'palisade-dns-tls.socket']) {
      const socket = join(folder, name);
      writeFileSync(socket, read(name));
      const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', socket, path], { encoding: 'utf8' });
      expect((stdout + stderr).split('\n').filter((line) => line.includes('.socket'))).toEqual([]);
    }
    // 0 is the best of 10, and 2 is called OK.
    expect(analyze('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 0 });
    const open = unit.replace(/^(ProtectSystem|NoNewPrivileges|CapabilityBoundingSet|SystemCallFilter|Private\w+)=.*$/gm, '');
    writeFileSync(path, open);
    expect(analyze('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 1 });
  });
});
