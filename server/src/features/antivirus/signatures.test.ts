import { join } from 'node:path';
import { readEngine } from '@palisade/contract/engine';
import { expect, test, vi } from 'vitest';
import { sha256, signedFeed, startFeedServer } from '#test/feed-server.ts';
import { EICAR, noise, PDF, zip } from '#test/files.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';

const MIB = 1024 ** 2;
const MARKER = Buffer.from('a file with the marker of the first feed: palisade-feed-one');
const LISTED = noise(5000, 7);
const ONE = 'rule Feed_One { strings: $a = "palisade-feed-one" condition: $a }\n';
const TWO = 'rule Feed_Two { meta: threat = "Test.Feed.Two" strings: $a = "palisade-feed-two" condition: $a }';
const LIST = Buffer.from(`# a list\n${sha256(LISTED)}  Test.Listed.File\n\n${sha256(noise(10))}\n`);
const archive = (rules: string) => zip([{ name: 'rules.yar', content: Buffer.from(rules) }]);

test('a server with feeds takes new signatures into use without a gap, and names them on the record', async () => {
  const feeds = await startFeedServer();
  feeds.put('/live/rules.zip', archive(ONE));
  feeds.put('/live/list.txt', LIST);
  const app = await startTestApp({
    environment: {
      SIGNATURE_FEEDS: [
        signedFeed('yara', `${feeds.url}/live/rules.zip`),
        signedFeed('sha256', `${feeds.url}/live/list.txt`),
      ].join(),
    },
    surroundings: { signatures_look_ms: 50 },
  });
  const { token } = await app.signIn(undefined, 'customer');
  const admin = await app.signIn(undefined, 'admin');
  const status = async (as: string) => replyOf(await app.call(readEngine, { token: as }));
  const before = await scanned(app, token, 'before.txt', MARKER);

  await vi.waitFor(async () => expect((await status(token)).signatures.hashes).toBe(2), { timeout: 30_000, interval: 50 });
  const marked = await scanned(app, token, 'marked.txt', MARKER);
  expect(marked).toMatchObject({ scan_status: 'infected', threat_detected: 'Feed_One' });
  expect(marked.engines[0]?.signatures_version).not.toBe(before.engines[0]?.signatures_version);
  const listed = await scanned(app, token, 'photos.zip', zip([{ name: 'a.bin', content: LISTED }]));
  expect(listed).toMatchObject({ scan_status: 'infected', threat_detected: 'Test.Listed.File', threat_member: 'a.bin' });
  expect(await scanned(app, token, 'listed.bin', LISTED)).toMatchObject({ threat_detected: 'Test.Listed.File' });
  expect(await scanned(app, token, 'unnamed.bin', noise(10))).toMatchObject({ threat_detected: 'Known-Malware' });
  expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ threat_detected: 'EICAR-Test-File' });
  expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
  expect(app.app.signatures.matchHash(sha256(LISTED))).toEqual({ threat: 'Test.Listed.File' });
  expect(app.app.signatures.matchHash(sha256(PDF))).toBeUndefined();

  // A new version comes while files are read: each is read whole by one set or the other, and says by which.
  feeds.put('/live/rules.zip', archive(ONE + TWO));
  const large = Buffer.concat([noise(24 * MIB), MARKER]);
  const scans = Promise.all([1, 2, 3].map((number) => scanned(app, token, `large-${number}.bin`, large)));
  expect(await app.app.signatures.update()).toBe('updated');
  for (const record of await scans) {
    expect(record).toMatchObject({ scan_status: 'infected', threat_detected: 'Feed_One' });
  }
  const two = await scanned(app, token, 'two.txt', Buffer.from('palisade-feed-two'));
  expect(two).toMatchObject({ threat_detected: 'Test.Feed.Two' });
  expect(two.engines[0]?.signatures_version).not.toBe(marked.engines[0]?.signatures_version);
  await vi.waitFor(() => expect(app.app.engine.pids()).toHaveLength(1));

  const shown = await status(token);
  expect(shown).toMatchObject({
    engines: [{ name: 'YARA-X', state: 'ready', processes: { ready: 1, wanted: 1 } }],
    signatures: { hashes: 2, last_outcome: 'The last update went well.' },
    limits: { depth: 16 },
    feeds: null,
  });
  expect(shown.engines[0]?.signatures_version).toBe(two.engines[0]?.signatures_version);
  expect(shown.signatures.age_hours).toBeLessThan(0.2);
  expect((await status(admin.token)).feeds).toEqual([
    { address: `${feeds.url}/live/rules.zip`, kind: 'yara', ok: true, sentence: 'In use: 2 rules.' },
    { address: `${feeds.url}/live/list.txt`, kind: 'sha256', ok: true, sentence: 'In use: 2 hashes. Nothing new.' },
  ]);
});

test('a server without feeds says so, and has the day of the pack', async () => {
  const app = await startTestApp();
  const { token } = await app.signIn();
  await vi.waitFor(() => expect(app.app.engine.ready()).toBe(true), { timeout: 20_000 });
  const { signatures } = replyOf(await app.call(readEngine, { token }));
  expect(signatures.built_at).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);
  expect(signatures).toMatchObject({
    hashes: 0,
    as_of: null,
    age_hours: null,
    last_update_at: null,
    last_outcome: null,
  });
  expect(await app.app.engine.reload({ rules_folder: join(app.data_dir, 'nothing-here'), feeds: [] })).toBe(false);
  expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({ threat_detected: 'EICAR-Test-File' });
});
