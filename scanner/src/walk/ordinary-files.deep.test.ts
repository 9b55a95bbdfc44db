import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Budget, SCAN_LIMITS } from '#scanner/reading/limits.ts';
import { compileRules } from '#scanner/rules/rules.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import { examine } from './examine.ts';

test('a part of Pages that unpacks to more than is kept is pending', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-ordinary-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { match } = await compileRules(join(SIGNATURES_FOLDER, 'rules'));
  const unreadOf = async (bytes: Buffer) => {
    // A slow machine takes longer for it than so small a file is given: the time is that of 1 GiB.
    const parts = { match, limits: SCAN_LIMITS, folder: join(folder, 'unpacked'), budget: new Budget(SCAN_LIMITS, 1024 ** 3) };
    return (await examine({ bytes, size: bytes.length, name: 'file' }, parts)).unread;
  };
  const copies = Buffer.alloc(3 * 1023, Buffer.from([0xfe, 0x01, 0x00]));
  // 65,473 letters: one as it is, and 1,023 copies of 64 that begin one before.
  const packed = Buffer.concat([Buffer.from([0xc1, 0xff, 0x03, 0x00, 0x61]), copies]);
  const head = Buffer.alloc(4);
  head.writeUIntLE(packed.length, 1, 3);
  const part = Buffer.alloc(1100 * (head.length + packed.length), Buffer.concat([head, packed]));
  expect(await unreadOf(part)).toEqual(['too_large']);
  expect(await unreadOf(part.subarray(0, 100 * (head.length + packed.length)))).toEqual([]);
});
