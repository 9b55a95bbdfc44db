import { lstatSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createStore } from '#agent/store.ts';
import { type CatchUpParts, createCatchUp, seenSchema } from './catch-up.ts';

let root: string;
let looked: string[];
let lines: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-catch-up-'));
  mkdirSync(join(root, 'files/left'), { recursive: true });
  looked = [];
  lines = [];
});

const store = () => createStore(join(root, 'seen.json'), seenSchema);
const open = (parts: Partial<CatchUpParts> = {}) =>
  createCatchUp({
    store: store(),
    log: (line) => lines.push(line),
    now: Date.now,
    look: async ({ path }) => void looked.push(path.toString()),
    whenLooked: () => Promise.resolve(),
    ...parts,
  });
const begin = (parts: Partial<CatchUpParts> = {}) => {
  const catchUp = open(parts);
  return catchUp.begin([Buffer.from(join(root, 'files'))], [Buffer.from(join(root, 'files/left'))]).then(() => catchUp);
};

/** Writes a file until the kernel's clock, which goes in steps, says that it is newer than `since`. */
function writeAfter(since: number, ...names: string[]): void {
  for (const name of names) {
    const path = join(root, 'files', name);
    do writeFileSync(path, name);
    while (lstatSync(path).ctimeMs <= since);
  }
}

async function seenUntilNow(): Promise<number> {
  writeFileSync(join(root, 'clock'), '');
  const until = Math.ceil(lstatSync(join(root, 'clock')).ctimeMs);
  await store().write({ until: new Date(until).toISOString() });
  return until;
}

// proves: device-fault-20
it('reads files that changed while the agent did not run, for any time in their own stats, once', async () => {
  writeAfter(0, 'old', 'changed');
  const since = await seenUntilNow();
  writeAfter(since, 'changed', 'new', 'set-back', 'left/out');
  utimesSync(join(root, 'files/set-back'), 0, 0);
  // A time on the disk is coarser than the kernel's.
  const catchUp = await begin({ now: () => Date.now() + 1_000 });
  expect(looked.sort()).toEqual(['changed', 'new', 'set-back'].map((name) => join(root, 'files', name)));
  expect(catchUp.reason()).toBeNull();
  await catchUp.begin([Buffer.from(join(root, 'files'))], []);
  expect(looked).toHaveLength(3);
  // The next start begins where this one did.
  await begin();
  expect(looked).toHaveLength(3);
});

it('looks at nothing the first time, and remembers until when watching has seen everything', async () => {
  writeAfter(0, 'old');
  const catchUp = await begin({ now: () => 10_000_000 });
  expect(looked).toEqual([]);
  expect(await store().read()).toEqual({ until: new Date(10_000_000).toISOString() });
  await catchUp.note();
  // The last files may not have been read yet.
  expect(await store().read()).toEqual({ until: new Date(10_000_000 - 120_000).toISOString() });
});

// proves: device-fault-20
it('keeps nothing while it is under way, so that an agent that ends in the middle begins again', async () => {
  const since = await seenUntilNow();
  writeAfter(since, 'new');
  const kept = await store().read();
  await begin({
    look: async () => {
      await open().note();
      throw new Error('the engine ended');
    },
  });
  expect(await store().read()).toEqual(kept);
  await begin();
  expect(looked).toEqual([join(root, 'files/new')]);
});

it('reads so many and no more, and reports the rest', async () => {
  const since = await seenUntilNow();
  writeAfter(since, 'a', 'b', 'c', 'd');
  const catchUp = await begin({ files_maximum: 3 });
  expect(looked).toHaveLength(3);
  expect(catchUp.reason()).toBe(
    'More files changed while the agent did not run than are read at its start (3): a full scan reads the others.',
  );
});
