import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashName, newHashes } from '@palisade/names/name-list';
import { wireName } from '@palisade/names/wire';
import { eventually } from '@palisade/scanner/test/eventually';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLog } from '#platform/log.ts';
import { DomainLists } from './domain-lists.ts';

let server: Server;
let url: string;
let text: string;
const opened: DomainLists[] = [];

beforeEach(async () => {
  server = createServer((_request, response) => (text === '' ? response.writeHead(500).end() : response.end(text)));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/list`;
});
afterEach(async () => {
  for (const lists of opened.splice(0)) await lists.close();
  server.close();
});

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `n${index}.example`).join('\n');

function open(folder: string, now = Date.now()) {
  const sources = [{ name: 'A list', category: 'gambling', url }] as const;
  const lists = new DomainLists({ sources, folder, now: () => now, logger: createLog('silent'), onChange: () => {} });
  opened.push(lists);
  lists.open();
  return lists;
}

const first = (lists: DomainLists) => lists.list()[0];

test('are fetched, kept over restarts, and never left for an empty or a broken one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-lists-'));
  text = namesOf(100);
  const lists = open(folder);
  await eventually(() => expect(first(lists)).toMatchObject({ names: 100, fault: null, waiting: null }));
  const hashes = hashName(wireName('www.n7.example') ?? Buffer.alloc(1), newHashes());
  expect(lists.of('gambling').map((list) => [1, 2].map((depth) => list.has(hashes, depth)))).toEqual([[true, false]]);
  expect(lists.of('ads')).toEqual([]);
  for (text of ['', '<html>an error page</html>']) {
    const later = open(folder, Date.now() + 2 * 86_400_000);
    await eventually(() => expect(first(later)?.fault).not.toBe(null));
    expect(first(later)?.names).toBe(100);
  }
});

test('that shrink by more than half wait until they are accepted', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-lists-'));
  text = namesOf(100);
  const lists = open(folder);
  await eventually(() => expect(first(lists)?.names).toBe(100));
  await lists.close();
  text = namesOf(20);
  const later = open(folder, Date.now() + 2 * 86_400_000);
  await eventually(() => expect(first(later)).toMatchObject({ names: 100, waiting: 20 }));
  const { id = '' } = first(later) ?? {};
  await later.accept(id);
  expect(first(later)).toMatchObject({ names: 20, waiting: null });
  await expect(later.accept(id)).rejects.toThrow();
});

test('do not end the server where their folder can’t be made', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'palisade-lists-')), 'lists');
  writeFileSync(file, '');
  const lists = open(file);
  await lists.close();
  expect(first(lists)).toMatchObject({ names: 0 });
});
