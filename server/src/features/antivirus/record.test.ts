import { listScans } from '@palisade/contract/antivirus';
import { deleteScan, readScan } from '@palisade/contract/quarantine';
import { scanPhrase } from '@palisade/contract/scan-phrases';
import { EICAR, PDF } from '@palisade/scanner/test/files';
import { describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp } from '#test/harness.ts';
import { createSteeredEngine } from '#test/steered-engine.ts';
import { scanned } from '#test/upload.ts';

describe('a record', async () => {
  const { engine, steered } = createSteeredEngine();
  const app = await startTestApp({ surroundings: { embedded_engine: engine } });
  const { token } = await app.signIn();
  const scan = (name: string, content: Buffer) => scanned(app, token, name, content);
  const detail = async ({ id }: { id: string }) => replyOf(await app.call(readScan, { token, params: { id } }));

  test('has notes in the words of the rule, behind a name that hides nothing', async () => {
    const member = `${'x'.repeat(4000)}\u202efdp.\u0007exe`;
    const phrase = scanPhrase('disguise', { ending: 'pdf', media_type: 'text/html' });
    steered.find = () => ({
      notes: [
        { member, phrase },
        { member: null, phrase },
      ],
    });
    const { notes, scan_status } = await scan('b.bin', Buffer.from('noted'));
    steered.find = () => ({});
    expect(scan_status).toBe('clean');
    expect(notes[0]).toMatch(/^x+…\.\ufffdexe: [A-Z].*\.$/);
    expect(Buffer.byteLength(notes[0] ?? '')).toBeLessThan(255 + 500);
    expect(notes[0]?.endsWith(`: ${notes[1]}`)).toBe(true);
  });

  test("knows since when this person has had these bytes, and ignores other people's", async () => {
    const { token: stranger } = await app.signIn();
    const content = Buffer.from('the same bytes');
    const theirs = await scanned(app, stranger, 'theirs.txt', content);
    const first = await scan('mine.txt', content);
    const second = await scan('mine again.txt', content);
    expect(first.first_seen_at > theirs.first_seen_at).toBe(true);
    expect(second.first_seen_at).toBe(first.first_seen_at);
    expect(second.scanned_at > second.first_seen_at).toBe(true);
  });

  test("shows in its detail the signatures' words about the threat", async () => {
    expect(await detail(await scan('eicar.com', EICAR))).toMatchObject({
      threat_detected: 'EICAR-Test-File',
      threat_facts: {
        description: 'The harmless EICAR file that everyone uses to check that an antivirus is working.',
        severity: 'low',
        reference: 'https://www.eicar.org/download-anti-malware-testfile/',
      },
      is_test_file: true,
    });
    expect(await detail(await scan('paper.pdf', PDF))).toMatchObject({ threat_facts: null, is_test_file: false });
  });

  test('that is removed is gone', async () => {
    const { token: person } = await app.signIn();
    const { id } = await scanned(app, person, 'eicar.com', EICAR);
    expect((await app.call(deleteScan, { token: person, params: { id } })).status).toBe(204);
    expect(replyOf(await app.call(listScans, { token: person }))).toEqual([]);
    expect(problemOf(await app.call(readScan, { token: person, params: { id } }))).toMatchObject({ status: 404 });
  });
});
