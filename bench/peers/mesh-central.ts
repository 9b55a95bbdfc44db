// Peer of remote.ts: MeshCentral from npm. It is downloaded at the first run; MESHCENTRAL can name a folder in which `npm install meshcentral` has run.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from '@playwright/test';
import { freePort } from '#bench/free-port.ts';
import { ROOT } from '#bench/server.ts';
import { answers, type Started } from '#bench/tls.ts';

export const VERSION = '1.1.55';
const FOLDER = process.env['MESHCENTRAL'] ?? join(ROOT, 'node_modules/.cache/palisade-meshcentral');
const MAIN = join(FOLDER, 'node_modules/meshcentral/meshcentral.js');
/** Path of its agent for Linux desktops in the package. */
export const AGENT = join(FOLDER, 'node_modules/meshcentral/agents/meshagent_x86-64');
export const ACCOUNT = { name: 'bench', password: 'A-password-4-measuring' };
const run = promisify(execFile);

async function install(): Promise<void> {
  if (existsSync(MAIN)) return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'package.json'), '{ "private": true }\n');
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', `meshcentral@${VERSION}`], { cwd: FOLDER });
}

/** Starts MeshCentral with its own TLS on a data folder, and waits until it answers. The first start creates certificates and the account, so the second start is measured. */
async function start(folder: string, port: number): Promise<Started> {
  const began = performance.now();
  const child = spawn(process.execPath, [MAIN, '--datapath', folder], { cwd: FOLDER, stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await answers(`https://127.0.0.1:${port}/`, ended);
  return {
    pids: [child.pid ?? 0],
    url: `https://127.0.0.1:${port}`,
    started_ms: performance.now() - began,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts MeshCentral a second time, with an account. */
export async function startMeshCentral(folder: string): Promise<Started> {
  await install();
  const port = await freePort();
  const settings = {
    ...{ cert: '127.0.0.1', port, exactPorts: true, redirPort: 0, mpsPort: 0, lanOnly: false, wanOnly: true },
    ...{ allowLoginToken: false, selfUpdate: false, autoBackup: false },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ settings, domains: { '': { newAccounts: false, minify: true } } }));
  const account = ['--createaccount', ACCOUNT.name, '--pass', ACCOUNT.password, '--email', 'bench@example.com'];
  await (await start(folder, port)).stop();
  await run(process.execPath, [MAIN, '--datapath', folder, ...account], { cwd: FOLDER });
  return await start(folder, port);
}

/** Signs in with the page's form, and waits for the main page. */
export async function signInToMeshCentral(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator('#username').fill(ACCOUNT.name);
  await page.locator('#password').fill(ACCOUNT.password);
  await page.locator('#password').press('Enter');
  await page.locator('#column_l').waitFor();
}
