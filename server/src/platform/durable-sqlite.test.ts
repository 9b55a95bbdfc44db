import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { Kysely } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createDurableDialect, diskOf } from './durable-sqlite.ts';
import { inTransaction } from './in-transaction.ts';

interface Tables {
  notes: { text: string };
}

/** A database whose disk is done when the test says so. */
async function start() {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-durable-'));
  const path = join(folder, 'notes.sqlite');
  const file = new SqliteDatabase(path);
  file.pragma('journal_mode = WAL');
  file.exec('create table notes (text text not null unique)');
  const syncs: PromiseWithResolvers<void>[] = [];
  const sync = () => {
    const one = Promise.withResolvers<void>();
    syncs.push(one);
    return one.promise;
  };
  const database = new Kysely<Tables>({ dialect: createDurableDialect(file, { sync, close: () => Promise.resolve() }) });
  onTestFinished(async () => {
    await database.destroy();
    rmSync(folder, { recursive: true });
  });
  const done: string[] = [];
  const write = (text: string, by: Kysely<Tables> = database) => by.insertInto('notes').values({ text }).execute();
  return {
    database,
    syncs,
    /** Names of writes that have been acknowledged, in that order. */
    done,
    write,
    insert: (text: string) => write(text).then(() => void done.push(text)),
    texts: async () => (await database.selectFrom('notes').select('text').orderBy('text').execute()).map(({ text }) => text),
    /** Ends the sync that is under way. */
    async endSync() {
      syncs.at(-1)?.resolve();
      await settled();
    },
  };
}

/** Waits until all callbacks that are due have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a write is over when it is on the disk, and those that came meanwhile share the next sync', async () => {
  const { done, endSync, insert, syncs } = await start();
  void insert('a');
  await settled();
  void insert('b');
  void insert('c');
  await settled();
  expect([syncs.length, done]).toEqual([1, []]);
  await endSync();
  // The sync that is over began before the other two were written.
  expect([syncs.length, done]).toEqual([2, ['a']]);
  await endSync();
  expect([syncs.length, done]).toEqual([2, ['a', 'b', 'c']]);
});

test('reading waits for no disk, and sees what is written', async () => {
  const { endSync, insert, syncs, texts } = await start();
  void insert('a');
  await settled();
  expect(await texts()).toEqual(['a']);
  expect(syncs).toHaveLength(1);
  await endSync();
  expect(await texts()).toEqual(['a']);
  expect(syncs).toHaveLength(1);
});

test('a transaction is alone until its end, and waits for the disk once', async () => {
  const { database, done, endSync, insert, syncs, texts, write } = await start();
  const inside = Promise.withResolvers<void>();
  const transaction = inTransaction(database, async (within) => {
    await write('1', within);
    await inside.promise;
    await write('2', within);
  }).then(() => void done.push('transaction'));
  await settled();
  void insert('3');
  const seen = texts();
  await settled();
  expect(syncs).toHaveLength(0);
  inside.resolve();
  await settled();
  expect([syncs.length, done]).toEqual([1, []]);
  expect(await seen).toEqual(['1', '2', '3']);
  await endSync();
  await endSync();
  await transaction;
  expect(done).toEqual(['transaction', '3']);
});

test('a write that fails, one that is rolled back, and a disk that fails delay no other', async () => {
  const { database, endSync, insert, syncs, texts, write } = await start();
  const first = insert('a');
  await settled();
  syncs[0]?.reject(new Error('the disk is broken'));
  await expect(first).rejects.toThrow('the disk is broken');
  const twice = expect(insert('a')).rejects.toThrow('UNIQUE');
  await settled();
  await endSync();
  await twice;
  const rolled_back = inTransaction(database, async (within) => {
    await write('b', within);
    throw new Error('changed my mind');
  });
  const undone = expect(rolled_back).rejects.toThrow('changed my mind');
  await settled();
  await endSync();
  await undone;
  const last = insert('c');
  await settled();
  await endSync();
  await last;
  expect(await texts()).toEqual(['a', 'c']);
});

test('a disk is that of a file, from when it is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-durable-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'notes.sqlite');
  const disk = diskOf(`${path}-wal`);
  await expect(disk.sync()).rejects.toThrow('ENOENT');
  const file = new SqliteDatabase(path);
  file.pragma('journal_mode = WAL');
  file.exec('create table notes (text text)');
  await disk.sync();
  await disk.close();
  file.close();
});
