import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { telemetrySchema } from '@palisade/contract/agent';
import { printIp } from '@palisade/contract/ip-address';
import { expect, it, onTestFinished, vi } from 'vitest';
import { AGENT_VERSION } from '#link/identity.ts';
import { backOff } from '#link/link.ts';
import { createRevocation } from '#link/revocation.ts';
import { isRootEncrypted, readSshSettings, readUpdates } from './posture.ts';
import { Proc, readSocketTable } from './proc.ts';
import { createGuessing, createSignInLog, failedFrom, GUESSES } from './sign-ins.ts';

it('reads the kernel’s table of sockets', () => {
  const [v4] = readSocketTable('  0: 0100007F:1F90 0200000A:01BB 01 00000000:00000000 00:00000000 00000000  1000  0 4242 1');
  expect([v4 && printIp(v4.local), v4?.local_port, v4 && printIp(v4.remote), v4?.remote_port, v4?.inode]).toEqual([
    '127.0.0.1',
    8080,
    '10.0.0.2',
    443,
    '4242',
  ]);
  const [v6] = readSocketTable(
    '  0: B80D0120000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 7 1',
  );
  expect([v6 && printIp(v6.local), v6?.local_port]).toEqual(['2001:db8::1', 22]);
  const [mapped] = readSocketTable(
    '  0: 0000000000000000FFFF00000100000A:0016 0000000000000000FFFF00000200000A:D431 01 00000000:00000000 00:00000000 00000000 0 0 7 1',
  );
  expect(mapped && printIp(mapped.remote)).toBe('10.0.0.2');
});

it.skipIf(process.platform !== 'linux')('measures this computer, and names what listens on it', async () => {
  const server = createServer().listen(0, '0.0.0.0');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const telemetry = telemetrySchema.parse(await new Proc().read());
  server.close();
  expect(telemetry.listening).toContainEqual(expect.objectContaining({ protocol: 'tcp', port, address: '0.0.0.0' }));
  expect(telemetry.memory_bytes).toBeGreaterThan(1e6);
  expect(telemetry.memory_percent).toBeGreaterThan(0);
  expect(telemetry.uptime_s).toBeGreaterThan(0);
});

it('walks the tables of sockets only where the kernel counts another socket, and now and then', async () => {
  const root = mkdtempSync(join(tmpdir(), 'palisade-proc-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'net'));
  const listens = (port: number) =>
    `  0: 00000000:${port.toString(16).padStart(4, '0').toUpperCase()} 00000000:0000 0A 0:0 0:0 0 0 0 7 1\n`;
  const write = (name: string, text: string) => writeFileSync(join(root, 'net', name), text);
  const count = (opens: number, used: number) => {
    write('snmp', `Tcp: RtoMin ActiveOpens PassiveOpens CurrEstab\nTcp: 200 ${opens} 3 4\n`);
    write('sockstat', `sockets: used 9\nTCP: inuse ${used} orphan 0 tw 5\nUDP: inuse 1 mem 0\n`);
    write('sockstat6', 'TCP6: inuse 0\n');
  };
  const proc = new Proc(root, root);
  const ports = async () => (await proc.read()).listening.map(({ port }) => port);
  write('tcp', listens(22));
  count(1, 1);
  expect(await ports()).toEqual([22]);
  // Without a new count, a socket that cannot have been opened is not seen.
  write('tcp', listens(22) + listens(80));
  expect(await ports()).toEqual([22]);
  expect((await proc.listening()).map(({ port }) => port)).toEqual([22, 80]);
  count(1, 2);
  expect(await ports()).toEqual([22, 80]);
  write('tcp', listens(80));
  count(2, 2);
  expect(await ports()).toEqual([80]);
  // One that was closed while another was opened changes no count.
  write('tcp', listens(443));
  for (let read = 0; read < 9; read += 1) expect(await ports()).toEqual([80]);
  expect(await ports()).toEqual([443]);
  // A kernel that counts nothing is asked each time.
  rmSync(join(root, 'net/snmp'));
  expect(await ports()).toEqual([443]);
  write('tcp', '');
  expect(await ports()).toEqual([]);
});

it('counts the time in which the processor waits for a disk as idle', async () => {
  const root = mkdtempSync(join(tmpdir(), 'palisade-proc-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const proc = new Proc(root, root);
  // User, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen.
  const read = async (times: string) => {
    writeFileSync(join(root, 'stat'), `cpu  ${times}\ncpu0 ${times}\n`);
    return (await proc.read()).cpu_percent;
  };
  await read('100 0 0 900 0 0 0 0');
  expect(await read('140 0 0 1000 50 0 10 0')).toBe(25);
});

it("shortens a program's name of control characters to the contract's form", async () => {
  const root = mkdtempSync(join(tmpdir(), 'palisade-proc-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'net'));
  mkdirSync(join(root, '42/fd'), { recursive: true });
  writeFileSync(join(root, 'net/tcp'), '  0: 00000000:1F90 00000000:0000 0A 0:0 0:0 0 0 0 77 1\n');
  writeFileSync(join(root, '42/comm'), 'a\u0001b\nc\u007f\n');
  symlinkSync('socket:[77]', join(root, '42/fd/3'));
  const { listening } = telemetrySchema.parse(await new Proc(root, root).read());
  expect(listening).toEqual([{ protocol: 'tcp', address: '0.0.0.0', port: 8080, program: 'abc' }]);
});

it('reports a failed sign-in, for any user name', () => {
  expect(failedFrom('Failed password for root from 203.0.113.9 port 4242 ssh2')).toBe('203.0.113.9');
  expect(failedFrom('Nov 22 10:00:00 vm sshd[7]: Invalid user x from 2001:db8::1 port 4242')).toBe('2001:db8::1');
  expect(failedFrom('Invalid user a from 198.51.100.7 port 1 from 203.0.113.9 port 4242')).toBe('203.0.113.9');
  expect(failedFrom('Connection closed by authenticating user root 203.0.113.9 port 4242 [preauth]')).toBe('203.0.113.9');
  expect(failedFrom('Failed password for invalid user x from 203.0.113.9 port 4242 ssh2')).toBeUndefined();
  expect(failedFrom('Accepted password for root from 203.0.113.9 port 4242 ssh2')).toBeUndefined();
});

function timeOf(line: string): number {
  const start = performance.now();
  for (let turn = 0; turn < 100; turn += 1) failedFrom(line);
  return performance.now() - start;
}

/** The time for reading one line as a multiple of the time for another one; each as the least of several tries, which alternate, so that both meet the same code and the same load. */
function timesAsLong(line: string, other: string): number {
  const tries = Array.from({ length: 15 }, () => [timeOf(line), timeOf(other)] as const);
  return Math.min(...tries.map(([time]) => time)) / Math.min(...tries.map(([, time]) => time));
}

const HOSTILE: Record<string, (length: number) => string> = {
  'many programs': (length) => 'sshd[1'.repeat(length / 6),
  'many addresses': (length) => `Failed password for ${'from 1 '.repeat(length / 7)}`,
  'one long address': (length) => `Invalid user x from ${'a'.repeat(length)}`,
  'many ports': (length) => `Connection closed by authenticating user ${'1 port '.repeat(length / 7)}`,
  'a long number': (length) => `sshd[${'1'.repeat(length)}`,
  blanks: (length) => `Failed ${' '.repeat(length)}`,
};

it.each(Object.entries(HOSTILE))(
  'reads a hostile line in time that rises with its length, and of a long one the beginning alone: %s',
  (_, lineOf) => {
    // Eight times the length is 64 times the time where each step looks at all of it.
    expect(timesAsLong(lineOf(2_000), lineOf(250))).toBeLessThan(32);
    expect(timesAsLong(lineOf(2_000_000), lineOf(20_000))).toBeLessThan(8);
  },
);

it('finds an address behind the longest user name that sshd writes, and none behind a cut one', () => {
  const user = 'x from 10.0.0.1 port 5 '.repeat(40);
  expect(failedFrom(`Nov 22 10:00:00 vm sshd[77]: Failed password for ${user} from 203.0.113.9 port 4242 ssh2`)).toBe(
    '203.0.113.9',
  );
  expect(failedFrom(`Invalid user ${'x'.repeat(5_000)} from 203.0.113.9 port 4242`)).toBeUndefined();
});

it('says the version of the workspace', () => {
  const read: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(read).toMatchObject({ version: AGENT_VERSION });
});

it('calls it guessing once in ten minutes', () => {
  const guessing = createGuessing();
  const line = 'Failed password for root from 203.0.113.9 port 4242 ssh2';
  expect(guessing.hear(Array<string>(GUESSES - 1).fill(line), 0)).toEqual([]);
  expect(guessing.hear([line], 1_000)).toEqual([{ address: '203.0.113.9', failures: GUESSES }]);
  expect(guessing.hear([line], 2_000)).toEqual([]);
  expect(guessing.hear(Array<string>(GUESSES).fill(line), 11 * 60_000)).toHaveLength(1);
});

it('reads new lines of a log, whole ones alone, and follows it when it is rotated', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-log-'));
  const path = join(folder, 'auth.log');
  const FAILED = 'Failed password for root from 203.0.113.9 port 4242 ssh2';
  writeFileSync(path, `${FAILED}\n`);
  const log = createSignInLog(path);
  const failures = async () => (await log.read()).filter((line) => failedFrom(line) !== undefined).length;
  expect(await failures()).toBe(0);
  appendFileSync(path, `${FAILED}\n${FAILED.slice(0, 20)}`);
  expect(await failures()).toBe(1);
  appendFileSync(path, `${FAILED.slice(20)}\n`);
  expect(await failures()).toBe(1);
  renameSync(path, `${path}.1`);
  writeFileSync(path, `${FAILED}\n`);
  expect(await failures()).toBe(1);
  rmSync(folder, { recursive: true });
});

it('starts journalctl only where something was written to the journal, and then reads from where it read last', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const asked = join(folder, 'asked');
  writeFileSync(join(folder, 'journalctl'), `#!/bin/sh\necho "$@" >> ${asked}\necho Failed password; echo for root\n`);
  chmodSync(join(folder, 'journalctl'), 0o755);
  vi.stubEnv('PATH', [folder, '/usr/bin', '/bin'].join(delimiter));
  onTestFinished(() => void vi.unstubAllEnvs());
  const machine = join(folder, 'journal/0123456789abcdef');
  mkdirSync(machine, { recursive: true });
  const journal = join(machine, 'system.journal');
  writeFileSync(journal, 'one');
  const log = createSignInLog(join(folder, 'auth.log'), [join(folder, 'journal'), join(folder, 'none')]);
  const times = () => readFileSync(asked, 'utf8').trim().split('\n').length;
  expect(await log.read()).toContain('Failed password');
  expect(await log.read()).toEqual([]);
  // A rotated file is not written to any more.
  writeFileSync(join(machine, 'system@1.journal'), 'old');
  expect(await log.read()).toEqual([]);
  expect(times()).toBe(1);
  appendFileSync(journal, 'two');
  expect(await log.read()).toContain('for root');
  renameSync(journal, join(machine, 'system@2.journal'));
  writeFileSync(journal, 'onetwo');
  expect(await log.read()).toContain('for root');
  expect(times()).toBe(3);
  const lines = readFileSync(asked, 'utf8').trim().split('\n');
  const [until, since] = [/--until @(\d+)/u.exec(lines[0] ?? '')?.[1], /--since @(\d+)/u.exec(lines[1] ?? '')?.[1]];
  expect(since).toBe(until);
});

it('tells security updates from others', () => {
  expect(readUpdates('Inst vim [1] (2 Debian:12.1/stable [amd64])').state).toBe('pass');
  expect(readUpdates('Inst openssl [1] (2 Debian-Security:12/stable-security [amd64])')).toEqual({
    state: 'fail',
    evidence: 'Security updates wait for openssl.',
  });
});

it('finds whether the device mounted as / is encrypted', () => {
  const disk = (type: string) => ({
    blockdevices: [{ type: 'disk', children: [{ type: 'part', children: [{ type, mountpoints: ['/'] }] }] }],
  });
  expect([isRootEncrypted(disk('crypt')), isRootEncrypted(disk('lvm')), isRootEncrypted({ blockdevices: [] })]).toEqual([
    true,
    false,
    undefined,
  ]);
});

it('reads the settings of an SSH server', () => {
  expect(readSshSettings('permitrootlogin without-password\npasswordauthentication no\n').state).toBe('pass');
  expect(readSshSettings('permitrootlogin yes\npasswordauthentication yes\n')).toEqual({
    state: 'fail',
    evidence: 'Root may sign in by SSH. A password is enough to sign in by SSH.',
  });
});

it('waits longer after each failure, never as long as another agent', () => {
  expect(backOff(0, 60_000, () => 0)).toBe(500);
  expect(backOff(3, 60_000, () => 1)).toBe(8_500);
  expect(backOff(50, 60_000, () => 1)).toBe(60_000);
});

// proves: device-fault-11
it('believes that it is revoked after ten minutes of nothing else', () => {
  let now = 0;
  const revocation = createRevocation(() => now);
  expect(revocation.hear(true)).toBe(false);
  now = 9 * 60_000;
  // No answer is no answer: it neither ends the time nor counts as one.
  expect(revocation.hear(undefined)).toBe(false);
  expect(revocation.hear(true)).toBe(false);
  now = 10 * 60_000;
  expect(revocation.hear(undefined)).toBe(false);
  expect(revocation.hear(true)).toBe(true);
  expect(revocation.hear(false)).toBe(false);
  expect(revocation.hear(true)).toBe(false);
});
