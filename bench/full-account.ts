// Fills an account with 10,000 scans, 1,000 alerts and 500 rules among 5,000 people, for benches of screens.
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { BrowserContext } from '@playwright/test';
import type { BenchServer } from './server.ts';
import { upload } from './upload.ts';

/** Records of a full account; the users are the other people of its administrator. */
export const AMOUNTS = { scans: 10_000, alerts: 1_000, rules: 500, messages: 2_000, sessions: 300, users: 5_000 } as const;

/** Flags for a Chromium that stays offline and runs in a container. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Where the made messages begin, behind those that the server counted itself. */
const FIRST_SEQ = 100;

type Row = Record<string, SQLInputValue>;

/** Ids that sort by their number, as UUIDv7 does by time; a day ago, so that what comes is newer. */
export function idOf(kind: number, index: number): string {
  const time = (Date.now() - 86_400_000 + index).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${String(kind).padStart(3, '0')}-8000-${index.toString(16).padStart(12, '0')}`;
}

/** Fills a table with what becomes of its newest row under `vary`. */
export function fill(database: DatabaseSync, table: string, count: number, vary: (index: number) => Row): void {
  const model: Row | undefined = database.prepare(`select * from ${table} order by id desc limit 1`).get();
  if (model === undefined) throw new Error(`There is no row in ${table} to make others of.`);
  const columns = Object.keys(model);
  const insert = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`);
  for (let index = 0; index < count; index += 1) {
    const row = { ...model, ...vary(index) };
    insert.run(...columns.map((column) => row[column] ?? null));
  }
}

function fillAll(path: string): void {
  const database = new DatabaseSync(path);
  database.exec('pragma busy_timeout = 5000; begin immediate');
  fill(database, 'scans', AMOUNTS.scans, (index) => ({
    id: idOf(1, index),
    filename: `report ${index} of the year.pdf`,
    scan_status: index % 100 === 0 ? 'infected' : 'clean',
    threat_detected: index % 100 === 0 ? 'EICAR-Test-File' : null,
    sealed: 0,
    spooled: 0,
    kept_until: null,
  }));
  fill(database, 'alerts', AMOUNTS.alerts, (index) => ({
    id: idOf(2, index),
    last_id: idOf(2, index),
    dedupe_key: `made ${index}`,
    status: index % 3 === 0 ? 'resolved' : 'open',
    simulated: 0,
  }));
  fill(database, 'firewall_rules', AMOUNTS.rules - 1, (index) => ({
    id: idOf(3, index),
    rule_name: `Rule ${index}`,
    port: `${1_000 + index}`,
    enabled: index % 5 === 0 ? 0 : 1,
  }));
  database.exec(`update firewall_rule_counts set rules = ${AMOUNTS.rules}`);
  fill(database, 'chat_messages', AMOUNTS.messages, (index) => ({
    id: idOf(4, index),
    message: `Message ${index}`,
    phrases: null,
    seq: FIRST_SEQ + index,
    client_message_id: null,
  }));
  const last_seq = FIRST_SEQ + AMOUNTS.messages - 1;
  database.exec(`update conversations set last_seq = ${last_seq}, last_shown_seq = ${last_seq}, told_seq = ${last_seq}`);
  fill(database, 'remote_sessions', AMOUNTS.sessions, (index) => ({
    id: idOf(5, index),
    session_code: `AAA-AAA-${index.toString(36).toUpperCase().padStart(3, '0')}`,
    status: index % 2 === 0 ? 'completed' : 'cancelled',
    end_reason: index % 2 === 0 ? null : 'cancelled',
    ended_at: new Date().toISOString(),
  }));
  fill(database, 'users', AMOUNTS.users, (index) => ({
    id: idOf(6, index),
    username: `person-${index}`,
    username_key: `person-${index}`,
    username_skeleton: `person-${index}`,
    email: `person-${index}@example.com`,
    role: 'customer',
  }));
  database.exec('commit; analyze');
  database.close();
}

/** Signs a browser in to an account. */
type SignIn = (browser: BrowserContext) => Promise<void>;
type Account = Awaited<ReturnType<BenchServer['signIn']>>;

function signInto({ url }: BenchServer, { email, password }: Account): SignIn {
  return async (browser) => {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign In' }).click();
    await page.getByRole('heading', { level: 1, name: /dashboard/i }).waitFor();
    await page.close();
  };
}

/** Makes the first account of a server, with nothing on it. */
export async function openAccount(server: BenchServer): Promise<SignIn> {
  return signInto(server, await server.signIn());
}

/** Gives the first account of a server one or a few of everything. */
export async function startAccount(server: BenchServer): Promise<SignIn> {
  const account = await server.signIn();
  const headers = { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' };
  const post = async (path: string, body?: unknown) => {
    const answer = await fetch(`${server.url}/api${path}`, {
      method: 'POST',
      headers: body === undefined ? { authorization: headers.authorization } : headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  };
  const bytes = Buffer.from('A letter.\n');
  for (const name of ['letter.txt', 'holiday.txt']) await upload(server.url, account.token, name, [bytes], bytes.length);
  await post('/firewall/rules', { rule_name: 'The first' });
  await post('/chat/messages', { message: 'Hello', sender: 'user' });
  await post('/remote/session');
  const plan = { plan_name: 'Solo', price: 1, duration_months: 12, max_devices: 5, is_premium: true, features: [] };
  await post('/admin/assign-subscription', { user_email: account.email, ...plan });
  await post('/premium/anti-hacking/simulate-threat');
  return signInto(server, account);
}

/** Gives the first account of a server everything that `AMOUNTS` says. Answers with what signs a browser in to it. */
export async function fillAccount(server: BenchServer, data_dir: string): Promise<SignIn> {
  const signIn = await startAccount(server);
  fillAll(join(data_dir, 'palisade.sqlite'));
  return signIn;
}
