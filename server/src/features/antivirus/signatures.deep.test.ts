import { join } from 'node:path';
import { listScans } from '@palisade/contract/antivirus';
import { readEngine } from '@palisade/contract/engine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF, zip } from '@palisade/scanner/test/files';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { describe, expect, test, vi } from 'vitest';
import { sha256, signedFeed, startFeedServer } from '#test/feed-server.ts';
import { replyOf, startScanningApp } from '#test/harness.ts';
import { runUpdate } from '#test/server-process.ts';
import { scanned } from '#test/upload.ts';

/** An update tries its feeds in processes of their own. */
const PATIENCE = { timeout: 120_000, interval: 50 };
const MARKER = Buffer.from('a file with the marker of the first feed: palisade-feed-one');
const LISTED = noise(5000, 7);
const ONE = 'rule Feed_One { strings: $a = "palisade-feed-one" condition: $a }\n';
const TWO = 'rule Feed_Two { meta: threat = "Test.Feed.Two" strings: $a = "palisade-feed-two" condition: $a }';
const THREE = 'rule Feed_Three { strings: $a = "palisade-feed-three" condition: $a }';
const HOUR_MS = 3_600_000;
const LIST = Buffer.from(`# a list\n${sha256(LISTED)}  Test.Listed.File\n\n${sha256(noise(10))}\n`);
const archive = (rules: string) => zip([{ name: 'rules.yar', content: Buffer.from(rules) }]);

describe('a server with feeds', { timeout: 300_000 }, async () => {
  const feeds = await startFeedServer();
  feeds.put('/live/rules.zip', archive(ONE));
  feeds.put('/live/list.txt', LIST);
  const SIGNATURE_FEEDS = [
    signedFeed('yara', `${feeds.url}/live/rules.zip`),
    signedFeed('sha256', `${feeds.url}/live/list.txt`),
  ].join();
  const opened = feeds.hold('/live/rules.zip');
  let later_ms = 0;
  const app = await startScanningApp({
    environment: { SIGNATURE_FEEDS },
    surroundings: { signatures_look_ms: 50, engine_processes: 2, now: () => Date.now() + later_ms },
  });

  test('takes new signatures into use without a gap, and names them on the record', async () => {
    const { token } = await app.signIn(undefined, 'customer');
    const admin = await app.signIn(undefined, 'admin');
    const status = async (as: string) => replyOf(await app.call(readEngine, { token: as }));
    const before = await scanned(app, token, 'before.txt', MARKER);
    expect(before.scan_status).toBe('clean');
    opened();

    await vi.waitFor(async () => expect((await status(token)).signatures.hashes).toBe(2), PATIENCE);
    const marked = await scanned(app, token, 'marked.txt', MARKER);
    expect(marked).toMatchObject({ scan_status: 'infected', threat_detected: 'Feed_One' });
    expect(marked.engines[0]?.signatures_version).not.toBe(before.engines[0]?.signatures_version);
    const listed = await scanned(app, token, 'photos.zip', zip([{ name: 'a.bin', content: LISTED }]));
    expect(listed).toMatchObject({ scan_status: 'infected', threat_detected: 'Test.Listed.File', threat_member: 'a.bin' });
    expect(await scanned(app, token, 'listed.bin', LISTED)).toMatchObject({ threat_detected: 'Test.Listed.File' });
    expect(await scanned(app, token, 'unnamed.bin', noise(10))).toMatchObject({ threat_detected: 'Known-Malware' });
    expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ threat_detected: 'EICAR-Test-File' });
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
    expect(app.app.signatures.matchHash(sha256(LISTED))).toBe('Test.Listed.File');
    expect(app.app.signatures.matchHash(sha256(PDF))).toBeUndefined();

    // A new version comes, made by the command, while the engine is in the middle of a file: held up here, so that the order is sure.
    feeds.put('/live/rules.zip', archive(ONE + TWO));
    const old_processes = app.app.engine.pids();
    for (const pid of old_processes) process.kill(pid, 'SIGSTOP');
    const held = scanned(app, token, 'held.txt', Buffer.concat([MARKER, Buffer.from(' held')]));
    await vi.waitFor(
      async () =>
        expect(replyOf(await app.call(listScans, { token }))[0]).toMatchObject({ filename: 'held.txt', status_detail: 'queued' }),
      PATIENCE,
    );
    const { code, output } = await runUpdate({ DATA_DIR: app.data_dir, SIGNATURE_FEEDS });
    expect(output).toContain('palisade: New threat definitions are installed. A running server uses them within a minute.\n');
    expect(code).toBe(0);
    await vi.waitFor(
      async () => expect((await status(token)).engines[0]?.signatures_version).not.toBe(marked.engines[0]?.signatures_version),
      PATIENCE,
    );
    const two = await scanned(app, admin.token, 'two.txt', Buffer.from('palisade-feed-two'));
    expect(two).toMatchObject({ scan_status: 'infected', threat_detected: 'Test.Feed.Two' });
    for (const pid of old_processes) if (app.app.engine.pids().includes(pid)) process.kill(pid, 'SIGCONT');
    expect(await held).toMatchObject({
      threat_detected: 'Feed_One',
      engines: marked.engines.map(({ signatures_version }) => ({ signatures_version })),
    });
    await vi.waitFor(() => expect(app.app.engine.pids()).toHaveLength(2), PATIENCE);
    expect(app.app.engine.pids().filter((pid) => old_processes.includes(pid))).toEqual([]);

    const shown = await status(token);
    expect(shown).toMatchObject({
      engines: [{ name: 'YARA-X', state: 'ready', processes: { ready: 2, wanted: 2 } }],
      signatures: { hashes: 2, last_outcome: 'The last update succeeded.' },
      limits: { depth: 16 },
      feeds: null,
    });
    expect(shown.engines[0]?.signatures_version).toBe(two.engines[0]?.signatures_version);
    expect(shown.signatures.age_hours).toBeLessThan(0.2);
    const told = (await status(admin.token)).feeds ?? [];
    const facts = { ok: true, severity: 'alarm', left_out: [], left_out_total: 0 };
    expect(told).toMatchObject([
      { ...facts, address: `${feeds.url}/live/rules.zip`, kind: 'yara', rules: 2, hashes: 0 },
      {
        ...facts,
        ...{ address: `${feeds.url}/live/list.txt`, kind: 'sha256', rules: 0, hashes: 2 },
        sentence: 'In use: 2 hashes. Nothing new.',
      },
    ]);
    // The server may have asked for the rules once more since.
    expect(told[0]?.sentence).toMatch(/^In use: 2 rules\.(?: Nothing new\.)?$/u);
    for (const { changed_at, confirmed_at, memory_bytes } of told)
      expect([changed_at, confirmed_at, memory_bytes]).not.toContain(null);
  });

  test('asks for newer ones once a day, without a request', async () => {
    const { token } = await app.signIn();
    feeds.put('/live/rules.zip', archive(THREE));
    feeds.asked.length = 0;
    later_ms = 23 * HOUR_MS;
    // It looks every 50 ms whether an update is due.
    await vi.waitFor(
      async () => expect(replyOf(await app.call(readEngine, { token })).signatures.age_hours).toBeGreaterThan(22),
      PATIENCE,
    );
    expect(await scanned(app, token, 'three.txt', Buffer.from('palisade-feed-three'))).toMatchObject({ scan_status: 'clean' });
    expect(feeds.asked).toEqual([]);
    later_ms = 27 * HOUR_MS;
    await vi.waitFor(async () => {
      const record = await scanned(app, token, 'three.txt', Buffer.from('palisade-feed-three'));
      expect(record).toMatchObject({ scan_status: 'infected', threat_detected: 'Feed_Three' });
    }, PATIENCE);
  });
});

describe('a server without feeds', async () => {
  const app = await startScanningApp({ surroundings: { signatures_folder: SIGNATURES_FOLDER } });

  test('says so, has the day of the pack, and stays with it when other signatures do not come up', async () => {
    const { token } = await app.signIn();
    await eventually(() => expect(app.app.engine.ready()).toBe(true));
    const { signatures } = replyOf(await app.call(readEngine, { token }));
    expect(signatures.built_at).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
    expect(signatures).toMatchObject({ hashes: 0, as_of: null, age_hours: null, last_update_at: null, last_outcome: null });
    expect(await app.app.embedded.reload({ rules_folder: join(app.data_dir, 'nothing-here'), feeds: [] })).toBe(false);
    expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ threat_detected: 'EICAR-Test-File' });
  });
});

describe('a server whose clamd is not there', async () => {
  // Port 1 has no listener.
  const app = await startScanningApp({ environment: { SCANNER_URL: 'clamd://127.0.0.1:1' } });

  test('says so beside the engine that answers', async () => {
    const { token } = await app.signIn();
    await vi.waitFor(async () => {
      const { engines } = replyOf(await app.call(readEngine, { token }));
      expect(engines).toMatchObject([
        { name: 'YARA-X', state: 'ready' },
        { name: 'ClamAV', state: 'down', version: null, processes: { ready: 0, wanted: 1 } },
      ]);
    }, PATIENCE);
  });
});
