import { countScans, listScans } from '@palisade/contract/antivirus';
import { readDashboard } from '@palisade/contract/dashboard';
import { deleteAccount } from '@palisade/contract/privacy';
import { deleteScan } from '@palisade/contract/quarantine';
import { EICAR } from '@palisade/scanner/test/files';
import { expect, test } from 'vitest';
import { addPerson, featureDatabase } from '#test/feature-database.ts';
import { replyOf, startTestApp } from '#test/harness.ts';
import { expectCounted, writeScans } from '#test/scan-writes.ts';
import { seededRandom } from '#test/seeded.ts';
import { scanned } from '#test/upload.ts';

const SEED = 140_001;

test(`the counts that the database keeps are those of the records, after 300 random writes (seed ${SEED})`, async () => {
  const database = await featureDatabase();
  const random = seededRandom(SEED);
  const people: string[] = [];
  for (let count = 0; count < 5; count += 1) people.push(await addPerson(database));
  for (let round = 0; round < 6; round += 1) {
    await writeScans(database, { people, writes: 50, random });
    await expectCounted(database);
  }
});

test('uploads, removals and a deleted account move the counts that pages show', async () => {
  const app = await startTestApp();
  const { database } = app.app;
  await app.signIn('boss');
  const { token, email, password } = await app.signIn('maria');
  const counts = async () => replyOf(await app.call(countScans, { token }));
  await scanned(app, token, 'empty.txt', Buffer.alloc(0));
  await scanned(app, token, 'letter.txt', Buffer.from('a letter'));
  await scanned(app, token, 'letter again.txt', Buffer.from('a letter'));
  const found = await scanned(app, token, 'eicar.com', EICAR);
  expect(await counts()).toEqual({ clean: 3, infected: 1, pending: 0, test_files: 1 });
  expect(replyOf(await app.call(readDashboard, { token })).measured).toMatchObject({
    ...{ files_scanned: 4, files_infected: 1, test_files_found: 1, files_pending: 0, last_finished_at: found.scanned_at },
  });
  const [newest] = replyOf(await app.call(listScans, { token }));
  replyOf(await app.call(deleteScan, { token, params: { id: newest?.id ?? '' } }));
  expect(await counts()).toEqual({ clean: 3, infected: 0, pending: 0, test_files: 0 });
  await expectCounted(database);
  replyOf(await app.call(deleteAccount, { token, body: { password, confirmation: email } }));
  await expectCounted(database);
});
