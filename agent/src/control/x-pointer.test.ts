import { mkdtempSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@palisade/scanner/test/eventually';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { readPointer, readSetup, watchPointer } from './x-pointer.ts';

const ROOT = 0x2a1;

/** The first answer of an X server with one screen of 800 x 600. */
function setup(): Buffer {
  const bytes = Buffer.alloc(8 + 32 + 8 + 8 + 40);
  bytes[0] = 1;
  bytes.writeUInt16LE(11, 2);
  bytes.writeUInt16LE((bytes.length - 8) / 4, 6);
  bytes.writeUInt16LE(6, 8 + 16);
  bytes[8 + 20] = 1;
  bytes[8 + 21] = 1;
  bytes.writeUInt32LE(ROOT, 8 + 48);
  bytes.writeUInt16LE(800, 8 + 48 + 20);
  bytes.writeUInt16LE(600, 8 + 48 + 22);
  return bytes;
}

function pointerAt(x: number, y: number, sequence: number): Buffer {
  const bytes = Buffer.alloc(32);
  bytes[0] = 1;
  bytes[1] = 1;
  bytes.writeUInt16LE(sequence, 2);
  bytes.writeUInt32LE(ROOT, 8);
  bytes.writeInt16LE(x, 16);
  bytes.writeInt16LE(y, 18);
  return bytes;
}

function changed(bytes: Buffer, at: number, ...values: number[]): Buffer {
  const copy = Buffer.from(bytes);
  values.forEach((value, index) => {
    copy[at + index] = value;
  });
  return copy;
}

/** An X server that answers with these bytes, and a watch of its pointer. */
async function watched(first: Buffer, replyTo: (count: number) => Buffer) {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-x-'));
  const socket = join(folder, 'X7');
  const peers: Socket[] = [];
  const server = createServer((peer) => {
    peers.push(peer);
    let count = 0;
    peer.on('error', () => {});
    peer.once('data', () => {
      peer.write(first);
      peer.on('data', () => {
        count += 1;
        peer.write(replyTo(count));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const seen: { x: number; y: number }[] = [];
  const failures: string[] = [];
  const stop = watchPointer(
    { display: ':7', socket, xauthority: undefined },
    { every_ms: 1, answer_ms: 300, onPointer: (at) => seen.push(at), onFailure: (reason) => failures.push(reason) },
  );
  onTestFinished(() => {
    stop();
    for (const peer of peers) peer.destroy();
    server.close();
  });
  return { seen, failures };
}
const soon = (check: () => void) => eventually(check);

test('tells where the pointer is, event after event', async () => {
  const event = changed(Buffer.alloc(32), 0, 34);
  const { seen, failures } = await watched(setup(), (count) => Buffer.concat([event, pointerAt(count, 2, count)]));
  await soon(() => expect(seen.slice(0, 3)).toEqual([1, 2, 3].map((x) => ({ x, y: 2 }))));
  expect(failures).toEqual([]);
});

// proves: attack-E.8-2
test.each<[string, Buffer, (count: number) => Buffer]>([
  ['a refusal', changed(setup(), 0, 0), (count) => pointerAt(1, 1, count)],
  ['a first answer of no length', changed(setup(), 6, 0, 0), (count) => pointerAt(1, 1, count)],
  ['a first answer that is longer than any', changed(setup(), 6, 255, 255), (count) => pointerAt(1, 1, count)],
  ['no screen', changed(setup(), 28, 0), (count) => pointerAt(1, 1, count)],
  ['more formats than there are bytes', changed(setup(), 29, 255), (count) => pointerAt(1, 1, count)],
  ['a vendor that is longer than the answer', changed(setup(), 24, 255, 255), (count) => pointerAt(1, 1, count)],
  ['a screen without a size', changed(setup(), 76, 0, 0), (count) => pointerAt(1, 1, count)],
  ['a point outside the screen', setup(), (count) => pointerAt(900, 1, count)],
  ['an answer to another question', setup(), (count) => pointerAt(1, 1, count + 5)],
  ['an answer with more bytes behind it', setup(), (count) => changed(pointerAt(1, 1, count), 4, 9)],
  ['an error', setup(), () => Buffer.alloc(32)],
  ['a generic event', setup(), () => changed(Buffer.alloc(32), 0, 35)],
  ['half an answer', setup(), (count) => pointerAt(1, 1, count).subarray(0, 16)],
  ['only events', setup(), () => Buffer.alloc(32 * 2_000, changed(Buffer.alloc(32), 0, 34))],
])('ends with a sentence after %s', async (_, first, replyTo) => {
  const { failures } = await watched(first, replyTo);
  await soon(() => expect(failures).toHaveLength(1));
  expect(failures[0]).toMatch(/X server.*\.$/u);
});

// proves: attack-E.8-2
test('refuses arbitrary answers with its own error alone', () => {
  const isOwn = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      expect(error).toMatchObject({ name: 'XProtocolError' });
    }
  };
  const whole = setup();
  const places = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 6 });
  fc.assert(
    fc.property(places, fc.nat(whole.length), (changes, length) => {
      const bytes = changes.reduce((copy, [at, value]) => changed(copy, at, value), whole).subarray(0, Math.max(8, length));
      isOwn(() => readSetup(bytes.subarray(0, 8), bytes.subarray(8)));
    }),
    { seed: 30, numRuns: 2_000 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) =>
      isOwn(() => readPointer(Buffer.from(bytes), { sequence: 1, root: ROOT, width: 800, height: 600 })),
    ),
    { seed: 30, numRuns: 2_000 },
  );
});
