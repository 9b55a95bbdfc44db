import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog } from '#platform/log.ts';
import { DomainLists } from './domain-lists.ts';

const MIB = 1024 ** 2;

/** Fetches a list in parts. Answers its state and the files that are left. */
async function fetched(parts: () => Iterable<string | Buffer>) {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-lists-'));
  const server = createServer((_request, response) => {
    Readable.from(parts())
      .on('error', () => {})
      .pipe(response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/list`;
  const sources = [{ name: 'A list', category: 'gambling', url }] as const;
  const lists = new DomainLists({ sources, folder, now: Date.now, logger: createLog('silent'), onChange: () => {} });
  onTestFinished(async () => {
    await lists.close();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  lists.open();
  const isDone = () => {
    const [list] = lists.list();
    expect(list?.fault !== null || list?.as_of !== null).toBe(true);
  };
  await vi.waitFor(isDone, { timeout: 200_000, interval: 50 });
  const { names, fault } = lists.list()[0] ?? {};
  return { names, fault, files: readdirSync(folder).map((name) => name.replace(/^\w+\./u, '')) };
}

const WRONG = [
  'com',
  '<html>',
  `${'x'.repeat(64)}.example`,
  `a${' '.repeat(900)}b`,
  '||a.example^$third-party',
  '@@||b.example^',
  'good.example CNAME rpz-passthru.',
  '..',
  'x'.repeat(1_500),
  '\0\u{1f600}.example\u0001',
];

test('a list with a million wrong lines has its right ones', async () => {
  function* parts() {
    const thousand = `${Array.from({ length: 1_000 }, (_, index) => WRONG[index % WRONG.length]).join('\n')}\n`;
    for (let count = 0; count < 1_000; count++) yield count === 500 ? `bad.example\n${thousand}` : thousand;
    yield 'worse.example';
  }
  expect(await fetched(parts)).toEqual({ names: 2, fault: null, files: ['kept'] });
}, 240_000);

test.each([
  ['500 MB', 'bad.example\n', 500, 'It is larger than 256 MB.'],
  ['one line of 200 MB', '', 200, 'It has no names.'],
])(
  'a list of %s is left',
  async (_what, first, size, fault) => {
    function* parts() {
      yield first;
      const bytes = Buffer.alloc(MIB, 'x');
      for (let count = 0; count < size; count++) yield bytes;
    }
    expect(await fetched(parts)).toEqual({ names: 0, fault, files: [] });
  },
  240_000,
);
