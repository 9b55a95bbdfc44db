import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Scan } from '@palisade/contract/antivirus';
import { readScan } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { describe, expect, test } from 'vitest';
import { replyOf, startTestApp } from '#test/harness.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';
import { scanned } from '#test/upload.ts';

describe('when the signatures change', async () => {
  const { engine, steered, hold } = createSteeredEngine();
  const listed = new Map<string, string>();
  const app = await startTestApp({
    surroundings: { embedded_engine: engine, scan_retry_ms: 20, match_hash: (sha256) => listed.get(sha256) },
  });
  const { token } = await app.signIn();
  const detailOf = async ({ id }: Scan) => replyOf(await app.call(readScan, { token, params: { id } }));
  const alerts = () => app.app.database.selectFrom('alerts').selectAll().orderBy('id').execute();
  const becomes = (record: Scan, wanted: object) => eventually(async () => expect(await detailOf(record)).toMatchObject(wanted));
  /** Signatures that find these words, and read nothing of a file that is cut. */
  function sign(marker: string): void {
    steered.edition = `signatures of ${marker}`;
    steered.find = (bytes) => {
      if (bytes.includes(marker)) return { threat: 'Marker' };
      return bytes.includes('(cut)') ? unreadAs('damaged') : {};
    };
  }
  const scan = (name: string, text: string) => scanned(app, token, name, Buffer.from(text));
  sign('first-marker');

  test('kept files are read again: new findings are reported, wrong ones are taken back, and hashes are looked up', async () => {
    const innocent = await scan('innocent.txt', 'nothing but first-marker');
    expect(innocent).toMatchObject({ scan_status: 'infected' });
    const unread = await scan('unread.gz', '(cut) a second-marker inside');
    expect(unread).toMatchObject({ scan_status: 'pending', status_detail: 'damaged' });
    const known = await scan('known.bin', 'only its hash is known');
    // The first look at an installation takes its signatures for those of the past.
    await eventually(async () => {
      const facts = app.app.database.selectFrom('installation').select('value').where('name', 'like', 'scanner_edition%');
      expect(await facts.executeTakeFirst()).toBeDefined();
    });
    const lasting = await scan('lasting.txt', 'a first-marker and a second-marker');
    expect(await alerts()).toHaveLength(2);

    listed.set(known.file_hash, 'Listed.Threat');
    sign('second-marker');
    await becomes(unread, { scan_status: 'infected', threat_detected: 'Marker', kept: 'sealed' });
    await becomes(known, { scan_status: 'infected', threat_detected: 'Listed.Threat', kept: 'no' });
    expect((await detailOf(known)).engines).toMatchObject([{ name: 'YARA-X' }, { name: 'SHA-256 list', verdict: 'infected' }]);
    // A repeated finding keeps the time of the first, and is reported once.
    await becomes(lasting, { scan_status: 'infected', scanned_at: lasting.scanned_at });
    expect((await alerts()).filter(({ description }) => description.includes('lasting'))).toHaveLength(1);
    // It was a false alarm: its owner may have it back.
    await becomes(innocent, { scan_status: 'clean', kept: 'sealed', threat_detected: null });
    expect((await detailOf(innocent)).notes).toEqual([
      `On ${innocent.scanned_at.slice(0, 10)} it was called Marker. We checked it again with newer threat definitions and found nothing.`,
    ]);
    // An alert is written after the record that it reports.
    await eventually(async () => {
      const raised = (await alerts()).map(({ threat_type, outcome, description }) =>
        [threat_type, outcome, /in (\w+)\./.exec(description)?.[1]].join(' '),
      );
      for (const name of ['innocent', 'unread', 'known']) expect(raised).toContain(`malware_detected blocked ${name}`);
      expect(raised).toContain('false_alarm unknown innocent');
    });
    await eventually(() => expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]));
  });

  test('again during a recheck, files that it had seen before are seen again', async () => {
    const [first, last] = [await scan('a.gz', '(cut) third-marker'), await scan('b.gz', '(cut) nothing')];
    const { find } = steered;
    const let_go = hold();
    const { begun } = steered;
    steered.edition = 'signatures in between';
    await eventually(() => expect(steered.begun).toBeGreaterThan(begun));
    sign('third-marker');
    let_go();
    await becomes(first, { scan_status: 'infected' });
    expect(await detailOf(last)).toMatchObject({ scan_status: 'pending' });
    expect(steered.find).not.toBe(find);
  });

  test('while a file is read, it is read again by the new ones before it is called clean', async () => {
    const let_go = hold();
    const { begun } = steered;
    const record = scan('held.txt', 'a fourth-marker');
    await eventually(() => expect(steered.begun).toBeGreaterThan(begun));
    sign('fourth-marker');
    let_go();
    expect(await record).toMatchObject({ scan_status: 'infected', threat_detected: 'Marker' });
  });

  test('a verdict of the old ones serves no new upload', async () => {
    expect(await scan('same.txt', 'a fifth-marker')).toMatchObject({ scan_status: 'clean' });
    sign('fifth-marker');
    expect(await scan('same.txt', 'a fifth-marker')).toMatchObject({ scan_status: 'infected' });
  });
});
