// proves: asvs-13.2.4, asvs-13.2.5, asvs-15.3.2, security-40
import { fork } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { loadSignatures } from '@palisade/scanner/signature-set';
import { LARGE_PIECES, noise, PDF, tar, zip } from '@palisade/scanner/test/files';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { pino } from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { openSignatureStore, type SignatureStore, type StoredFeed } from '#features/antivirus/signature-store.ts';
import { type UpdateStep, updateSignatures } from '#features/antivirus/signature-update.ts';
import { takeExclusive } from '#platform/exclusive.ts';
import { parseSettings } from '#platform/settings.ts';
import { type FeedServer, sha256, signedFeed, startFeedServer } from './feed-server.ts';
import { runUpdate } from './server-process.ts';

/** A stored feed as an engine takes it: engines take no lists of domains. */
const ofEngine = (feed: (StoredFeed & { path: string }) | undefined, severity: 'alarm' | 'note') =>
  feed === undefined || feed.kind === 'domains' ? [] : [{ ...feed, kind: feed.kind, severity }];

const MIB = 1024 ** 2;
const LISTED = noise(5000, 7);
const rule = (name: string, text: string, meta = '') =>
  `rule ${name} { ${meta === '' ? '' : `meta: ${meta} `}strings: $a = "${text}" condition: $a }\n`;
const ONE = rule('Feed_One', 'palisade-feed-one');
const TWO = rule('Feed_Two', 'palisade-feed-two', 'threat = "Test.Feed.Two"');
const archive = (rules: string) => zip([{ name: '../../etc/one.yar', content: Buffer.from(rules) }]);
const LIST = Buffer.from(`# a list\n${sha256(LISTED)}  Test.Listed.File\n\n${sha256(noise(10))}\n`);

const BOMB = gzipSync(await tar([{ name: 'one.yar', content: Buffer.alloc(200 * MIB) }]), LARGE_PIECES);

const feeds = await startFeedServer();
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const signed = (kind: 'yara' | 'sha256', path: string) => signedFeed(kind, feeds.url + path);
const pinned = (kind: 'yara' | 'sha256', path: string, bytes: Buffer) => `${kind}+${feeds.url}${path}#sha256=${sha256(bytes)}`;
const at = (feed: FeedServer, path: string) => feed.asked.filter((line) => line.includes(` ${path} `));

/** A fresh data folder with its store; `update` runs one update of the feeds in `setting`. */
async function freshStore(like?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-feeds-'));
  folders.push(folder);
  if (like !== undefined) cpSync(like, folder, { recursive: true });
  const store = await openSignatureStore(folder);
  return {
    folder,
    store,
    update: (setting: string, options: Partial<Parameters<typeof updateSignatures>[0]> = {}) =>
      updateSignatures({
        store,
        feeds: parseSettings({ SIGNATURE_FEEDS: setting }).signature_feeds,
        signatures_folder: SIGNATURES_FOLDER,
        // The generated files of the kept set are enough: those of the installation take a second to read.
        installation_folder: folder,
        now: Date.now,
        logger: pino({ level: 'silent' }),
        ...options,
      }),
  };
}

/** The rules and hashes of the set in use. */
async function inUse(store: SignatureStore): Promise<{ rules: number; hashes: number } | undefined> {
  const set = await store.readCurrent();
  const sum = (key: 'rules' | 'hashes') => set?.feeds.reduce((total, feed) => total + feed[key], 0) ?? 0;
  return set && { rules: sum('rules'), hashes: sum('hashes') };
}

/** One feed with one rule, taken. */
const SEEDED = '/seeded/rules.zip';
feeds.put(SEEDED, archive(ONE));
const seeded = freshStore().then(async (fresh) => {
  await fresh.update(signed('yara', SEEDED));
  return fresh;
});

describe('an update of the signatures', () => {
  // proves: asvs-11.6.1
  test('takes archives and lists whose checksum or signature is the pinned one', async () => {
    const { store, update } = await freshStore();
    const packed = gzipSync(
      await tar([
        { name: 'a/one.yara', content: Buffer.from(ONE) },
        { name: 'a/readme.txt', content: PDF },
      ]),
    );
    feeds.put('/good/rules.tar.gz', packed);
    feeds.put('/good/rules.zip', archive(TWO));
    feeds.put('/good/list.txt', LIST);
    const setting = [
      pinned('yara', '/good/rules.tar.gz', packed),
      signed('yara', '/good/rules.zip'),
      signed('sha256', '/good/list.txt'),
    ].join();
    const { outcome, feeds: told } = await update(setting);
    expect(told.map(({ sentence }) => sentence)).toEqual(['In use: 1 rule.', 'In use: 1 rule.', 'In use: 2 hashes.']);
    expect(outcome).toBe('updated');
    expect(await inUse(store)).toEqual({ rules: 2, hashes: 2 });

    // Again: nothing is fetched twice, nothing is made anew.
    const name = await store.currentName();
    feeds.asked.length = 0;
    expect((await update(setting)).outcome).toBe('unchanged');
    expect(feeds.asked.sort()).toEqual(['GET /good/list.txt 304', 'GET /good/rules.zip 304']);
    expect(await store.currentName()).toBe(name);
  });

  // proves: attack-A.4-3
  test('leaves a rule out that a small file makes slow, by its name, and refuses a strict feed for it', {
    // Both times the rule is measured.
    timeout: 240_000,
  }, async () => {
    const { store, update } = await freshStore((await seeded).folder);
    const slow = String.raw`rule Feed_Slow { strings: $a = /\.run[ \t(]{1,4}[^\n]{0,60}(powershell|mshta|rundll32|certutil)[^\n]{1,900}(hidden|https?:|-enc)/ nocase condition: filesize < 1KB and $a }`;
    feeds.put(SEEDED, archive(`${ONE}${slow}`));
    const { outcome, feeds: told } = await update(signed('yara', SEEDED));
    const { feeds: strict } = await update(`${signed('yara', SEEDED)}&strict`);
    feeds.put(SEEDED, archive(ONE));
    expect(outcome).toBe('unchanged');
    expect(told[0]?.sentence).toBe('In use: 1 rule. Left out: Feed_Slow. Nothing new.');
    expect(strict[0]?.sentence).toMatch(
      /^It has rules that are slow \(Feed_Slow: A small file can make it \d+ times slower than others; 10 times is the most\.\)\.$/,
    );
    expect(await inUse(store)).toBeDefined();
  });

  test('takes a feed out that the settings no longer name', async () => {
    const { store, update } = await freshStore();
    feeds.put('/out/rules.zip', archive(ONE));
    feeds.put('/out/list.txt', LIST);
    await update([signed('yara', '/out/rules.zip'), signed('sha256', '/out/list.txt')].join());
    expect(await inUse(store)).toEqual({ rules: 1, hashes: 2 });
    expect((await update(signed('sha256', '/out/list.txt'))).outcome).toBe('updated');
    expect(await inUse(store)).toEqual({ rules: 0, hashes: 2 });
  });

  const slow = (_: unknown, response: { writeHead(status: number): unknown; write(bytes: Buffer): unknown }) => {
    response.writeHead(200);
    response.write(Buffer.from('P'));
  };
  const everything = 'rule All { condition: true }';
  const EICAR_LISTED = Buffer.from(`${sha256(Buffer.from(''))}\n`);

  test.each<[string, RegExp, (path: string) => void]>([
    [
      'a wrong signature',
      /^Its signature is not one of the pinned key/,
      (path) => {
        feeds.put(path, archive(TWO));
        feeds.on(`${path}.sig`, (_, response) => void response.end(Buffer.alloc(64)));
      },
    ],
    [
      'no signature',
      /^The server of its signature answered 404/,
      (path) => {
        feeds.put(path, archive(TWO));
        feeds.on(`${path}.sig`, (_, response) => void response.writeHead(404).end());
      },
    ],
    [
      'a download cut short',
      /^It could not be fetched/,
      (path) =>
        feeds.on(path, (_, response) => {
          response.writeHead(200, { 'content-length': 5000 });
          response.write(Buffer.alloc(100), () => response.destroy());
        }),
    ],
    ['a server that says no more', /^Its server said nothing for 0 s/, (path) => feeds.on(path, slow)],
    [
      'an error of the server',
      /^Its server answered 500/,
      (path) => feeds.on(path, (_, response) => void response.writeHead(500).end()),
    ],
    ['a body that is too large', /^It is larger than 8 MB/, (path) => feeds.put(path, noise(9 * MIB))],
    [
      'a redirect to elsewhere',
      /redirects to a less secure address/,
      (path) => feeds.on(path, (_, response) => void response.writeHead(302, { location: 'http://192.0.2.1/' }).end()),
    ],
    ['a bomb', /^It unpacks to more than is taken \(bomb\)/, (path) => feeds.put(path, BOMB)],
    ['no archive', /^It is neither a zip nor a tar archive/, (path) => feeds.put(path, Buffer.from('<html>sorry</html>'))],
    [
      'an archive cut short',
      /^It cannot be unpacked \(damaged\)/,
      (path) => feeds.put(path, archive(TWO.repeat(9)).subarray(0, 90)),
    ],
    ['an archive without a rule', /^It holds no YARA rule/, (path) => feeds.put(path, archive('// none'))],
    [
      'nothing but a file with an include',
      /include statements not allowed/,
      (path) => feeds.put(path, archive(`include "/etc/passwd"\n${TWO}`)),
    ],
    [
      'a slow loop',
      /slow loop/,
      (path) => feeds.put(path, archive('rule s { condition: for any i in (0..filesize) : (uint8(i) == 3) }')),
    ],
    ['a slow pattern', /slow pattern/, (path) => feeds.put(path, archive('rule s { strings: $a = /.*a/ condition: $a }'))],
    [
      'rules that flag everything',
      /^None of its rules can be used \(All: It calls an empty file infected\.\)/,
      (path) => feeds.put(path, archive(everything)),
    ],
    [
      'a rule that flags a harmless sample alone',
      /^None of its rules can be used \(Manual: It calls the near miss of Test_EICAR_Standard infected\.\)/,
      (path) => feeds.put(path, archive(rule('Manual', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE'))),
    ],
  ])('refuses a feed with %s, says why, and keeps the last good one', async (_, sentence, serve) => {
    const { folder, store, update } = await seeded;
    serve(SEEDED);
    const { outcome, feeds: told } = await update(signed('yara', SEEDED), {
      fetch_limits: { bytes: 8 * MIB, time_ms: 20_000, stall_ms: 300 },
    });
    expect({ outcome, ok: told[0]?.ok }).toEqual({ outcome: 'failed', ok: false });
    expect(told[0]?.sentence).toMatch(sentence);
    expect(told[0]?.sentence).toMatch(/We still use the last good version\.$/);
    expect(await inUse(store)).toEqual({ rules: 1, hashes: 0 });
    // A name out of an archive was never a path, and nothing half-done is left.
    expect(readdirSync(folder).sort()).toEqual(['current', 'lock', 'sets', 'staging', 'state.json']);
    expect(readdirSync(join(folder, 'staging'))).toHaveLength(1);
  });

  test('refuses a feed with a wrong checksum, and takes the others all the same', async () => {
    const { store, update } = await freshStore();
    feeds.put('/pinned/rules.zip', archive(TWO));
    feeds.put('/pinned/list.txt', LIST);
    const { outcome, feeds: told } = await update(
      [pinned('yara', '/pinned/rules.zip', archive(ONE)), signed('sha256', '/pinned/list.txt')].join(),
    );
    expect(outcome).toBe('failed');
    expect(told[0]?.sentence).toBe(`Its checksum is not the pinned one (it is ${sha256(archive(TWO))}).`);
    expect(told[1]).toMatchObject({ ok: true, sentence: 'In use: 2 hashes.' });
    expect(await inUse(store)).toEqual({ rules: 0, hashes: 2 });
  });

  test('refuses a list that names nothing but a harmless file, and one that is none', async () => {
    const { store, update } = await freshStore();
    feeds.put('/bad/harmless.txt', EICAR_LISTED);
    feeds.put('/bad/page.txt', Buffer.from('<html>sorry</html>\n'));
    feeds.put('/bad/empty.txt', Buffer.from('# nothing\n'));
    feeds.put('/bad/strict.txt', EICAR_LISTED);
    const { feeds: told } = await update(
      [
        ...['harmless', 'page', 'empty'].map((name) => signed('sha256', `/bad/${name}.txt`)),
        `${signed('sha256', '/bad/strict.txt')}&strict`,
      ].join(),
    );
    expect(told.map(({ sentence }) => sentence)).toEqual([
      'The list holds no SHA-256.',
      'Line 1 of the list has no SHA-256 in hex.',
      'The list holds no SHA-256.',
      'It calls an empty file infected (Known-Malware).',
    ]);
    expect(await store.currentName()).toBeUndefined();
  });

  test('uses what compiles of a public set, and names the files and rules that it leaves out', async () => {
    const { store, update } = await freshStore();
    const files = {
      'index.yar': 'include "./one.yar"\n',
      'one.yar': ONE,
      'sandbox.yar': 'import "androguard"\nrule Sandbox { condition: androguard.app_name("x") }',
      'two.yar': TWO + ONE,
      'shared.yar': rule('Shared_Part', 'palisade-shared-part'),
      'asks-shared.yar': 'rule Asks_Shared { condition: Shared_Part and filesize < 1KB }',
      'slow.yar': `rule Walks { strings: $a = /.*a/ condition: $a }\n${rule('Feed_Four', 'palisade-feed-four')}`,
      'everyone.yar': `${rule('Everyone', 'This program cannot be run in DOS mode')}rule Needs_Everyone { condition: Everyone and filesize > 9MB }\n`,
      'names.yar':
        'rule Named_Invoice { condition: filename matches /^invoice_\\d+\\.exe$/ and extension == ".exe" and filepath == "" and owner == "" and filetype == "" }',
      'broken.yar': 'rule Broken {',
    };
    const set = zip(Object.entries(files).map(([name, text]) => ({ name: `set/${name}`, content: Buffer.from(text) })));
    feeds.put('/public/set.zip', set);
    const setting = pinned('yara', '/public/set.zip', set);
    const { outcome, feeds: told } = await update(setting);
    expect(told[0]?.sentence).toMatch(/^In use: 6 rules\. Left out: .* and \d more\.$/);
    expect(outcome).toBe('updated');
    const stored = (await store.readCurrent())?.feeds[0];
    const by_name = Object.fromEntries(stored?.left_out.map(({ name, why }) => [name, why]) ?? []);
    expect(by_name).toEqual({
      'index.yar': 'does_not_compile',
      'sandbox.yar': 'does_not_compile',
      'broken.yar': 'does_not_compile',
      Feed_One: 'twice',
      Walks: 'slow',
      Everyone: 'would_alarm',
      Needs_Everyone: 'needs_another',
    });
    expect(stored?.left_out.find(({ name }) => name === 'Everyone')?.detail).toMatch(/^It calls .+ infected\.$/);
    expect(stored?.left_out_total).toBe(7);
    const signatures = await loadSignatures({ rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: ofEngine(stored, 'alarm') });
    const rulesIn = (text: string, path?: string) =>
      signatures.match(Buffer.from(text), undefined, path).map(({ rule: name }) => name);
    expect(rulesIn('palisade-feed-one palisade-feed-two palisade-feed-four').sort()).toEqual(
      ['Feed_One', 'Feed_Four', 'Feed_Two'].sort(),
    );
    expect(rulesIn('palisade-shared-part').sort()).toEqual(['Asks_Shared', 'Shared_Part']);
    expect(rulesIn('anything', 'invoice_7.exe')).toEqual(['Named_Invoice']);
    expect(rulesIn('anything', 'letter.txt')).toEqual([]);
    expect(signatures.asks_for_names).toBe(true);

    const { feeds: strict } = await update(`${setting}&strict`);
    expect(strict[0]?.sentence).toMatch(/^Its rules do not compile \(broken\.yar: .*; index\.yar: .*include.*; and \d more\)\.$/);
  });

  test('trusts the certificate of a host where its pin is that, and notes where its severity is that', async () => {
    const { store, update } = await freshStore();
    feeds.put('/daily/rules.zip', archive(ONE));
    const { outcome } = await update(`yara+${feeds.url}/daily/rules.zip#tls&note`);
    expect(outcome).toBe('updated');
    const [stored] = (await store.readCurrent())?.feeds ?? [];
    const signatures = await loadSignatures({ rules_folder: join(SIGNATURES_FOLDER, 'rules'), feeds: ofEngine(stored, 'note') });
    expect(signatures.match(Buffer.from('palisade-feed-one'))).toMatchObject([{ rule: 'Feed_One', verdict: 'suspicious' }]);
    // Its maker changes it: nothing is pinned to bytes.
    feeds.put('/daily/rules.zip', archive(ONE + TWO));
    expect((await update(`yara+${feeds.url}/daily/rules.zip#tls&note`)).outcome).toBe('updated');
    expect(await inUse(store)).toEqual({ rules: 2, hashes: 0 });
  });

  test('reads lists of hashes as their makers write them', async () => {
    const { store, update } = await freshStore();
    const [one = '', two = '', three = ''] = [11, 12, 13].map((seed) => sha256(noise(50, seed)));
    const bazaar = [
      '################################',
      '# MalwareBazaar full dump (CSV) #',
      '#',
      '# "first_seen_utc","sha256_hash","md5_hash","file_name","signature"',
      `"2026-11-20 10:00:00", "${one}", "0123456789abcdef0123456789abcdef", "a.exe", "AgentTesla"`,
      `"2026-11-20 10:00:01", "${two}", "0123456789abcdef0123456789abcdef", "b, c.exe", "n/a"`,
      '# Number of entries: 2',
    ].join('\r\n');
    feeds.put('/lists/bazaar.csv.zip', zip([{ name: 'full.csv', content: Buffer.from(bazaar) }]));
    feeds.put('/lists/plain.gz', gzipSync(`; a list\n"${three}"\nsha256\n${sha256(Buffer.from(''))}  Empty-File\n`));
    const setting = ['bazaar.csv.zip', 'plain.gz'].map((name) => `sha256+${feeds.url}/lists/${name}#tls`).join();
    const { feeds: told } = await update(setting);
    expect(told.map(({ sentence }) => sentence)).toEqual([
      'In use: 2 hashes.',
      expect.stringMatching(/^In use: 1 hash\. Left out: e3b0c442\w+, 1 line\.$/),
    ]);
    const stored = (await store.readCurrent())?.feeds ?? [];
    const { matchHash } = await loadSignatures({
      rules_folder: join(SIGNATURES_FOLDER, 'rules'),
      feeds: stored.flatMap((feed) => ofEngine(feed, 'alarm')),
    });
    expect([one, two, three].map((sum) => matchHash?.(sum)[0]?.threat)).toEqual(['AgentTesla', 'Known-Malware', 'Known-Malware']);
    expect(matchHash?.(sha256(Buffer.from('')))).toEqual([]);
  });

  test('ends a trial that takes too long', async () => {
    const { update } = await freshStore();
    feeds.put('/slow/rules.zip', archive(ONE));
    const { feeds: told } = await update(signed('yara', '/slow/rules.zip'), { trial_ms: 1 });
    expect(told[0]?.sentence).toBe('Its trial took longer than 0 s.');
  });

  test('is a command that prints the result of each source, and fails when one failed', async () => {
    const DATA_DIR = join((await freshStore()).folder, 'data');
    mkdirSync(DATA_DIR, { mode: 0o700 });
    feeds.put('/told/list.txt', LIST);
    const SIGNATURE_FEEDS = [signed('sha256', '/told/list.txt'), signed('yara', '/told/nothing.zip')].join();
    expect(await runUpdate({ DATA_DIR, SIGNATURE_FEEDS })).toEqual({
      code: 1,
      output: [
        `palisade: ok     ${feeds.url}/told/list.txt: In use: 2 hashes.`,
        `palisade: failed ${feeds.url}/told/nothing.zip: Its server answered 404.`,
        'palisade: We couldn’t use every source.\n',
      ].join('\n'),
    });
    expect(await inUse(await openSignatureStore(join(DATA_DIR, 'signatures')))).toEqual({ rules: 0, hashes: 2 });
    const unset = await runUpdate({ DATA_DIR });
    expect(unset.code).toBe(0);
    expect(unset.output).toMatch(/^palisade: SIGNATURE_FEEDS isn’t set/);
  });

  test('does not run beside another one', async () => {
    const { store, update } = await freshStore();
    feeds.put('/two/rules.zip', archive(ONE));
    feeds.asked.length = 0;
    const both = await Promise.all([update(signed('yara', '/two/rules.zip')), update(signed('yara', '/two/rules.zip'))]);
    expect(both.map(({ outcome }) => outcome).sort()).toEqual(['busy', 'updated']);
    expect(at(feeds, '/two/rules.zip')).toHaveLength(1);
    // The lock is free again.
    const release = takeExclusive(store.lock_file);
    expect(release).toBeDefined();
    release?.();
  });

  test.each<UpdateStep>(['locked', 'fetched', 'tried', 'published', 'pointed', 'cleaned'])(
    'killed when %s leaves a whole set in use, and the next one succeeds',
    async (step) => {
      const { folder, store, update } = await freshStore((await seeded).folder);
      const before = await store.currentName();
      feeds.put(SEEDED, archive(ONE + TWO));

      const child = fork(fileURLToPath(new URL('./killed-update.ts', import.meta.url)), [folder, signed('yara', SEEDED), step], {
        stdio: 'inherit',
      });
      const signal = await new Promise((resolve) => child.once('exit', (_code, name) => resolve(name)));
      expect(signal).toBe('SIGKILL');

      const is_new = step === 'pointed' || step === 'cleaned';
      expect(await inUse(store)).toEqual({ rules: is_new ? 2 : 1, hashes: 0 });
      if (!is_new) expect(await store.currentName()).toBe(before);
      expect((await update(signed('yara', SEEDED))).outcome).toBe(is_new ? 'unchanged' : 'updated');
      expect(await inUse(store)).toEqual({ rules: 2, hashes: 0 });
      expect(readdirSync(join(folder, 'sets')).length).toBeLessThanOrEqual(2);
    },
  );

  test('does not use a set that the disk has damaged', async () => {
    const { folder, store, update } = await freshStore((await seeded).folder);
    feeds.put(SEEDED, archive(ONE));
    const set = await store.readCurrent();
    rmSync(set?.feeds[0]?.path ?? '');
    expect(await store.readCurrent()).toBeUndefined();
    expect((await update(signed('yara', SEEDED))).outcome).toBe('updated');
    expect(await inUse(store)).toEqual({ rules: 1, hashes: 0 });
    expect(readFileSync(join(folder, 'current'), 'utf8')).toMatch(/^[0-9a-f]{16}\n$/);
  });
});
