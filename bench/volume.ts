import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type BrowserContext, chromium, type Page } from '@playwright/test';
import { z } from 'zod';
import { describeMachine, RESULTS, startServer } from './server.ts';
import { upload } from './upload.ts';

// The screens of an account with 10,000 scans, 1,000 alerts, 500 rules, 2,000 messages and 300 sessions, and of an administrator of 5,000 people: how long until
// the rows are there, how long from a press to the paint that answers it, how much lies in the document, and how far things move. p75 of 20 visits each, kept in
// results/volume.json. `node bench/volume.ts`, after `npm start` has built the server.

const AMOUNTS = { scans: 10_000, alerts: 1_000, rules: 500, messages: 2_000, sessions: 300, users: 5_000 } as const;
const VISITS = 20;
const BARS = { press_to_paint_ms: 100, elements: 2_500, shift: 0.02 } as const;

/** Each screen, what shows that its rows are there, and something to press. */
const SCREENS = [
  { path: '/dashboard', there: 'main h1', press: undefined },
  { path: '/antivirus', there: '[aria-label="Scans"] li', press: 'Infected' },
  { path: '/firewall', there: '.rule-row', press: 'Off' },
  { path: '/remote', there: '.remote-session', press: 'Completed' },
  { path: '/chat', there: '[role="log"] li, [role="log"] article, [role="log"] p', press: undefined },
  { path: '/anti-hacking', there: '[aria-label="Alerts"] li', press: 'Resolved' },
  { path: '/admin/users', there: '.records tbody tr, .record-card', press: undefined },
  { path: '/admin/audit', there: 'main li, main tbody tr', press: undefined },
] as const;

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

type Row = Record<string, SQLInputValue>;

/** Ids that sort by their number, as UUIDv7 does by time; a day ago, so that what comes is newer. */
function idOf(kind: number, index: number): string {
  const time = (Date.now() - 86_400_000 + index).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${String(kind).padStart(3, '0')}-8000-${index.toString(16).padStart(12, '0')}`;
}

/** Fills a table with what becomes of its newest row under `vary`. */
function fill(database: DatabaseSync, table: string, count: number, vary: (index: number) => Row): void {
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
  fill(database, 'chat_messages', AMOUNTS.messages, (index) => ({ id: idOf(4, index), message: `Message ${index}` }));
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

/** What the page itself sees of its paints. */
const WATCH = `
  window.measured = { shift: 0, press: 0 };
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.measured.shift += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.measured.press = Math.max(window.measured.press, entry.duration); })
    .observe({ type: 'event', durationThreshold: 16, buffered: true });
`;
const measuredSchema = z.object({ shift: z.number(), press: z.number() });

interface Visit {
  rows_ms: number;
  press_ms: number;
  elements: number;
  shift: number;
  height: number;
}

async function visit(page: Page, url: string, { there, press }: (typeof SCREENS)[number]): Promise<Visit> {
  const began = performance.now();
  await page.goto(url);
  await page.locator(there).first().waitFor();
  const rows_ms = performance.now() - began;
  await page.waitForLoadState('networkidle');
  const { elements, height } = z
    .object({ elements: z.int(), height: z.int() })
    .parse(
      await page.evaluate(
        '({ elements: document.querySelectorAll("*").length, height: document.scrollingElement.scrollHeight })',
      ),
    );
  if (press !== undefined) {
    await page.getByRole('radio', { name: new RegExp(`^${press}`, 'u') }).click({ force: true });
    await page.waitForLoadState('networkidle');
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))');
  }
  const { shift, press: press_ms } = measuredSchema.parse(await page.evaluate('window.measured'));
  return { rows_ms, press_ms, elements, shift, height };
}

function p75(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.75) - 1] ?? Number.NaN;
}

async function measure(browser: BrowserContext, url: string) {
  const results = [];
  for (const screen of SCREENS) {
    const visits: Visit[] = [];
    const page = await browser.newPage();
    await page.addInitScript(WATCH);
    for (let count = 0; count < VISITS; count += 1) visits.push(await visit(page, `${url}${screen.path}`, screen));
    await page.close();
    const of = (key: keyof Visit) => Math.round(p75(visits.map((one) => one[key])) * 1_000) / 1_000;
    const result = {
      screen: screen.path,
      rows_ms: Math.round(of('rows_ms')),
      press_to_paint_ms: screen.press === undefined ? null : of('press_ms'),
      elements: of('elements'),
      shift: of('shift'),
      height_px: of('height'),
    };
    results.push({
      ...result,
      reached:
        (result.press_to_paint_ms ?? 0) <= BARS.press_to_paint_ms &&
        result.elements <= BARS.elements &&
        result.shift <= BARS.shift,
    });
    console.log(JSON.stringify(results.at(-1)));
  }
  return results;
}

const data_dir = mkdtempSync(join(tmpdir(), 'palisade-volume-'));
const server = await startServer(data_dir);
const browser = await chromium.launchPersistentContext('', {
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: FLAGS,
  viewport: { width: 1440, height: 900 },
});
try {
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
  await upload(server.url, account.token, 'letter.txt', [bytes], bytes.length);
  await post('/firewall/rules', { rule_name: 'The first' });
  await post('/chat/messages', { message: 'Hello', sender: 'user' });
  await post('/remote/session');
  const plan = { plan_name: 'Solo', price: 1, duration_months: 12, max_devices: 5, is_premium: true, features: [] };
  await post('/admin/assign-subscription', { user_email: account.email, ...plan });
  await post('/premium/anti-hacking/simulate-threat');
  fillAll(join(data_dir, 'palisade.sqlite'));

  const page = await browser.newPage();
  await page.goto(server.url);
  await page.getByLabel('Email').fill(account.email);
  await page.getByLabel('Password', { exact: true }).fill(account.password);
  await page.getByRole('button', { name: 'Sign In' }).click();
  await page.getByRole('heading', { level: 1, name: /dashboard/i }).waitFor();
  await page.close();
  const results = await measure(browser, server.url);
  const kept = {
    what: `p75 of ${VISITS} visits to each screen of a full account, Chromium at 1440 px`,
    at: new Date().toISOString(),
    machine: { ...describeMachine(), load: Math.round((loadavg()[0] ?? 0) * 10) / 10 },
    amounts: AMOUNTS,
    bars: BARS,
    results,
  };
  writeFileSync(join(RESULTS, 'volume.json'), `${JSON.stringify(kept, null, 2)}\n`);
} finally {
  await browser.close();
  await server.stop();
  rmSync(data_dir, { recursive: true, force: true });
}
