import { createHash } from 'node:crypto';
import type { Match, Matchers } from '#scanner/walk/examination.ts';
import { type HarmlessFile, harmlessFiles } from './harmless.ts';
import { type LeftOut, leftOut } from './left-out.ts';
import { measureRules, SLOWER_MAXIMUM, slowRules } from './rule-speed.ts';
import { readSamples } from './samples.ts';
import { compileFeed } from './signature-set.ts';

/** Ordinary files, in addition to the near misses of the rule pack. */
const PLAIN = [
  ['an empty file', ''],
  ['a letter', 'Dear Maria,\n\nthank you for your invitation. We are glad to come.\n\nYours, Anna\n'],
  ['a web page', '<!doctype html>\n<html lang="en"><head><title>Bakery</title></head><body><h1>Fresh bread</h1></body></html>\n'],
  ['a table', 'name,amount\nbread,2\nmilk,1\n'],
  ['a program', '#include <stdio.h>\n\nint main(void) {\n  puts("hello");\n  return 0;\n}\n'],
] as const;
/** The rule for the EICAR test file. */
const EICAR_RULE = 'Test_EICAR_Standard';

const isInfected = ({ verdict }: Match) => verdict === 'infected';

/**
 * Tests a set of signatures: it must match every sample of the rule pack, the EICAR file among them, by its rule, and must not report harmless content as infected.
 * Returns what is wrong, in one sentence; undefined if the set passes.
 */
export async function selfTest({ match, matchHash }: Matchers, samples_folder: string): Promise<string | undefined> {
  const verdicts = (bytes: Buffer) => [...match(bytes), ...(matchHash?.(createHash('sha256').update(bytes).digest('hex')) ?? [])];
  for (const [what, text] of PLAIN) {
    const wrong = verdicts(Buffer.from(text)).find(isInfected);
    if (wrong !== undefined) return `It calls ${what} infected (${wrong.threat}).`;
  }
  const samples = await readSamples(samples_folder);
  if (!samples.some(({ rule, kind }) => rule === EICAR_RULE && kind === 'hit')) return 'The EICAR sample is missing.';
  for (const { rule, kind, note, bytes } of samples) {
    const found = verdicts(bytes);
    if (kind === 'hit') {
      if (!found.some((one) => one.rule === rule)) return `With it the rule ${rule} no longer finds its sample (${note}).`;
    } else {
      const wrong = found.find(isInfected);
      if (wrong !== undefined) return `It calls a harmless sample infected (${wrong.threat}; ${rule}: ${note}).`;
    }
  }
  return undefined;
}

/** The harmless content that a feed is tested on: ordinary files, the near misses of the pack, and `harmlessFiles`. */
export async function* harmlessContent(samples_folder: string, installation_folder: string): AsyncGenerator<HarmlessFile> {
  for (const [what, text] of PLAIN) yield { name: what, bytes: Buffer.from(text) };
  for (const { rule, kind, bytes } of await readSamples(samples_folder)) {
    if (kind === 'near_miss') yield { name: `the near miss of ${rule}`, bytes };
  }
  yield* harmlessFiles(installation_folder);
}

/** The rules of a feed that report harmless content as infected, each with the first such file. */
export async function rulesThatAlarm(feed: string, harmless: AsyncIterable<HarmlessFile>): Promise<Map<string, LeftOut>> {
  const { match } = compileFeed(feed);
  const alarming = new Map<string, LeftOut>();
  for await (const { name, bytes } of harmless) {
    for (const found of match(bytes, name)) {
      if (!isInfected(found) || alarming.has(found.rule)) continue;
      alarming.set(found.rule, leftOut(found.rule, 'would_alarm', `It calls ${name} infected.`));
    }
  }
  return alarming;
}

/** Every eighth rule of the pack is measured for the median that a feed's rules are compared with, which takes two seconds. */
const PEERS_EVERY = 8;
/** Time for measuring a feed's rules, enough for some thousand rules. Rules not measured by then count as fast. ms. */
const SPEED_TEST_MS = 45_000;

/** The rules of a feed that are slow on the hostile text that is worst for each: one slow rule makes every scan slow. */
export function slowRulesOf(feed: string, pack: string): Map<string, LeftOut> {
  const { median, slow } = slowRules(feed, () => measureRules(pack, PEERS_EVERY).median, SPEED_TEST_MS);
  return new Map(
    slow.map(({ rule, bytes_per_ms }) => [
      rule,
      leftOut(
        rule,
        'slow',
        `A small file can make it ${Math.round(median / bytes_per_ms)} times slower than others; ${SLOWER_MAXIMUM} times is the most.`,
      ),
    ]),
  );
}
