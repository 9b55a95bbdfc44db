// Fills an account with a few records of every kind, and a table with many rows, for benchmarks of screens.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { BrowserContext } from '@playwright/test';
import type { BenchServer } from './server.ts';
import { upload } from './upload.ts';

/** Chromium flags for running offline and in a container. */
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

type Row = Record<string, SQLInputValue>;

/** Returns an id that sorts by `index`, in the format of UUIDv7. Its time is a day ago, so that later records are newer. */
export function idOf(kind: number, index: number): string {
  const time = (Date.now() - 86_400_000 + index).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${String(kind).padStart(3, '0')}-8000-${index.toString(16).padStart(12, '0')}`;
}

/** Inserts `count` copies of the newest row of a table, each changed by `vary`. */
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

/** Signs a browser in to an account. */
type SignIn = (browser: BrowserContext) => Promise<void>;
type Account = Awaited<ReturnType<BenchServer['signIn']>>;

/** Signs a browser in with the form of the sign-in page. */
export function signInto(url: string, { email, password }: Account): SignIn {
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

/** Registers the first account of a server, and fills it with a few records of every kind. */
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
  return signInto(server.url, account);
}
