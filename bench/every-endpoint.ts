// Asks every endpoint of the contract of a server on SQLite with 200 people, 10,000 scans and 200,000 audit entries (a tenth of each of one person, the administrator), as the person that it needs, with the ids of that person's records.
// Measures the longest gap of the event loop and the processor time of each call. Bars: 50 ms, 300 ms. Prints the slowest and keeps every-endpoint.json. Linux only (/proc). `node bench/every-endpoint.ts [--only /auth/export]`. Needs npm start once (for the build).
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { fill, idOf, startAccount } from './full-account.ts';
import { keepResult, startServer } from './server.ts';

const PEOPLE = 200;
const SCANS = 10_000;
const ENTRIES = 200_000;
/** Once: the time is in them. */
const IDS = Array.from({ length: PEOPLE }, (_, index) => idOf(2, index));
const BARS = { gap_ms: 50, processor_ms: 300 };
const PASSWORD = 'a password for measuring';
/** Right bodies of the calls that do most; the others are refused for theirs, after everything that stands before it. */
const BODIES: Record<string, object> = {
  'POST /auth/export': { password: PASSWORD },
  'POST /auth/delete-account': { password: PASSWORD },
  'POST /auth/end-other-sessions': { password: PASSWORD },
  'POST /chat/messages': { message: 'Hello', sender: 'user' },
  'POST /scam-check': { text: 'Your parcel waits: http://example.com/pay' },
  'POST /firewall/rules': { rule_name: 'Another' },
  'POST /auth/login': { email: 'bench@example.com', password: PASSWORD },
};
const QUERIES: Record<string, readonly string[]> = {
  'GET /admin/audit': [
    '?kind=role_changed',
    '?group=plans',
    `?from=${dayAgo(2)}&to=${dayAgo(1)}`,
    '?person=bench',
    '?limit=500',
    '?cursor=100000',
  ],
  'GET /admin/users': ['?limit=200', '?sort=name&limit=200', '?search=person'],
  'GET /antivirus/scans': ['?limit=200', '?search=report', '?status=infected'],
  'GET /auth/audit/export': ['?format=json', '?format=csv'],
};
/** Calls that end the session or the account that asks: last. */
const LAST = ['POST /auth/logout', 'POST /auth/delete-account'];

function dayAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

const endpointSchema = z.object({ method: z.string(), path: z.string().startsWith('/'), access: z.string(), status: z.int() });

async function allEndpoints(): Promise<{ key: string; method: string; path: string }[]> {
  const folder = new URL('../contract/src/', import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const modules = await Promise.all(
    files.map(async (name) => z.record(z.string(), z.unknown()).parse({ ...(await import(new URL(name, folder).href)) })),
  );
  const endpoints = modules
    .flatMap((exported) => Object.values(exported))
    .flatMap((value) => endpointSchema.safeParse(value).data ?? []);
  return endpoints
    .map(({ method, path }) => ({ key: `${method} ${path}`, method, path }))
    .sort((a, b) => LAST.indexOf(a.key) - LAST.indexOf(b.key));
}

interface Result {
  key: string;
  status: number;
  bytes: number;
  took_ms: number;
  processor_ms: number;
  gap_ms: number;
}

/** Continues the log as the server would, a second apart. */
function fillAudit(database: DatabaseSync, key: Buffer, owner: string): void {
  const head = z
    .object({ seq: z.int(), hash: z.string(), keyed_from: z.int(), anchor_seq: z.int(), anchor_hash: z.string() })
    .parse(database.prepare('select * from audit_head').get());
  const insert = database.prepare(
    'insert into audit_entries (seq, at, kind, subject_id, actor_id, personal, personal_hash, hash) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const move = database.prepare('update audit_head set seq = ?');
  for (let index = 0; index < ENTRIES; index += 1) {
    head.seq += 1;
    const at = new Date(Date.now() - (ENTRIES - index) * 1_000).toISOString();
    const kind = index % 5_000 === 0 ? 'role_changed' : index % 3 === 0 ? 'signed_out' : 'signed_in';
    const subject = index % 10 === 0 ? owner : (IDS[index % PEOPLE] ?? '');
    const personal = JSON.stringify({ salt: String(index), address: '192.0.2.1', client: 'Firefox on Linux', details: {} });
    const personal_hash = createHash('sha256').update(personal).digest('hex');
    head.hash = createHmac('sha256', key)
      .update(JSON.stringify([head.hash, head.seq, at, kind, subject, subject, personal_hash]))
      .digest('hex');
    insert.run(head.seq, at, kind, subject, subject, personal, personal_hash, head.hash);
    move.run(head.seq);
  }
  const { seq, hash, keyed_from, anchor_seq, anchor_hash } = head;
  const mac = createHmac('sha256', key)
    .update(JSON.stringify(['palisade audit head 1', seq, hash, keyed_from, anchor_seq, anchor_hash]))
    .digest('hex');
  database.prepare('update audit_head set hash = ?, mac = ?').run(hash, mac);
}

function fillData(data_dir: string, owner: string): void {
  const database = new DatabaseSync(join(data_dir, 'palisade.sqlite'));
  database.exec('pragma busy_timeout = 5000; begin immediate');
  fill(database, 'users', PEOPLE, (index) => ({
    id: IDS[index] ?? '',
    email: `person${index}@example.com`,
    username: `person${index}`,
    username_key: `person${index}`,
    username_skeleton: `person${index}`,
    role: 'customer',
  }));
  fill(database, 'scans', SCANS, (index) => ({
    id: idOf(1, index),
    filename: `report ${index}.pdf`,
    user_id: index % 10 === 0 ? owner : (IDS[index % PEOPLE] ?? ''),
  }));
  fillAudit(database, readFileSync(join(data_dir, 'keys/audit.key')), owner);
  database.exec('commit');
  database.close();
}

/** Processor time of the thread that answers, in ms: hashing of passwords has threads of its own. */
const processorOf = (pid: number) => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-every-endpoint-'));
const gap_file = join(data_dir, 'gap');
const server = await startServer(join(data_dir, 'data'), {
  LIMITS: ['read', 'write', 'expensive', 'admin', 'sign_in']
    .flatMap((name) => (name === 'sign_in' ? [`${name}.source=1000000/1m`] : [`${name}=1000000/1m`, `${name}.source=1000000/1m`]))
    .join(', '),
  LOOP_GAP_FILE: gap_file,
  NODE_OPTIONS: `--import=${fileURLToPath(new URL('loop-gap.ts', import.meta.url))}`,
});

/** The longest gap since the last call of this, in ms. */
async function readGap(): Promise<number> {
  rmSync(gap_file, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  for (;;) {
    try {
      const text = readFileSync(gap_file, 'utf8');
      if (text !== '') return Number(text);
    } catch {
      // Not written yet.
    }
    await pause(2);
  }
}

try {
  await startAccount(server);
  const { token } = await server.signIn();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const me = z.object({ id: z.string() }).parse(await (await fetch(`${server.url}/api/auth/me`, { headers })).json());
  fillData(join(data_dir, 'data'), me.id);
  const reader = new DatabaseSync(join(data_dir, 'data/palisade.sqlite'), { readOnly: true });
  const idFor = (path: string) => {
    const tables = [
      ['/antivirus/', 'scans'],
      ['/firewall/rules', 'firewall_rules'],
      ['/firewall/revisions', 'firewall_revisions'],
      ['/support/conversations', 'conversations'],
      ['/remote/', 'remote_sessions'],
      ['/admin/users', 'users'],
      ['/premium/', 'alerts'],
    ];
    const [, table] = tables.find(([prefix = '']) => path.startsWith(prefix)) ?? [];
    const row = table === undefined ? undefined : reader.prepare(`select id from ${table} order by id desc limit 1`).get();
    return String(row?.['id'] ?? idOf(9, 1));
  };
  // As a day of the server has: it checks the whole log once a day, and keeps how far.
  await fetch(`${server.url}/api/admin/audit/chain`, { headers });
  const only = process.argv.indexOf('--only');
  const endpoints = (await allEndpoints()).filter(({ key }) => only < 0 || key.includes(process.argv[only + 1] ?? ''));
  const results: Result[] = [];
  for (const { key, method, path } of endpoints) {
    for (const query of ['', ...(QUERIES[key] ?? [])]) {
      await readGap();
      const before = processorOf(server.pid);
      const began = performance.now();
      const body = method === 'GET' ? {} : { body: JSON.stringify(BODIES[key] ?? {}) };
      const answer = await fetch(`${server.url}/api${path.replaceAll(/\{\w+\}/g, idFor(path))}${query}`, {
        method,
        headers,
        ...body,
      });
      const bytes = (await answer.arrayBuffer()).byteLength;
      const took_ms = Math.round(performance.now() - began);
      const processor_ms = Math.round(processorOf(server.pid) - before);
      // Other programs of the machine make gaps, too: a call held the loop no longer than it had the processor.
      const gap_ms = Math.min(Math.round(await readGap()), processor_ms);
      results.push({ key: key + query, status: answer.status, bytes, took_ms, processor_ms, gap_ms });
    }
  }
  const by = (name: 'gap_ms' | 'processor_ms') => results.toSorted((a, b) => b[name] - a[name]).slice(0, 12);
  console.table(by('gap_ms'));
  console.table(by('processor_ms'));
  const over = results.filter(({ gap_ms, processor_ms }) => gap_ms > BARS.gap_ms || processor_ms > BARS.processor_ms);
  keepResult('every-endpoint', {
    what: `${results.length} calls of every endpoint with ${ENTRIES} audit entries`,
    bars: BARS,
    over,
    slowest: { gap: by('gap_ms')[0], processor: by('processor_ms')[0] },
  });
  reader.close();
} finally {
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
