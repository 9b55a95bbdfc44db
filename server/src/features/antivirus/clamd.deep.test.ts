// proves: asvs-16.5.2

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cancelUpload, listScans, type Scan } from '@palisade/contract/antivirus';
import { readEngine } from '@palisade/contract/engine';
import { readReadiness } from '@palisade/contract/platform';
import { SCAN_LIMITS } from '@palisade/scanner/limits';
import { hasClamd, startClamd } from '@palisade/scanner/test/clamd';
import { CLAMD_ONLY, CLAMD_ONLY_THREAT, startClamdDouble } from '@palisade/scanner/test/clamd-double';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF, zip } from '@palisade/scanner/test/files';
import { needing } from '@palisade/scanner/test/needs';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ListeningApp, replyOf, startListeningScanningApp } from '#test/harness.ts';
import { newUploadKey, openUpload, scanned } from '#test/upload.ts';

const MIB = 1024 ** 2;
const EVERY = { scan_retry_ms: 50, scanner_look_ms: 50 };
const misbehaving = (kind: string, rest: Buffer = Buffer.alloc(0)) => Buffer.concat([Buffer.from(`misbehave:${kind}\n`), rest]);

const startWith = (clamds: readonly { url: string }[], surroundings = {}) =>
  startListeningScanningApp({
    environment: { SCANNER_URL: clamds.map(({ url }) => url).join(',') },
    surroundings: { ...EVERY, ...surroundings },
  });
const list = async (app: ListeningApp, token: string) => replyOf(await app.call(listScans, { token, query: '?limit=200' }));
const spooled = (app: ListeningApp) => readdirSync(join(app.data_dir, 'spool'));

const soon = (check: () => unknown) => eventually(check);

/** The newest record, once it is as it must be. */
const becomes = (app: ListeningApp, token: string, record: Partial<Scan>) =>
  soon(async () => expect((await list(app, token))[0]).toMatchObject(record));

const clean = { verdict: 'clean', threat: null };
const yara = (answer: object) => ({ name: 'YARA-X', ...answer });
const clamav = (answer: object) => ({ name: 'ClamAV', ...answer });

const kinds = [
  { name: 'the double', start: () => startClamdDouble(afterAll) },
  ...(hasClamd ? [{ name: 'clamd', start: () => startClamd({}, afterAll) }] : []),
];

describe.each(kinds)('the embedded engine and $name', async ({ start }) => {
  const app = await startWith([await start()]);
  const { token } = await app.signIn();

  test.each([
    ['both find', EICAR, { scan_status: 'infected', threat_detected: 'EICAR-Test-File' }, { verdict: 'infected' }],
    [
      'only clamd finds',
      CLAMD_ONLY,
      { scan_status: 'infected', threat_detected: CLAMD_ONLY_THREAT, status_detail: null },
      { verdict: 'infected', threat: CLAMD_ONLY_THREAT },
    ],
    ['neither finds', PDF, { scan_status: 'clean', status_detail: null }, clean],
    [
      'neither can open',
      zip([{ name: 'a', content: noise(64), flags: 1 }]),
      { scan_status: 'pending', status_detail: 'encrypted' },
      { verdict: 'pending', threat: null },
    ],
  ])('each say their own of what %s', async (_, content, record, answer) => {
    const scan = await scanned(app, token, 'file', content);
    expect(scan).toMatchObject(record);
    expect(scan.engines).toMatchObject([yara({}), clamav(answer)]);
    expect(scan.engines[1]?.version).toMatch(/^\d/);
    expect(scan.engines[1]?.signatures_version).toMatch(/^(\d+|custom)$/);
    expect(spooled(app)).toEqual([]);
  });

  test('keep files that the embedded engine could not read pending, whatever clamd says of them', async () => {
    const unknown = Buffer.concat([Buffer.from('04224d18', 'hex'), noise(100)]);
    const scan = await scanned(app, token, 'a.lz4', unknown);
    expect(scan).toMatchObject({ scan_status: 'pending', status_detail: 'unsupported' });
    expect(scan.engines).toMatchObject([yara({ verdict: 'pending' }), clamav(clean)]);
  });
});

describe('a file that clamd alone cannot read whole', async () => {
  const clamd = await startClamdDouble(afterAll, { stream_maximum: MIB });
  const app = await startWith([clamd]);
  const { token } = await app.signIn();

  test('is pending, and says why', async () => {
    const scan = await scanned(app, token, 'large.bin', noise(3 * MIB));
    expect(scan).toMatchObject({ scan_status: 'pending', status_detail: 'too_large' });
    expect(scan.engines).toMatchObject([yara(clean), clamav({ verdict: 'pending' })]);
    expect(spooled(app)).toEqual([]);
  });
});

describe('without clamd', async () => {
  const clamd = await startClamdDouble(afterAll);
  await clamd.down();
  const app = await startWith([clamd]);
  const { token } = await app.signIn();

  test('the server is ready, and a finding of the embedded engine makes a file infected at once', async () => {
    await soon(async () => expect((await app.call(readReadiness)).status).toBe(200));
    expect(await scanned(app, token, 'eicar.com', EICAR)).toMatchObject({
      scan_status: 'infected',
      engines: [yara({ verdict: 'infected' })],
    });
    expect(spooled(app)).toEqual([]);
  });

  test('everything else waits until clamd has seen it, however long that takes', async () => {
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({
      scan_status: 'pending',
      status_detail: 'engine_down',
      engines: [yara(clean)],
    });
    expect(await scanned(app, token, 'secret.txt', CLAMD_ONLY)).toMatchObject({ scan_status: 'pending', engines: [yara(clean)] });
    // A clamd that is up again, but fails its self-test, is not asked.
    clamd.fails_open = true;
    await clamd.up();
    const { streams } = clamd;
    await soon(() => expect(clamd.streams).toBeGreaterThan(streams + 2));
    expect((await list(app, token)).slice(0, 2)).toMatchObject([{ scan_status: 'pending' }, { scan_status: 'pending' }]);
    clamd.fails_open = false;
    await becomes(app, token, { scan_status: 'infected', threat_detected: CLAMD_ONLY_THREAT });
    await soon(async () =>
      expect((await list(app, token))[1]).toMatchObject({ scan_status: 'clean', engines: [yara(clean), clamav(clean)] }),
    );
    await soon(() => expect(spooled(app)).toEqual([]));
  });
});

describe('a clamd that fails over a file', async () => {
  const [bad, good] = [await startClamdDouble(afterAll), await startClamdDouble(afterAll)];
  const app = await startWith([bad, good], { scanner_look_ms: 60_000 });
  const alone = await startWith([bad], { scan_limits: { ...SCAN_LIMITS, time_ms: 2000 } });
  const people = [await app.signIn(), await alone.signIn()] as const;
  const trusted = async (one: ListeningApp, token: string) => {
    await soon(async () => expect(await scanned(one, token, 'a.pdf', PDF)).toMatchObject({ scan_status: 'clean' }));
  };

  test.each(['empty', 'garbage', 'early end'])('is not asked any more, and no file is called clean: %s', async (kind) => {
    await trusted(alone, people[1].token);
    expect(await scanned(alone, people[1].token, 'file', misbehaving(kind, noise(2 * MIB)))).toMatchObject({
      scan_status: 'pending',
      status_detail: 'engine_down',
      engines: [yara(clean)],
    });
  });

  test('but answers others in time is slow over this file alone', async () => {
    await trusted(alone, people[1].token);
    expect(await scanned(alone, people[1].token, 'file', misbehaving('silent'))).toMatchObject({
      scan_status: 'pending',
      status_detail: 'time_limit',
      engines: [yara(clean), clamav({ verdict: 'pending' })],
    });
  });

  test('can be rid of it: the person takes it back while clamd alone still has it', async () => {
    const { token } = people[0];
    await trusted(app, token);
    // The embedded engine is done with so small a file before clamd has it, nearly always.
    for (const count of [1, 2, 3]) {
      const streams = bad.streams + good.streams;
      const key = newUploadKey();
      const sent = openUpload(app, token, { key });
      await sent.write(misbehaving('silent', noise(count)));
      sent.finish();
      await soon(() => expect(bad.streams + good.streams).toBeGreaterThan(streams));
      expect((await app.call(cancelUpload, { token, params: { key } })).status).toBe(204);
      expect(JSON.parse((await sent.answer).body)).toMatchObject({ code: 'upload_cancelled' });
      expect((await list(app, token)).map(({ filename }) => filename)).not.toContain('slow.bin');
      expect(spooled(app)).toEqual([]);
    }
  });
});

describe('a clamd that changes', async () => {
  test('its signatures takes the self-test again', async () => {
    const clamd = await startClamdDouble();
    // Long enough that this is not the self-test of every twelfth look.
    const app = await startWith([clamd], { scanner_look_ms: 250 });
    const { token } = await app.signIn();
    const scan = () => scanned(app, token, 'file', PDF);
    await soon(async () => expect((await scan()).engines[1]).toMatchObject({ signatures_version: '27500' }));
    const { streams } = clamd;
    clamd.version = 'ClamAV 1.4.6/27501/Sat Nov 21 08:26:50 2026';
    await soon(async () => expect((await scan()).engines[1]).toMatchObject({ signatures_version: '27501' }));
    // The three files of the test, and then this one: files with an earlier answer are not sent.
    expect(clamd.streams).toBeGreaterThanOrEqual(streams + 4);
    clamd.knows_nothing = true;
    clamd.version = 'ClamAV 1.4.6/27502/Sun Nov 22 08:26:50 2026';
    await soon(async () => expect(await scan()).toMatchObject({ scan_status: 'pending', status_detail: 'engine_down' }));
  });

  test('its signatures is given the files that it failed over too often', async () => {
    const clamd = await startClamdDouble();
    const app = await startWith([clamd]);
    const { token } = await app.signIn();
    await scanned(app, token, 'file', misbehaving('empty'));
    const attempts = async () => (await app.app.database.selectFrom('scans').select('attempts').executeTakeFirst())?.attempts;
    await soon(async () => expect(await attempts()).toBe(5));
    clamd.cured = true;
    clamd.version = 'ClamAV 1.4.6/27501/Sat Nov 21 08:26:50 2026';
    await becomes(app, token, { scan_status: 'clean' });
  });
});

test('a finding of clamd stays when a server starts without one, until clamd itself says otherwise', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-without-clamd-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const clamd = await startClamdDouble();
  const start = (SCANNER_URL: string) =>
    startListeningScanningApp({
      environment: { DATA_DIR: folder, SCANNER_URL },
      surroundings: { ...EVERY, database: { sqlite: join(folder, 'palisade.sqlite') } },
    });
  const edition = async (app: ListeningApp) =>
    (
      await app.app.database
        .selectFrom('installation')
        .select('value')
        .where('name', 'like', 'scanner_edition%')
        .executeTakeFirst()
    )?.value;
  const before = await start(clamd.url);
  const person = await before.signIn();
  await soon(async () =>
    expect(await scanned(before, person.token, 'secret.txt', CLAMD_ONLY)).toMatchObject({ scan_status: 'infected' }),
  );
  await soon(async () => expect(await edition(before)).toContain('ClamAV'));
  await before.close();

  const after = await start('none');
  // Everything that is kept has been read again.
  await soon(async () => expect(await edition(after)).not.toContain('ClamAV'));
  const scans = await after.app.database.selectFrom('scans').selectAll().execute();
  for (const scan of scans) expect(scan).toMatchObject({ scan_status: 'infected', threat_detected: CLAMD_ONLY_THREAT });
});

describe('a clamd without a setting', async () => {
  const clamd = await startClamdDouble(afterAll);
  const surroundings = { ...EVERY, usual_scanners: [{ path: '/nonexistent/clamd.ctl' }, clamd.address], scanner_let_go_ms: 300 };
  const engineOf = async (app: ListeningApp, token: string) => replyOf(await app.call(readEngine, { token }));

  test('is used where it answers and can be believed, which the engine card says, and let go when it stays away', async () => {
    const app = await startListeningScanningApp({ surroundings });
    const { token } = await app.signIn(undefined, 'admin');
    const customer = await app.signIn();
    await soon(async () =>
      expect(await engineOf(app, token)).toMatchObject({
        engines: [{ name: 'YARA-X' }, { name: 'ClamAV', state: 'ready', processes: { ready: 1, wanted: 1 } }],
        found_scanner: { address: clamd.url, used: true, reason: null },
      }),
    );
    expect((await engineOf(app, customer.token)).found_scanner).toBeNull();
    await soon(async () =>
      expect(await scanned(app, token, 'secret.txt', CLAMD_ONLY)).toMatchObject({ scan_status: 'infected' }),
    );

    onTestFinished(() => clamd.up());
    await clamd.down();
    const waiting = scanned(app, token, 'later.txt', Buffer.from('a text that nobody has read before'));
    await soon(async () => expect((await engineOf(app, token)).engines).toHaveLength(1));
    await waiting;
    await soon(async () =>
      expect(await scanned(app, token, 'after.txt', Buffer.from('another text'))).toMatchObject({
        scan_status: 'clean',
        engines: [{ name: 'YARA-X' }],
      }),
    );
    await soon(async () => {
      const later = (await list(app, token)).find(({ filename }) => filename === 'later.txt');
      expect(later).toMatchObject({ scan_status: 'clean' });
    });
    await clamd.up();
    await soon(async () => expect((await engineOf(app, token)).engines).toHaveLength(2));
  });

  test('is not used where its self-test fails, and files do not wait for it', async () => {
    clamd.fails_open = true;
    onTestFinished(() => {
      clamd.fails_open = false;
    });
    const app = await startListeningScanningApp({ surroundings });
    const { token } = await app.signIn(undefined, 'admin');
    await soon(async () =>
      expect(await engineOf(app, token)).toMatchObject({
        engines: [{ name: 'YARA-X', state: 'ready' }],
        found_scanner: { address: clamd.url, used: false },
      }),
    );
    expect((await engineOf(app, token)).found_scanner?.reason).toContain('clamd.conf');
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ scan_status: 'clean' });
  });

  test('is not looked for where the setting says none', async () => {
    const unwanted = await startClamdDouble();
    const app = await startListeningScanningApp({
      environment: { SCANNER_URL: 'none' },
      surroundings: { ...EVERY, usual_scanners: [unwanted.address] },
    });
    const { token } = await app.signIn(undefined, 'admin');
    expect(await scanned(app, token, 'paper.pdf', PDF)).toMatchObject({ engines: [{ name: 'YARA-X' }] });
    expect(await engineOf(app, token)).toMatchObject({ engines: [{ name: 'YARA-X' }], found_scanner: null });
    expect(unwanted.streams).toBe(0);
  });
});

needing('clamd', hasClamd).describe('a clamd that is killed', async () => {
  const clamd = await startClamd({}, afterAll);
  const app = await startWith([clamd]);
  const { token } = await app.signIn();

  test('during a scan leaves the file pending until it is back', async () => {
    await soon(async () => expect(await scanned(app, token, 'a.pdf', PDF)).toMatchObject({ scan_status: 'clean' }));
    process.kill(clamd.pid, 'SIGSTOP');
    const record = scanned(app, token, 'secret.txt', CLAMD_ONLY);
    await becomes(app, token, { filename: 'secret.txt', status_detail: 'queued' });
    await clamd.kill();
    expect(await record).toMatchObject({ scan_status: 'pending', status_detail: 'engine_down', engines: [yara(clean)] });
    await clamd.start();
    await becomes(app, token, { scan_status: 'infected', threat_detected: CLAMD_ONLY_THREAT });
  });

  test('in the middle of 50 uploads loses none and has none called clean that is not', async () => {
    const hidden = (index: number) => index % 3 === 0;
    const files = Array.from({ length: 50 }, (_, index) => ({
      name: `${hidden(index) ? 'hidden' : 'harmless'}-${index}`,
      content: Buffer.concat([noise(200_000 + index), hidden(index) ? CLAMD_ONLY : Buffer.alloc(0)]),
    }));
    const wrong = (scans: readonly Scan[]) =>
      scans.filter(({ filename, scan_status }) => filename.startsWith('hidden') && scan_status === 'clean');
    let done = 0;
    const uploads = files.map(async ({ name, content }) => {
      const scan = await scanned(app, token, name, content);
      done += 1;
      return scan;
    });
    await soon(() => expect(done).toBeGreaterThan(5));
    await clamd.kill();
    const acknowledged = await Promise.all(uploads);
    expect(acknowledged.filter((scan) => scan.status_detail === 'engine_down').length).toBeGreaterThan(0);
    expect(wrong(acknowledged)).toEqual([]);
    await clamd.start();
    await soon(async () => {
      const records = (await list(app, token)).filter(({ filename }) => /-\d+$/.test(filename));
      expect(wrong(records)).toEqual([]);
      expect(new Map(records.map(({ filename, scan_status }) => [filename, scan_status]))).toEqual(
        new Map(files.map(({ name }, index) => [name, hidden(index) ? 'infected' : 'clean'])),
      );
    });
    await soon(() => expect(spooled(app)).toEqual([]));
  });
});
