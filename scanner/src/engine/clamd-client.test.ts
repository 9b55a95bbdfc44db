import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { hasClamd, startClamd } from '#test/clamd.ts';
import { CLAMD_ONLY, CLAMD_ONLY_THREAT, MISBEHAVIOURS, startClamdDouble } from '#test/clamd-double.ts';
import { EICAR, nestedGzip, noise, PDF, zip } from '#test/files.ts';
import { clamdVersion, scanWithClamd } from './clamd-client.ts';
import { testClamd } from './clamd-self-test.ts';
import type { ScannerAddress } from './scanner-url.ts';

const MIB = 1024 ** 2;
const times = { connect_ms: 3000, time_ms: 10_000, signal: new AbortController().signal };
const scan = (address: ScannerAddress, bytes: Buffer, more: Partial<typeof times> = {}) =>
  scanWithClamd(address, { size: bytes.length, bytes }, { ...times, ...more });
const refusalOf = async (address: ScannerAddress) => {
  const test = await testClamd(address, times);
  return test.kind === 'refused' ? test.reason : test.kind;
};
const folder = mkdtempSync(join(tmpdir(), 'palisade-clamd-client-'));

if (!hasClamd) process.stdout.write('skipped: there is no clamd on this machine\n');
const kinds = [
  { name: 'the double', start: async () => (await startClamdDouble(afterAll, { stream_maximum: 8 * MIB })).address },
  ...(hasClamd ? [{ name: 'clamd', start: async () => (await startClamd({ StreamMaxLength: '8M' }, afterAll)).address }] : []),
];

describe.each(kinds)('$name', async ({ start }) => {
  const address = await start();

  test.each([
    ['EICAR', EICAR, { kind: 'found', threat: 'Eicar-Test-Signature.UNOFFICIAL' }],
    ['what only clamd knows', CLAMD_ONLY, { kind: 'found', threat: CLAMD_ONLY_THREAT }],
    ['a harmless file', PDF, { kind: 'clean' }],
    ['nothing', Buffer.alloc(0), { kind: 'clean' }],
    ['5 MB', noise(5 * MIB), { kind: 'clean' }],
    ['EICAR behind 5 MB', Buffer.concat([noise(5 * MIB), EICAR]), { kind: 'found', threat: 'Eicar-Test-Signature.UNOFFICIAL' }],
    ['archives nested 16 deep', nestedGzip(EICAR, 16), { kind: 'found', threat: 'Eicar-Test-Signature.UNOFFICIAL' }],
    ['archives nested 40 deep', nestedGzip(EICAR, 40), { kind: 'limit', detail: 'depth' }],
    ['a password', zip([{ name: 'a', content: noise(64), flags: 1 }]), { kind: 'limit', detail: 'encrypted' }],
    ['more than it takes', noise(30 * MIB), { kind: 'limit', detail: 'too_large' }],
  ])('says what it must of %s', async (_, bytes, answer) => {
    expect(await scan(address, bytes)).toEqual(answer);
  });

  test('reads a file as it reads bytes, and no less of it than there was', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, Buffer.concat([noise(3 * MIB), EICAR]));
    expect(await scanWithClamd(address, { size: 3 * MIB + EICAR.length, path }, times)).toMatchObject({ kind: 'found' });
    expect(await scanWithClamd(address, { size: 4 * MIB, path }, times)).toMatchObject({ kind: 'failed', timed_out: false });
    expect(await scanWithClamd(address, { size: 1, path: join(folder, 'nothing') }, times)).toMatchObject({ kind: 'failed' });
  });

  test('says who it is', async () => {
    const answer = await clamdVersion(address, times);
    expect(answer.kind === 'version' && answer.version).toMatch(/^\d+\.\d+/);
  });

  test('passes the self-test', async () => {
    expect(await testClamd(address, times)).toEqual({ kind: 'passed' });
  });
});

describe('a clamd that fails open', () => {
  const cases = [
    ['limits', { AlertExceedsMax: 'no' }, /AlertExceedsMax/],
    ['passwords', { AlertEncrypted: 'no' }, /AlertEncrypted/],
  ] as const;
  test.runIf(hasClamd).each(cases)('over %s is refused by the self-test', async (_, settings, reason) => {
    const { address } = await startClamd(settings);
    expect(await refusalOf(address)).toMatch(reason);
  });

  test('in the double is refused as well, and so is one without signatures', async () => {
    const double = await startClamdDouble();
    double.fails_open = true;
    expect(await refusalOf(double.address)).toMatch(/AlertExceedsMax/);
    double.knows_nothing = true;
    expect(await refusalOf(double.address)).toMatch(/EICAR/);
  });
});

describe('a clamd that misbehaves', async () => {
  const double = await startClamdDouble(afterAll);
  const at = (kind: string, bytes = 0) => Buffer.concat([Buffer.from(`misbehave:${kind}\n`), noise(bytes)]);

  test.each(Object.keys(MISBEHAVIOURS).flatMap((kind) => [[kind, 0] as const, [kind, 3 * MIB] as const]))(
    'has never called a file clean: %s, behind %i bytes',
    async (kind, bytes) => {
      const answer = await scan(double.address, at(kind, bytes), kind === 'silent' ? { time_ms: 300 } : {});
      expect(answer).toMatchObject({ kind: 'failed', timed_out: kind === 'silent' });
    },
  );

  test.each(['early OK', 'early reset', 'early end'])('nor in the middle of it: %s', async (kind) => {
    expect(await scan(double.address, at(kind, 20 * MIB))).toMatchObject({ kind: 'failed', timed_out: false });
  });

  test('is understood when it has enough and closes, however it is timed', async () => {
    for (const bytes of [MIB, 4 * MIB, 20 * MIB]) {
      expect(await scan(double.address, at('oversize', bytes))).toEqual({ kind: 'limit', detail: 'too_large' });
    }
  });

  test('by not being there fails at once', async () => {
    const away = await startClamdDouble();
    await away.down();
    expect(await scan(away.address, PDF)).toMatchObject({ kind: 'failed', timed_out: false });
    expect(await scan({ path: join(folder, 'no-socket') }, PDF)).toMatchObject({ kind: 'failed', timed_out: false });
    expect(await clamdVersion(away.address, times)).toMatchObject({ kind: 'failed' });
  });

  test('by being something else is no clamd', async () => {
    const other = await startClamdDouble();
    other.version = 'HTTP/1.1 400 Bad Request';
    const answer = await clamdVersion(other.address, times);
    expect(answer.kind === 'failed' && answer.reason).toMatch(/no clamd/);
  });

  test('is left when the pool stops', async () => {
    const stop = new AbortController();
    const answer = scan(double.address, at('silent'), { signal: stop.signal });
    stop.abort();
    expect(await answer).toMatchObject({ kind: 'failed', timed_out: false });
    expect(await scan(double.address, PDF, { signal: stop.signal })).toMatchObject({ kind: 'failed' });
  });
});
