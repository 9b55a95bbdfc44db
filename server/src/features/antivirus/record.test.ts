import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { listScans } from '@palisade/contract/antivirus';
import { deleteScan, readScan } from '@palisade/contract/quarantine';
import { readSamples } from '@palisade/scanner/samples';
import { docx, mail, ole } from '@palisade/scanner/test/containers';
import { EICAR, noise, PDF, tar, zip } from '@palisade/scanner/test/files';
import { SIGNATURES_FOLDER } from '@palisade/scanner/test/signatures-folder';
import { describe, expect, test, vi } from 'vitest';
import { problemOf, replyOf, startScanningApp } from '#test/harness.ts';
import { scanned, upload } from '#test/upload.ts';

const samples = await readSamples(join(SIGNATURES_FOLDER, 'samples'));

describe('a record', async () => {
  const app = await startScanningApp({ surroundings: { signatures_folder: SIGNATURES_FOLDER } });
  const { token } = await app.signIn();
  const scan = (name: string, content: Buffer) => scanned(app, token, name, content);

  test.each([
    ['a PDF', 'application/pdf', PDF],
    ['a zip', 'application/zip', zip([{ name: 'a.txt', content: PDF }])],
    [
      'a Word document',
      'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
      docx('image.png', Buffer.from('x')),
    ],
    ['an OLE file', 'application/x-ole-storage', ole([{ name: 'Package', content: PDF }])],
    ['a tar', 'application/x-tar', await tar([{ name: 'a', content: PDF }])],
    ['a gzip', 'application/gzip', gzipSync(PDF)],
    ['a mail', 'message/rfc822', mail('a.txt', 'hello', '7bit')],
    ['a picture', 'image/png', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), noise(100)])],
    ['a Windows program', 'application/vnd.microsoft.portable-executable', Buffer.concat([Buffer.from('MZ'), noise(200)])],
    ['a script', 'text/x-script', Buffer.from('#!/bin/sh\necho hello\n')],
    ['a page', 'text/html', Buffer.from('\n<!DOCTYPE html><p>hello')],
    ['words', 'text/plain', Buffer.from('Grüße aus Köln')],
    ['noise', 'application/octet-stream', noise(500)],
  ])('recognises by the bytes that %s is %s, whatever its name', async (_, media_type, content) => {
    expect(await scan('file.xyz', content)).toMatchObject({ media_type });
  });

  test('notes a name that promises something else than the bytes are', async () => {
    const program = Buffer.concat([Buffer.from('MZ'), noise(200)]);
    expect((await scan('invoice.pdf', program)).notes).toEqual(['Its name ends in .pdf, but its content is a Windows program.']);
    expect((await scan('invoice.pdf', PDF)).notes).toEqual([]);
    expect((await scan('setup.exe', program)).notes).toEqual([]);
    expect((await scan('unknown.pdf', noise(300))).notes).toEqual([]);
  });

  test('notes merely suspicious content, in the words of the rule, behind a name that hides nothing; it stays clean', async () => {
    const packed = samples.find(({ rule, kind }) => rule === 'Packed_ELF_UPX' && kind === 'hit')?.bytes ?? Buffer.alloc(0);
    expect(packed.length).toBeGreaterThan(0);
    const inside = await scan('b.zip', zip([{ name: `${'x'.repeat(4000)}\u202efdp.\u0007exe`, content: packed }]));
    expect(inside).toMatchObject({ scan_status: 'clean', status_detail: null, threat_detected: null });
    expect(inside.notes).toHaveLength(1);
    expect(inside.notes[0]).toMatch(/^x+…\.\ufffdexe: [A-Z].*\.$/);
    expect(Buffer.byteLength(inside.notes[0] ?? '')).toBeLessThan(255 + 500);
    const [alone] = (await scan('a.bin', packed)).notes;
    expect(inside.notes[0]?.endsWith(`: ${alone}`)).toBe(true);
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
    const { id } = await scan('mail.zip', zip([{ name: 'eicar.com', content: EICAR }]));
    expect(replyOf(await app.call(readScan, { token, params: { id } }))).toMatchObject({
      threat_detected: 'EICAR-Test-File',
      threat_member: 'eicar.com',
      threat_facts: {
        description: 'The harmless EICAR file that everyone uses to check that an antivirus is working.',
        severity: 'low',
        reference: 'https://www.eicar.org/download-anti-malware-testfile/',
      },
      is_test_file: true,
    });
    const clean = await scan('paper.pdf', PDF);
    expect(replyOf(await app.call(readScan, { token, params: { id: clean.id } }))).toMatchObject({
      threat_facts: null,
      is_test_file: false,
    });
  });

  test('names the member of a threat so that its name hides nothing', async () => {
    const name = `../../${'é'.repeat(2000)}\u202efdp.\u0000exe`;
    const inner = zip([{ name, content: EICAR }]);
    const { threat_member } = await scan('outer.zip', zip([{ name: 'in\u200bner.zip', content: inner }]));
    expect(threat_member).toMatch(/^in\ufffdner\.zip \/ é+…\.\ufffdexe$/);
    expect(Buffer.byteLength(threat_member ?? '')).toBeLessThanOrEqual(2 * 255 + 3);
  });

  test('that is removed is gone, for the counts too', async () => {
    const { token: person } = await app.signIn();
    const { id } = await scanned(app, person, 'eicar.com', EICAR);
    expect((await app.call(deleteScan, { token: person, params: { id } })).status).toBe(204);
    expect(replyOf(await app.call(listScans, { token: person }))).toEqual([]);
    expect(problemOf(await app.call(readScan, { token: person, params: { id } }))).toMatchObject({ status: 404 });
  });

  test('that is removed while its file is read leaves neither record nor bytes', async () => {
    const { token: person } = await app.signIn();
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGSTOP');
    const answer = upload(app, person, { name: 'eicar.com', content: EICAR });
    const id = await vi.waitFor(async () => {
      const [row] = replyOf(await app.call(listScans, { token: person }));
      if (row === undefined) throw new Error('no record yet');
      return row.id;
    });
    await app.call(deleteScan, { token: person, params: { id } });
    for (const pid of app.app.engine.pids()) process.kill(pid, 'SIGCONT');
    expect(problemOf(await answer)).toMatchObject({ code: 'upload_cancelled' });
    expect(replyOf(await app.call(listScans, { token: person }))).toEqual([]);
    expect(readdirSync(join(app.data_dir, 'spool'))).toEqual([]);
  });
});
