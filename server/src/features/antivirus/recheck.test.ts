import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listScans, type Scan } from '@palisade/contract/antivirus';
import { readScan } from '@palisade/contract/quarantine';
import { noise } from '@palisade/scanner/test/files';
import { describe, expect, test, vi } from 'vitest';
import { replyOf, startScanningApp } from '#test/harness.ts';
import { scanned } from '#test/upload.ts';

/** A folder of one rule, which finds these words. */
const ruleFor = (marker: string) =>
  `rule Marker { meta: threat = "Marker" description = "d" severity = "high" verdict = "infected" strings: $a = "${marker}" condition: $a }`;

describe('when the signatures change', async () => {
  const signatures_folder = mkdtempSync(join(tmpdir(), 'palisade-rules-'));
  mkdirSync(join(signatures_folder, 'rules'));
  const sign = (marker: string) => writeFileSync(join(signatures_folder, 'rules/marker.yar'), ruleFor(marker));
  sign('first-marker-5f1c');
  const listed = new Map<string, string>();
  const app = await startScanningApp({
    surroundings: { signatures_folder, scan_retry_ms: 30, match_hash: (sha256) => listed.get(sha256) },
  });
  const { token } = await app.signIn();
  const detailOf = async ({ id }: Scan) => replyOf(await app.call(readScan, { token, params: { id } }));
  const alerts = () => app.app.database.selectFrom('alerts').selectAll().orderBy('id').execute();
  /** A cut gzip is not readable past the cut, so that the record is pending and its bytes are kept. */
  const cut = (text: string) => gzipSync(Buffer.concat([Buffer.from(text), noise(3000)])).subarray(0, 2500);
  /** New processes take up the new rules. */
  const reload = () => {
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGKILL');
  };

  test('kept files are read again: new findings are reported, wrong ones are taken back, and hashes are looked up', async () => {
    const innocent = await scanned(app, token, 'innocent.txt', Buffer.from('nothing but first-marker-5f1c'));
    expect(innocent).toMatchObject({ scan_status: 'infected' });
    const unread = await scanned(app, token, 'unread.gz', cut('a second-marker-77aa inside'));
    expect(unread).toMatchObject({ scan_status: 'pending', status_detail: 'damaged' });
    const known = await scanned(app, token, 'known.bin', Buffer.from('only its hash is known'));
    expect(known).toMatchObject({ scan_status: 'clean' });
    // The first look at an installation takes its signatures for those of the past.
    await vi.waitFor(
      async () =>
        expect(
          await app.app.database
            .selectFrom('installation')
            .select('value')
            .where('name', 'like', 'scanner_edition%')
            .executeTakeFirst(),
        ).toBeDefined(),
      10_000,
    );
    const lasting = await scanned(app, token, 'lasting.txt', Buffer.from('a first-marker-5f1c and a second-marker-77aa'));
    expect(await alerts()).toHaveLength(2);

    sign('second-marker-77aa');
    listed.set(known.file_hash, 'Listed.Threat');
    reload();
    await vi.waitFor(async () => expect(await detailOf(unread)).toMatchObject({ scan_status: 'infected' }), { timeout: 10_000 });
    await vi.waitFor(async () => expect(await detailOf(innocent)).toMatchObject({ scan_status: 'clean' }), { timeout: 10_000 });
    expect(await detailOf(unread)).toMatchObject({ threat_detected: 'Marker', kept: 'sealed' });
    expect(await detailOf(known)).toMatchObject({
      scan_status: 'infected',
      threat_detected: 'Listed.Threat',
      kept: 'no',
      engines: [{ name: 'YARA-X' }, { name: 'SHA-256 list', verdict: 'infected' }],
    });
    // A repeated finding keeps the time of the first, and is reported once.
    expect(await detailOf(lasting)).toMatchObject({ scan_status: 'infected', scanned_at: lasting.scanned_at });
    expect((await alerts()).filter(({ description }) => description.includes('lasting'))).toHaveLength(1);
    // It was a false alarm: its owner may have it back.
    const cleared = await detailOf(innocent);
    expect(cleared).toMatchObject({ kept: 'sealed', threat_detected: null });
    expect(cleared.notes).toEqual([
      `On ${innocent.scanned_at.slice(0, 10)} it was called Marker. We checked it again with newer threat definitions and found nothing.`,
    ]);
    expect(
      (await alerts()).map(({ threat_type, outcome, description }) => [
        threat_type,
        outcome,
        /in (\w+)\./.exec(description)?.[1],
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['malware_detected', 'blocked', 'innocent'],
        ['malware_detected', 'blocked', 'unread'],
        ['malware_detected', 'blocked', 'known'],
        ['false_alarm', 'unknown', 'innocent'],
      ]),
    );
    await vi.waitFor(() => expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]), 10_000);
  });

  /** New processes take over beside the running ones. */
  const takeOver = async (marker: string) => {
    sign(marker);
    expect(await app.app.embedded.reload({ rules_folder: join(signatures_folder, 'rules'), feeds: [] })).toBe(true);
  };
  const signal = (pids: readonly number[], name: NodeJS.Signals) => {
    for (const pid of pids) if (app.app.engine.pids().includes(pid)) process.kill(pid, name);
  };
  const queued = (name: string) =>
    vi.waitFor(
      async () =>
        expect(replyOf(await app.call(listScans, { token }))[0]).toMatchObject({ filename: name, status_detail: 'queued' }),
      10_000,
    );

  test('again during a recheck, files that it had seen before are seen again', { timeout: 240_000 }, async () => {
    const first = await scanned(app, token, 'first.gz', cut('a fourth-marker-2e60 inside'));
    // Long enough that the change comes in its middle.
    const long = gzipSync(noise(6 * 1024 ** 2), { level: 0 }).subarray(0, -100);
    const last = await scanned(app, token, 'last.gz', long);
    expect([first.status_detail, last.status_detail]).toEqual(['damaged', 'damaged']);
    await takeOver('a-marker-of-nothing-0b7d');
    await vi.waitFor(async () => expect((await detailOf(first)).scanned_at).not.toBe(first.scanned_at), {
      timeout: 100_000,
      interval: 1,
    });
    const reading = app.app.engine.pids();
    signal(reading, 'SIGSTOP');
    expect((await detailOf(last)).scanned_at).toBe(last.scanned_at);
    await takeOver('fourth-marker-2e60');
    signal(reading, 'SIGCONT');
    await vi.waitFor(async () => expect(await detailOf(first)).toMatchObject({ scan_status: 'infected' }), { timeout: 100_000 });
  });

  test('while a file is read, it is read again by the new ones before it is called clean', async () => {
    await scanned(app, token, 'warm-up.txt', noise(100));
    const reading = app.app.engine.pids();
    signal(reading, 'SIGSTOP');
    const record = scanned(app, token, 'held.txt', Buffer.from('a fifth-marker-8c13'));
    await queued('held.txt');
    await takeOver('fifth-marker-8c13');
    signal(reading, 'SIGCONT');
    expect(await record).toMatchObject({ scan_status: 'infected', threat_detected: 'Marker' });
  });

  test('a verdict of the old ones serves no new upload', async () => {
    const first = await scanned(app, token, 'same.txt', Buffer.from('a third-marker-91ce'));
    expect(first).toMatchObject({ scan_status: 'clean' });
    sign('third-marker-91ce');
    reload();
    await vi.waitFor(async () => {
      const again = await scanned(app, token, 'same.txt', Buffer.from('a third-marker-91ce'));
      expect(again).toMatchObject({ scan_status: 'infected' });
    }, 10_000);
  });
});
