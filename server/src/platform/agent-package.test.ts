import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type ListeningApp, startListeningApp } from '#test/harness.ts';

let app: ListeningApp | undefined;
const folder = mkdtempSync(join(tmpdir(), 'palisade-package-'));
afterEach(async () => {
  await app?.close();
  app = undefined;
});

const ARCHIVE = Buffer.from('an archive');
const HASH = createHash('sha256').update(ARCHIVE).digest('hex');
function built(): string {
  mkdirSync(join(folder, 'files'), { recursive: true });
  writeFileSync(join(folder, 'files', 'palisade-agent.tar.gz'), ARCHIVE);
  writeFileSync(join(folder, 'install.sh'), `#!/bin/sh\nSERVER='@SERVER@'\nAGENT_SHA256='${HASH}'\n`);
  return folder;
}

/** As `curl` asks, by a name. */
function ask(url: string, host?: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: host === undefined ? {} : { host } }, (response) => {
      let text = '';
      response.on('data', (part: Buffer) => (text += part.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('on this machine the script has the address of the request and the hash of its archive', async () => {
  app = await startListeningApp({ surroundings: { agent_folder: built() } });
  const { status, text } = await ask(`${app.url}/agent/install.sh`);
  expect(status).toBe(200);
  expect(text).toContain(`SERVER='${app.url}'`);
  const archive = await ask(`${app.url}/agent/files/palisade-agent.tar.gz`);
  expect(createHash('sha256').update(archive.text).digest('hex')).toBe(HASH);
  expect(text).toContain(HASH);
  expect((await ask(`${app.url}/agent/files/..%2finstall.sh`)).status).toBe(404);
});

test('by https the script names the public address', async () => {
  app = await startListeningApp({
    environment: { PUBLIC_URL: 'https://palisade.example.org', EXPOSURE: 'local' },
    surroundings: { agent_folder: built() },
  });
  const { status, text } = await ask(`${app.url}/agent/install.sh`, 'palisade.example.org');
  expect([status, text.includes("SERVER='https://palisade.example.org'")]).toEqual([200, true]);
});

test('plain http is refused but for this machine', async () => {
  app = await startListeningApp({
    environment: { PUBLIC_URL: 'http://palisade.example.org', EXPOSURE: 'local' },
    surroundings: { agent_folder: built() },
  });
  const { status, text } = await ask(`${app.url}/agent/install.sh`, 'palisade.example.org');
  expect(status).toBe(403);
  expect(text).toContain('needs https');
});

test('a server without the package says so', async () => {
  app = await startListeningApp();
  const { status, text } = await ask(`${app.url}/agent/install.sh`);
  expect([status, text.includes('no device package')]).toEqual([404, true]);
});
