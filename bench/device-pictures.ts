// Takes pictures of the devices and the firewall with no device, three and many, in the windows of snap.ts, dark and light, whole pages. For the eye; measures nothing.
// `node bench/device-pictures.ts <folder> [--fill=three] [--scheme=dark] [--width=390,320]`. Needs npm run build once.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { z } from 'zod';
import { FLAGS, fill, idOf } from './full-account.ts';
import { type BenchServer, startServer } from './server.ts';
import { SNAP_OPTIONS, snap } from './snap.ts';

const FILLS = ['none', 'three', 'many'] as const;
const MANY = { devices: 24, rules: 497 } as const;

const { values, positionals } = parseArgs({ options: SNAP_OPTIONS, allowPositionals: true });
const [folder = join(tmpdir(), 'palisade-device-pictures')] = positionals;

const now = () => new Date().toISOString();
const identitySchema = z.object({ device_id: z.string(), token: z.string() });
const ruleSchema = z.object({ id: z.string() });
const toldSchema = z.object({ told: z.array(z.looseObject({ kind: z.string(), rev: z.int().optional() })) });
const CHECKS = [
  ['security_updates', 'fail', 'Security updates wait for openssl, libc6, linux-image-amd64 and 3 more.'],
  ['disk_encryption', 'pass', 'The disk of this system is encrypted.'],
  ['ssh_settings', 'pass', 'SSH takes keys alone, and not from root by password.'],
  ['screen_lock', 'unknown', 'Each person’s desktop keeps its own screen lock, which a system service cannot read.'],
] as const;

/** Of an agent that has more to read than it can. */
const FLOODED = {
  ...{ watcher: 'stalled', files_unread: 3, workers_stuck: 1 },
  overflow: { at: now(), folders: 2 },
};

function reportOf(rule_ids: readonly string[], health: object | null) {
  const connection = {
    direction: 'inbound',
    protocol: 'tcp',
    local: '192.168.1.20',
    remote: '192.168.1.7',
    port: 22,
    program: 'sshd',
  };
  return {
    ...{ kind: 'report', seq: 1, epoch: '2026-11-20T10:00:00.000Z', watching: { folders: 214, reason: null }, health },
    counters: rule_ids.map((of, index) => ({ of, packets: 37 * (index + 1), bytes: 4_000 })),
    blocked: [
      ...[3389, 445, 23].map((port, index) => ({
        ...{ direction: 'inbound', protocol: 'tcp', address: `203.0.113.${7 + index}`, port, packets: 96 - index * 40 },
      })),
      { direction: 'inbound', protocol: 'udp', address: '2001:db8:85a3::8a2e:370:7334', port: 5353, packets: 4 },
    ],
    telemetry: {
      ...{ cpu_percent: 12, memory_percent: 61, memory_bytes: 16 * 1024 ** 3, network_in: 120_000, network_out: 8_000 },
      ...{ network_percent: 2, uptime_s: 86_400, connections: [connection] },
      listening: [{ protocol: 'tcp', address: '0.0.0.0', port: 22, program: 'sshd' }],
    },
    posture: CHECKS.map(([check, state, evidence]) => ({ check, state, evidence, checked_at: now() })),
    foreign_tables: [{ family: 'ip', name: 'docker', drops: true }],
  };
}

async function fillWith(
  server: BenchServer,
  data_dir: string,
  kind: (typeof FILLS)[number],
): Promise<{ email: string; password: string }> {
  const account = await server.signIn('maria');
  async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const answer = await fetch(`${server.url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${account.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  }
  const plan = { plan_name: 'Family', price: 1, duration_months: 12, max_devices: 999, is_premium: true, features: [] };
  await ask('POST', '/admin/assign-subscription', { user_email: account.email, ...plan });
  const rule = async (rule_name: string, port: string, action = 'block') =>
    ruleSchema.parse(await ask('POST', '/firewall/rules', { rule_name, port, action })).id;
  const rule_ids = [
    await rule('Nobody by Remote Desktop', '3389'),
    await rule('No file sharing', '445'),
    await rule('The printer', '9100', 'allow'),
  ];
  if (kind === 'none') return account;

  const capabilities = {
    ...{ firewall: 'nftables', firewall_reason: null, conntrack: true, scanner: true, scanner_reason: null, watch: true },
    ...{ second_look: true, second_look_reason: null, containers: false },
  };
  for (const hostname of ['old-server', 'kitchen', 'marias-laptop']) {
    const { code } = z.object({ code: z.string() }).parse(await ask('POST', '/devices/enrolment-code'));
    const public_key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const os = { platform: 'linux', name: 'Debian GNU/Linux 12 (bookworm)', arch: 'x64' };
    const identity = identitySchema.parse(
      await ask('POST', '/agent/enrol', { code, hostname, public_key, agent_version: '3.7.9', os }),
    );
    if (hostname === 'old-server') continue;
    const hello = {
      ...{ kind: 'hello', ...identity, instance: randomBytes(16).toString('hex'), agent_version: '3.7.9', applied_rev: 0 },
      ...{ ruleset_hash: null, capabilities, at: now() },
    };
    const { told } = toldSchema.parse(await ask('POST', '/agent/poll', { hello, said: [] }));
    const rev = told.find((one) => one.kind === 'desired')?.rev ?? 0;
    const errors = [{ rule_id: rule_ids[1] ?? null, message: 'Error: Operation not supported' }];
    const ack =
      hostname === 'kitchen' ? { state: 'rejected', errors, applied_rev: 0 } : { state: 'applied', errors: [], applied_rev: rev };
    const found = {
      ...{
        id: idOf(8, hostname === 'kitchen' ? 2 : 1),
        path: '/home/maria/Downloads/holiday/pictures-of-the-summer.zip',
        file_hash: 'a'.repeat(64),
        size: 48_213,
      },
      ...{ threat: 'EICAR-Test-File', member: 'eicar.com', outcome: 'quarantined', reason: null, found_at: now() },
    };
    const { id: job_id } = z
      .object({ id: z.string() })
      .parse(await ask('POST', `/devices/${identity.device_id}/scans`, { scan: 'full' }));
    const scan = {
      ...{ kind: 'scan_report', seq: 2, job_id, scan: 'full', state: 'done', reason: null, signatures_version: '1' },
      found: [found],
      progress: {
        ...{
          files_read: 41_233,
          files_known: 0,
          files_pending: 12,
          folders_unread: 1,
          files_total: 41_245,
          is_counted: true,
          bytes_read: 9e9,
        },
        ...{ bytes_per_second: 2e7, seconds_left: 0, path: null },
      },
    };
    await ask('POST', '/agent/poll', {
      hello,
      said: [{ kind: 'ack', rev, ...ack }, reportOf(rule_ids, hostname === 'kitchen' ? FLOODED : null), scan],
    });
  }
  // One that nobody has asked a second look at, and one that is waited for.
  const [finding] = z.array(z.object({ id: z.string() })).parse(await ask('GET', '/devices/findings'));
  await ask('POST', `/devices/findings/${finding?.id}/second-look`, { agreed: true });
  const database = new DatabaseSync(join(data_dir, 'palisade.sqlite'));
  database.exec('pragma busy_timeout = 5000; begin immediate');
  database.exec("update devices set reported_at = '2026-11-20T10:00:00.000Z' where hostname = 'marias-laptop'");
  // Pictures take longer than a connection that says nothing is kept.
  database.exec("update devices set connected_until = '2099-01-01T00:00:00.000Z' where instance is not null");
  if (kind === 'three') {
    database.exec('commit');
    database.close();
    return account;
  }
  fill(database, 'devices', MANY.devices, (index) => ({
    ...{
      id: idOf(7, index),
      device_name: `Computer ${index + 1} of the office`,
      public_key: `key ${index}`,
      token_hash: `hash ${index}`,
    },
    ...{ instance: null, connection_id: null, connected_until: null },
  }));
  fill(database, 'firewall_rules', MANY.rules, (index) => ({
    id: idOf(3, index),
    rule_name: `Rule ${index}`,
    port: `${1_000 + index}`,
  }));
  database.exec(`update firewall_rule_counts set rules = rules + ${MANY.rules}; commit`);
  database.close();
  return account;
}

mkdirSync(folder, { recursive: true });
for (const kind of FILLS.filter((one) => values.fill === undefined || one === values.fill)) {
  const data_dir = mkdtempSync(join(tmpdir(), 'palisade-pictures-'));
  const server = await startServer(data_dir);
  const browser = await chromium.launchPersistentContext('', {
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  try {
    const { email, password } = await fillWith(server, data_dir, kind);
    const page = await browser.newPage();
    await page.goto(server.url);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign In' }).click();
    await page.getByRole('heading', { level: 1, name: /dashboard/i }).waitFor();
    for (const path of ['devices', 'firewall', 'dashboard'])
      await snap(page, `${server.url}/${path}`, folder, path, kind, { ...values, whole: true });
  } finally {
    await browser.close();
    await server.stop();
    rmSync(data_dir, { recursive: true, force: true });
  }
}
