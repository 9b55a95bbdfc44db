import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type APIResponse, test as base, expect, type Page } from '@playwright/test';
import { Installation, PASSWORD } from './installation.ts';
import { type Product, startProduct } from './product.ts';
import type { SampleFile } from './samples.ts';
import { startSideBySide } from './side-by-side.ts';

const COMMANDS = fileURLToPath(new URL('../server/dist/palisade.js', import.meta.url));

/** Time after which no journey starts, in ms since 1970. Set by a gate with a time limit (scripts/test-deep.mjs). */
const LAST_BEGIN = Number(process.env['JOURNEYS_BEGIN_UNTIL'] ?? Number.POSITIVE_INFINITY);

interface OwnInstallation extends Installation {
  server: Product;
}

interface Journey {
  /** The server of the worker, without people. */
  palisade: Installation;
  /** Starts a separate server for this journey. `servers: 2` starts two behind a proxy. */
  startOwn: (environment?: Record<string, string>, servers?: 1 | 2) => Promise<OwnInstallation>;
}

async function startServer(environment: Record<string, string> = {}): Promise<Product> {
  const data_dir = mkdtempSync(join(tmpdir(), 'palisade-journey-'));
  const server = await startProduct(data_dir, environment);
  const port = environment['PORT'];
  return {
    ...server,
    // With its own port, the public address may differ from the listening address.
    url: port === undefined ? server.url : `http://127.0.0.1:${port}`,
    async stop() {
      await server.stop();
      rmSync(data_dir, { recursive: true, force: true });
    },
  };
}

/** The journeys of a worker share one server. Each starts without people and records. */
export const test = base.extend<Journey, { server: Installation }>({
  server: [
    async ({ browser }, use) => {
      const server = await startServer();
      const palisade = await Installation.of(server, browser);
      // Otherwise the next person to register would become the administrator.
      await palisade.rows.insert('installation', { name: 'first_admin', value: '' });
      await use(palisade);
      await palisade.rows.close();
      await server.stop();
    },
    { scope: 'worker' },
  ],
  palisade: async ({ server }, use, { retry, skip }) => {
    // A retry always runs, so that a failed journey is not reported as skipped.
    skip(retry === 0 && Date.now() > LAST_BEGIN, '[needs more time than --minutes gives]');
    await server.rows.clear();
    await use(server);
    await server.closeWindows();
  },
  startOwn: async ({ browser }, use, { retry, skip }) => {
    skip(retry === 0 && Date.now() > LAST_BEGIN, '[needs more time than --minutes gives]');
    const running: OwnInstallation[] = [];
    await use(async (environment = {}, servers = 1) => {
      const server = servers === 1 ? await startServer(environment) : await startSideBySide(environment);
      const own = Object.assign(await Installation.of(server, browser), { server });
      running.push(own);
      return own;
    });
    for (const own of running) {
      await own.closeWindows();
      await own.rows.close();
      await own.server.stop();
    }
  },
});

export function readOutbox(DATA_DIR: string): string {
  return execFileSync(process.execPath, [COMMANDS, 'outbox'], { env: { DATA_DIR }, encoding: 'utf8' });
}

/** Registers on the open sign-in screen. */
export async function register(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name: 'Register' }).click();
  await page.getByLabel('Email').fill(`${name}@example.com`);
  await page.getByLabel('Username').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Confirm Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create Account' }).click();
  await expect(page.getByText(/^Registration successful! /)).toBeVisible();
}

/** Enters email and password on the open sign-in screen, and submits. */
export async function givePassword(page: Page, name: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('Email', { exact: true }).fill(`${name}@example.com`);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign In' }).click();
}

/** Signs in on the login tab. */
export async function signIn(page: Page, name: string, password = PASSWORD): Promise<void> {
  await givePassword(page, name, password);
  await expect(page.getByRole('heading', { level: 1, name: /dashboard/i })).toBeVisible();
}

/** Chooses an item in the user menu. */
export async function chooseInMenu(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Security User menu' }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

export async function signOut(page: Page): Promise<void> {
  await chooseInMenu(page, 'Sign Out');
  await expect(page.getByRole('button', { name: 'Sign In' })).toBeVisible();
}

/** Authorization header of the page's session. */
export async function headersOf(page: Page): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await page.evaluate(() => localStorage.getItem('palisade.access_token'))}` };
}

/** Sends a call as the page's person. @throws if it is refused */
export async function post(page: Page, path: string, data?: object): Promise<APIResponse> {
  const answer = await page.request.post(`/api${path}`, { headers: await headersOf(page), ...(data && { data }) });
  expect(answer.ok(), `${path}: ${answer.status()}`).toBe(true);
  return answer;
}

/** Scans a file through the API instead of the page. */
export async function scanBeside(page: Page, { name, mimeType, buffer }: SampleFile): Promise<APIResponse> {
  const multipart = { file: { name, mimeType, buffer } };
  const answer = await page.request.post('/api/antivirus/scan', { headers: await headersOf(page), multipart });
  expect(answer.status()).toBe(201);
  return answer;
}
