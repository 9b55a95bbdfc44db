import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Signatures } from '@palisade/contract/agent';
import { trySet } from '@palisade/scanner/set-trial';
import { packSignatures } from '@palisade/scanner/signature-archive';
import { fewSignatures } from '@palisade/scanner/test/few-signatures';
import { beforeEach, expect, it } from 'vitest';
import { openSignatureSets, type SignatureSets } from './signature-sets.ts';

const PACK = fewSignatures();
const RULES = join(PACK, 'rules');
const SAMPLES = join(PACK, 'samples');
const HEX = '0'.repeat(64);

let root: string;
let now = 0;
let fetched: number;
/** The server's answer, as a file. */
let served: string;
const lines: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'palisade-sets-'));
  [now, fetched] = [0, 0];
  lines.length = 0;
});

const trial = (files: Parameters<typeof trySet>[0]) => trySet(files, AbortSignal.timeout(60_000));
/** Without a trial where the test is about something else: it compiles all rules. */
const open = (test: typeof trial = async () => undefined): Promise<SignatureSets> =>
  openSignatureSets({
    folder: join(root, 'sets'),
    built_in: RULES,
    log: (line) => lines.push(line),
    now: () => now,
    download: async (_set, path) => {
      fetched += 1;
      copyFileSync(served, path);
    },
    test,
  });

/** A set with one rule more than the pack has, in a feed. */
async function pack(number: number, rule: string, samples = SAMPLES): Promise<Signatures> {
  const feed = join(root, `feed-${number}`);
  writeFileSync(feed, rule);
  const digest = createHash('sha256').update(rule).digest('hex');
  served = join(root, `served-${number}`);
  const feeds = [{ id: 'ours', kind: 'yara' as const, path: feed, digest, severity: 'alarm' as const }];
  const made = await packSignatures({ rules_folder: RULES, feeds }, samples, served);
  return { number, version: `${number}-test`, ...made };
}
const ONE_MORE = 'rule One_more { strings: $a = "one more threat than before" condition: $a }';

it("uses a newer set with the server's hash, also after a restart, and keeps one file of it at a time", async () => {
  const sets = await open(trial);
  expect(sets.fresh().state).toBe('unknown');
  const set = await pack(3, ONE_MORE);
  expect(await sets.want(set)).toBe(true);
  expect(sets.fresh()).toEqual({ state: 'pass', evidence: 'The signatures are the server’s newest (3-test).' });
  const [feed] = sets.files().feeds;
  expect(readFileSync(feed?.path ?? '', 'utf8')).toBe(ONE_MORE);
  expect(await sets.want(set)).toBe(false);
  expect((await open()).files()).toEqual(sets.files());
  expect(fetched).toBe(1);
  expect(await (await open()).want(await pack(4, `${ONE_MORE} `))).toBe(true);
  expect(readdirSync(join(root, 'sets')).sort()).toEqual(['4', 'current.json']);
});

it('uses none that is older, and asks for none', async () => {
  const sets = await open();
  await sets.want(await pack(5, ONE_MORE));
  const before = sets.files();
  expect(await sets.want(await pack(4, `${ONE_MORE} `))).toBe(false);
  expect([sets.files(), fetched]).toEqual([before, 1]);
});

// proves: device-hostile-server-3
it.each([
  ['another hash', (set: Signatures) => ({ ...set, sha256: HEX }), 'does not have the hash'],
  ['another length', (set: Signatures) => ({ ...set, bytes: set.bytes + 1 }), 'does not have the hash'],
  ['a length that no set has', (set: Signatures) => ({ ...set, bytes: 2 ** 40 }), 'too large'],
])('refuses a set with %s than announced, and says so', async (_, change, reason) => {
  const sets = await open();
  const set = change(await pack(2, ONE_MORE));
  expect(await sets.want(set)).toBe(false);
  expect(sets.files()).toEqual({ rules_folder: RULES, feeds: [] });
  expect(sets.fresh().state).toBe('fail');
  expect(sets.fresh().evidence).toContain(reason);
  const times = fetched;
  now += 3_600_000;
  await sets.want(set);
  expect(fetched).toBe(times);
  expect(readdirSync(root)).not.toContain('fetched');
});

it.each([
  ['that calls a letter infected', 'rule Every { strings: $a = "Dear" condition: $a }', 'infected'],
  ['that does not compile', 'rule Broken { condition: no_such_word }', 'cannot be used'],
])('does not use a set %s', async (_, rule, reason) => {
  const sets = await open(trial);
  expect(await sets.want(await pack(2, rule))).toBe(false);
  expect(sets.fresh().evidence).toContain(reason);
  expect(sets.files().feeds).toEqual([]);
});

it('does not use a set that cannot show that it finds the test file', async () => {
  const none = join(root, 'none');
  mkdirSync(none);
  const sets = await open(trial);
  expect(await sets.want(await pack(2, ONE_MORE, none))).toBe(false);
  expect(sets.fresh().evidence).toContain('The EICAR sample is missing.');
});

it('tries again after a while where none could be fetched', async () => {
  const sets = await open();
  const set = await pack(2, ONE_MORE);
  const whole = served;
  served = join(root, 'not-there');
  expect(await sets.want(set)).toBe(false);
  served = whole;
  expect(await sets.want(set)).toBe(false);
  now += 600_000;
  expect(await sets.want(set)).toBe(true);
});
