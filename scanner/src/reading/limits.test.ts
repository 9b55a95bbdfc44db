import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSamples } from '#scanner/rules/samples.ts';
import { examined } from '#test/examined.ts';
import { EICAR, noise, zip } from '#test/files.ts';
import { SIGNATURES_FOLDER } from '#test/signatures-folder.ts';
import type { ScanLimits } from './limits.ts';

// Bait one past each limit: the scan finds it, or says that it did not read the file to its end.

const MIB = 1024 ** 2;
const rules = await readSamples(join(SIGNATURES_FOLDER, 'samples'));
/** A line that a rule finds in any text. */
const LINE = rules
  .find(({ rule, kind, bytes }) => kind === 'hit' && rule.startsWith('CredTheft_LSASS') && bytes.length < 300)
  ?.bytes.toString('latin1')
  .trim();

const nested = (levels: number): Buffer => (levels === 0 ? EICAR : zip([{ name: 'a.zip', content: nested(levels - 1) }]));
const filled = (filling: Buffer) =>
  zip([
    { name: 'filling', content: filling },
    { name: 'eicar.com', content: EICAR },
  ]);
const members = (count: number) =>
  zip([
    ...Array.from({ length: count }, (_, index) => ({ name: `${index}`, content: Buffer.from('harmless') })),
    { name: 'eicar.com', content: EICAR },
  ]);
/** A bomb of zeros before the bait, so that the ratio of the member is past its limit. */
const zeros = (bytes: number) => zip([{ name: 'a', content: Buffer.concat([Buffer.alloc(bytes), EICAR]) }]);

/** A file for each limit, and the limit that its bait is one past. */
const SCAN: Readonly<Record<keyof ScanLimits, { limits: Partial<ScanLimits>; file: Buffer }>> = {
  depth: { limits: { depth: 4 }, file: nested(5) },
  members: { limits: { members: 20 }, file: members(20) },
  unpacked_bytes: { limits: { unpacked_bytes: MIB }, file: filled(noise(MIB)) },
  ratio: { limits: { ratio: 20, ratio_floor_bytes: 1000 }, file: zeros(MIB) },
  ratio_floor_bytes: { limits: { ratio_floor_bytes: MIB }, file: zeros(MIB + 1) },
  time_ms: { limits: { time_ms: 0 }, file: filled(noise(4 * MIB)) },
};

describe.each(Object.entries(SCAN))('bait one past the limit %s of a scan', (_, { limits, file }) => {
  test('is found, or said to be unread', async () => {
    const { threat, unread } = await examined(file, { limits });
    expect(threat !== null || unread.length > 0).toBe(true);
  });

  test('is found within it', async () => {
    expect((await examined(file)).threat).toBe('EICAR-Test-File');
  });
});

const multipart = (levels: number): string =>
  levels === 0
    ? `Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n\r\n${EICAR.toString('base64')}\r\n`
    : `Content-Type: multipart/mixed; boundary="b${levels}"\r\n\r\n--b${levels}\r\n${multipart(levels - 1)}\r\n--b${levels}--\r\n`;
const text = (index: number) => `A harmless text, number ${index}, that says nothing of interest.\nAnd its second line.\n`;
const texts = (count: number) => [...Array.from({ length: count }, (_, index) => text(index)), `${LINE}\n${text(count)}`];

/** Limits of readers, by what they count: files with so many, of which the last is the bait. */
const READERS: Readonly<Record<string, Buffer>> = {
  'levels of a mail': Buffer.from(`From: a@example.com\r\nTo: b@example.com\r\nMIME-Version: 1.0\r\n${multipart(33)}`),
  'texts of JSON': Buffer.from(JSON.stringify(texts(1000))),
  'texts of JSON, by far': Buffer.from(JSON.stringify(Object.fromEntries(texts(3000).map((one, index) => [index, one])))),
  'texts in base64': Buffer.from(
    texts(1000)
      .map((one) => Buffer.from(one).toString('base64'))
      .join('\n\n'),
  ),
  'values of a table': Buffer.from(
    `name,text\r\n${texts(500)
      .map((one) => `a,"${one}"`)
      .join('\r\n')}\r\n`,
  ),
  'documents within a script': Buffer.from(
    `#!/bin/sh\n${texts(100)
      .map((one, index) => `cat > ${index} <<'END'\n${one}END\n`)
      .join('')}`,
  ),
};

test.each(Object.entries(READERS))('bait behind the most %s is found, or said to be unread', async (_, file) => {
  const { threat, unread } = await examined(file);
  expect(threat !== null || unread.length > 0).toBe(true);
});
