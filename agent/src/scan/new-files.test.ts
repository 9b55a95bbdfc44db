import { statSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { createNewFiles, type Lane } from './new-files.ts';
import type { FoundFile } from './walk.ts';
import { healthOf } from './watching.ts';

const MB = 1024n ** 2n;
let inode = 0n;

/** The reported stats of a file; its other stats are not read. */
function fileOf(name: string, parts: { size?: bigint; ino?: bigint; ctimeNs?: bigint } = {}): FoundFile {
  inode += 1n;
  const stats = Object.assign(statSync('/', { bigint: true }), { dev: 1n, ino: inode, size: 1n, ctimeNs: 1n, ...parts });
  const open = () => Promise.reject(new Error('it is not opened here'));
  return { path: Buffer.from(name), stats, open };
}

/** Reads that end when the test says so. */
function start(bound = 10) {
  const begun: string[] = [];
  const ends = new Map<string, (outcome: 'read' | 'unread' | 'gone') => void>();
  const room: number[] = [];
  const files = createNewFiles({
    bound,
    log: () => {},
    onRoom: (person) => room.push(person),
    read({ path }, lane: Lane) {
      begun.push(`${lane} ${path}`);
      return new Promise((resolve) => ends.set(path.toString(), resolve));
    },
  });
  const end = async (name: string, outcome: 'read' | 'unread' | 'gone' = 'read') => {
    ends.get(name)?.(outcome);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { files, begun, room, end };
}

test('reads one file of a person at a time, and in turn', async () => {
  const { files, begun, end } = start();
  for (let index = 0; index < 5; index += 1) files.offer(fileOf(`a${index}`), 1);
  files.offer(fileOf('b0'), 2);
  files.offer(fileOf('c0'), 3);
  expect(begun).toEqual(['small a0', 'small b0']);
  await end('b0');
  expect(begun.at(-1)).toBe('small c0');
  await end('c0');
  await end('a0');
  expect(begun.slice(2)).toEqual(['small c0', 'small a1']);
});

// proves: attack-E.6-1
test('has no small file wait for large ones', async () => {
  const { files, begun } = start();
  for (let index = 0; index < 12; index += 1) files.offer(fileOf(`large${index}`, { size: 2_048n * MB }), 1);
  files.offer(fileOf('small'), 2);
  expect(begun).toEqual(['large large0', 'small small']);
});

test('takes no more of a person than there is room for, and says when there is', async () => {
  const { files, room, end } = start(2);
  expect(['a', 'b', 'c', 'd'].map((name) => files.offer(fileOf(name), 1))).toEqual([true, true, true, false]);
  expect(files.offer(fileOf('e'), 2)).toBe(true);
  await end('a');
  expect(room).toContain(1);
});

test('reads an unchanged file only once, and one that was written to meanwhile once more', async () => {
  const { files, begun, end } = start();
  files.offer(fileOf('a', { ino: 900n }), 1);
  files.offer(fileOf('a', { ino: 900n, ctimeNs: 2n }), 1);
  await end('a');
  expect(begun).toEqual(['small a', 'small a']);
  await end('a', 'unread');
  files.offer(fileOf('a', { ino: 900n, ctimeNs: 2n }), 1);
  expect(begun).toHaveLength(2);
  expect(files.state()).toEqual({ waiting: 0, waiting_since: null, unread: 1 });
});

test('waits for room where a caller can wait, and tells when all is read', async () => {
  const { files, begun, end } = start(1);
  files.offer(fileOf('a'), 1);
  files.offer(fileOf('b'), 1);
  const added = vi.fn();
  void files.add(fileOf('c'), 1).then(added);
  const read = vi.fn();
  void files.whenRead().then(read);
  await end('a');
  expect(added).toHaveBeenCalledOnce();
  await end('b');
  await end('c');
  expect([begun.length, read.mock.calls.length]).toEqual([3, 1]);
});

test.each<[string, Parameters<typeof healthOf>[0], ReturnType<typeof healthOf>]>([
  [
    'nothing waits',
    {
      watch: { overflow: null, waiting_since: null },
      files: { waiting: 0, waiting_since: null, unread: 2 },
      stuck: 0,
      is_wanted: true,
    },
    { watcher: 'working', overflow: null, files_unread: 2, workers_stuck: 0 },
  ],
  [
    'files wait for long',
    {
      watch: { overflow: null, waiting_since: null },
      files: { waiting: 3, waiting_since: 0, unread: 0 },
      stuck: 2,
      is_wanted: true,
    },
    { watcher: 'stalled', overflow: null, files_unread: 0, workers_stuck: 2 },
  ],
  [
    'folders are still to be read again',
    {
      watch: { overflow: { at: 0, folders: 4 }, waiting_since: 999_000 },
      files: { waiting: 0, waiting_since: null, unread: 0 },
      stuck: 0,
      is_wanted: true,
    },
    { watcher: 'working', overflow: { at: '2026-11-20T09:43:20.000Z', folders: 4 }, files_unread: 0, workers_stuck: 0 },
  ],
  [
    'an overflow is long over',
    {
      watch: { overflow: { at: 0, folders: 0 }, waiting_since: null },
      files: { waiting: 0, waiting_since: null, unread: 0 },
      stuck: 0,
      is_wanted: false,
    },
    { watcher: 'off', overflow: null, files_unread: 0, workers_stuck: 0 },
  ],
])('says how it fares when %s', (_, states, health) => {
  expect(healthOf(states, { monotonic: 1_000_000, time: Date.parse('2026-11-20T10:00:00.000Z') })).toEqual(health);
});
