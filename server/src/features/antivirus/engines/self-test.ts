import { createHash } from 'node:crypto';
import type { Match, Matchers } from './examine.ts';
import { measureRules, SLOWER_MAXIMUM, slowRules } from './rule-speed.ts';
import { readSamples } from './samples.ts';

/** Files of every day, beside the near misses of the rule pack. */
const PLAIN = [
  ['an empty file', ''],
  ['a letter', 'Dear Maria,\n\nthank you for your invitation. We are glad to come.\n\nYours, Anna\n'],
  ['a web page', '<!doctype html>\n<html lang="en"><head><title>Bakery</title></head><body><h1>Fresh bread</h1></body></html>\n'],
  ['a table', 'name,amount\nbread,2\nmilk,1\n'],
  ['a program', '#include <stdio.h>\n\nint main(void) {\n  puts("hello");\n  return 0;\n}\n'],
] as const;
/** The rule and the name that the industry's test file has in our pack. */
const EICAR_RULE = 'Test_EICAR_Standard';

const isInfected = ({ verdict }: Match) => verdict === 'infected';

/**
 * Tries a set of signatures: it must find the EICAR file, match every sample of the rule pack by its rule, and call nothing infected that is harmless.
 * Answers what is wrong, in one sentence; undefined when nothing is.
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

/** Of the pack, each so manieth rule makes the median that a feed's rules are compared with: enough for a ratio, and over in two seconds. */
const PEERS_EVERY = 8;
/** How long a feed's rules are measured, in ms: a feed of some thousand rules is looked at whole. What is left then is taken for fast. */
const SPEED_TEST_MS = 45_000;
const NAMED_MAXIMUM = 3;

/**
 * Tries how fast a feed's rules are on hostile text, each on the text that is worst for it: one slow rule makes every engine slow. Answers what is wrong, in one sentence
 * that names the slowest; undefined when nothing is.
 */
export function speedTest(feed: string, pack: string): string | undefined {
  const { median, slow } = slowRules(feed, () => measureRules(pack, PEERS_EVERY).median, SPEED_TEST_MS);
  if (slow.length === 0) return undefined;
  const shown = slow
    .slice(0, NAMED_MAXIMUM)
    .map(({ rule, bytes_per_ms }) => `${rule}: ${Math.round(median / bytes_per_ms)} times`);
  const more = slow.length > NAMED_MAXIMUM ? `; and ${slow.length - NAMED_MAXIMUM} more` : '';
  return `It has rules that a small file can make more than ${SLOWER_MAXIMUM} times slower than others (${shown.join('; ')}${more}).`;
}
