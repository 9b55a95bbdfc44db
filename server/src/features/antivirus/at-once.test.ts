import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scan } from '@palisade/contract/antivirus';
import { deleteFile, readScan, reportFalseAlarm, restoreFile } from '@palisade/contract/quarantine';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF } from '@palisade/scanner/test/files';
import { beforeEach, describe, expect, test } from 'vitest';
import { problemOf, replyOf, startTestApp, type TestApp } from '#test/harness.ts';
import { ownDatabase } from '#test/own-database.ts';
import { createSteeredEngine, unreadAs } from '#test/steered-engine.ts';
import { scanned, upload } from '#test/upload.ts';

const soon = (check: () => unknown) => eventually(check);
const spooled = (app: TestApp) => readdirSync(join(app.data_dir, 'spool'));
const detailOf = async (app: TestApp, token: string, id: string) => replyOf(await app.call(readScan, { token, params: { id } }));
const LOCKED = noise(64, 7);

describe('actions during other work on the same file', async () => {
  const database = ownDatabase();
  const listed = new Map<string, string>();
  const onLook = new Map<string, () => void>();
  const { engine, steered } = createSteeredEngine();
  steered.find = (bytes) => (bytes.equals(LOCKED) ? unreadAs('encrypted') : {});
  const app = await startTestApp({
    surroundings: {
      embedded_engine: engine,
      database: database.location,
      scan_retry_ms: 30,
      match_hash(sha256) {
        onLook.get(sha256)?.();
        return listed.get(sha256);
      },
    },
  });
  const { token } = await app.signIn();
  beforeEach(() => onLook.clear());
  const recheck = () => database.run(`update installation set value = 'another' where name like 'scanner_edition%'`);
  const firstLook = () =>
    soon(async () => {
      const facts = await app.app.database.selectFrom('installation').select('name').execute();
      expect(facts.filter(({ name }) => name.startsWith('scanner_edition'))).toHaveLength(1);
    });

  test('a file that its owner removes in the middle of a recheck is not reported as kept', async () => {
    await firstLook();
    const first = await scanned(app, token, 'first.bin', noise(50));
    const second = await scanned(app, token, 'second.zip', LOCKED);
    expect(await detailOf(app, token, second.id)).toMatchObject({ kept: 'sealed' });
    listed.set(second.file_hash, 'Listed.Threat');
    onLook.set(first.file_hash, () => {
      rmSync(join(app.data_dir, 'quarantine', second.id), { force: true });
      database.run('update scans set sealed = 0, kept_until = null where id = ?', second.id);
    });
    recheck();
    await soon(async () => expect(await detailOf(app, token, second.id)).toMatchObject({ scan_status: 'infected' }));
    expect(await detailOf(app, token, second.id)).toMatchObject({
      threat_detected: 'Listed.Threat',
      kept: 'no',
      kept_until: null,
    });
  });

  test('the same bytes again, on a list since, are not answered from before', async () => {
    const content = noise(60);
    const first = await scanned(app, token, 'first.bin', content);
    expect(first).toMatchObject({ scan_status: 'clean' });
    listed.set(first.file_hash, 'Listed.Threat');
    const again = await scanned(app, token, 'again.bin', content);
    expect(again).toMatchObject({ scan_status: 'infected', threat_detected: 'Listed.Threat' });
    expect(await detailOf(app, token, again.id)).toMatchObject({ kept: 'sealed' });
  });

  test('two clicks on Delete remove a file once, and the activity says so once', async () => {
    const { id } = await scanned(app, token, 'eicar.com', EICAR);
    const answers = await Promise.all([1, 2, 3].map(() => app.call(deleteFile, { token, params: { id } })));
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await detailOf(app, token, id)).toMatchObject({ kept: 'no' });
    const entries = await app.app.database
      .selectFrom('audit_entries')
      .select('kind')
      .where('kind', '=', 'file_deleted')
      .execute();
    expect(entries).toHaveLength(1);
  });

  test('a false alarm of a record that is deleted meanwhile is that of none', async () => {
    const { id } = await scanned(app, token, 'eicar.com', EICAR);
    database.run(`create trigger deleted_meanwhile before insert on quarantine_reports
      begin delete from scans where id = new.scan_id; end`);
    const answer = await app.call(reportFalseAlarm, { token, params: { id }, body: { reason: 'It is my own program.' } });
    database.run('drop trigger deleted_meanwhile');
    expect(problemOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
  });

  test('an upload of which the database cannot say whether it is known leaves nothing behind', async () => {
    await app.app.database.schema.alterTable('scans').renameTo('scans_elsewhere').execute();
    const answer = await upload(app, token, { name: 'paper.pdf', content: PDF });
    await app.app.database.schema.alterTable('scans_elsewhere').renameTo('scans').execute();
    expect(problemOf(answer)).toMatchObject({ status: 500 });
    expect(spooled(app)).toEqual([]);
  });

  test.runIf(process.platform === 'linux')('a sealed file that cannot be given out after all is closed', async () => {
    const { id } = await scanned(app, token, 'eicar.com', EICAR);
    await app.app.database.schema.alterTable('audit_head').renameTo('audit_head_elsewhere').execute();
    const answer = await app.fetch(`/api${restoreFile.path.replace('{id}', id)}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await app.app.database.schema.alterTable('audit_head_elsewhere').renameTo('audit_head').execute();
    expect(answer.status).toBe(500);
    const path = join(app.data_dir, 'quarantine', id);
    await soon(() => {
      const open = readdirSync('/proc/self/fd').flatMap((descriptor) => {
        try {
          return [readlinkSync(join('/proc/self/fd', descriptor))];
        } catch {
          return [];
        }
      });
      expect(open.length).toBeGreaterThan(0);
      expect(open).not.toContain(path);
    });
  });
});

describe('a start', async () => {
  const database = ownDatabase();
  const listed = new Map<string, string>();
  const start = () =>
    startTestApp({
      environment: { DATA_DIR: join(database.folder, 'data') },
      surroundings: { database: database.location, scan_retry_ms: 30, match_hash: (sha256) => listed.get(sha256) },
    });
  const spool = (id: string) => join(database.folder, 'data', 'spool', id);

  test('a recheck that finds the bytes of a file gone, because it has its verdict meanwhile, leaves that as it is', async () => {
    const before = await start();
    const { token } = await before.signIn();
    const one = await scanned(before, token, 'one', noise(90));
    const two = await scanned(before, token, 'two', noise(91));
    const three = await scanned(before, token, 'three', noise(92));
    await before.close();
    // The first one ends only when the test lets it. -
    database.run(`update scans set scan_status = 'pending', status_detail = 'queued', spooled = 1, edition = null`);
    execFileSync('mkfifo', [spool(one.id)]);
    writeFileSync(spool(two.id), noise(91));
    writeFileSync(spool(three.id), noise(92));
    listed.set(two.file_hash, 'Listed.Threat');
    database.run(`delete from installation where name like 'scanner_edition:%'`);
    database.run(`insert into installation (name, value) values ('scanner_edition', 'another')
      on conflict (name) do update set value = 'another'`);

    const app = await start();
    const record = ({ id }: Scan) => app.app.database.selectFrom('scans').selectAll().where('id', '=', id).executeTakeFirst();
    await soon(async () => expect(await record(two)).toMatchObject({ scan_status: 'infected', sealed: 1 }));
    writeFileSync(spool(one.id), '');
    // In their order: the second has been looked at when the third is read.
    await soon(async () => expect(await record(three)).toMatchObject({ scan_status: 'clean' }));
    expect(await record(one)).toMatchObject({ scan_status: 'pending', status_detail: 'damaged' });
    expect(await record(two)).toMatchObject({ scan_status: 'infected', threat_detected: 'Listed.Threat', sealed: 1 });
  });
});
