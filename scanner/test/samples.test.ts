import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSamples } from '#scanner/rules/samples.ts';
import { examined } from './examined.ts';
import { EICAR } from './files.ts';
import { SAMPLES, wrapped } from './samples/index.ts';
import type { Packed } from './samples/sample.ts';
import { SIGNATURES_FOLDER } from './signatures-folder.ts';

// Every sample is read: its file is found in it, and it is clean where it holds nothing.

const rules = await readSamples(join(SIGNATURES_FOLDER, 'samples'));
/** A line that a rule finds in any text. */
const LINE = rules.find(({ rule, kind, bytes }) => kind === 'hit' && rule.startsWith('CredTheft_LSASS') && bytes.length < 300);
const TEXT: Packed = { bytes: LINE?.bytes ?? Buffer.alloc(0), name: 'a.txt', kind: 'text' };
const FILE: Packed = { bytes: EICAR, name: 'eicar.com', kind: 'line' };
const HARMLESS: Packed = { bytes: Buffer.from('Words that say nothing. '.repeat(4)), name: 'words.txt', kind: 'text' };

const all = SAMPLES.map((sample) => ({ ...sample, live: sample.takes?.join() === 'text' ? TEXT : FILE }));

describe.each(all)('$name', (sample) => {
  test('gives the file in it', async () => {
    const { threat, threat_member, unread } = await examined(wrapped(sample, sample.live) ?? Buffer.alloc(0), {
      name: `file.${sample.ending}`,
    });
    expect(threat).toBe(sample.live === FILE ? 'EICAR-Test-File' : 'HackTool.Windows.LsassDump');
    if (sample.takes === undefined) expect(threat_member).not.toBeNull();
    if (sample.flawed !== true) expect(unread).toEqual([]);
  });

  test.skipIf(sample.flawed)('is clean where it holds nothing', async () => {
    const bytes = wrapped(sample, HARMLESS) ?? Buffer.alloc(0);
    expect(await examined(bytes, { name: `file.${sample.ending}` })).toMatchObject({ threat: null, unread: [] });
  });
});

test('names of samples are unique', () => {
  const names = SAMPLES.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
