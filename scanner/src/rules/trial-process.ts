import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { digestOf } from './digest.ts';
import type { HarmlessFile } from './harmless.ts';
import type { LeftOut } from './left-out.ts';
import { BadFeed, prepareFeed } from './prepare-feed.ts';
import { countRules, readPack } from './rules.ts';
import { harmlessContent, rulesThatAlarm, selfTest, slowRulesOf } from './self-test.ts';
import { errorOf, withoutRules } from './sift-rules.ts';
import { loadSignatures } from './signature-set.ts';
import { type PreparedFeed, type Trial, type TrialAnswer, trialSchema } from './trial-messages.ts';

// The main file of a process that tests one feed: verifies, unpacks and compiles it beside the rule pack, tests them together, and ends.
// It runs outside the server because compiling takes all of a core, and third-party rules may never finish.

const NAMED_MAXIMUM = 3;

/** Some of the left-out rules, in a sentence. */
function named(left_out: ReadonlyMap<string, LeftOut>): string {
  const shown = [...left_out.values()].slice(0, NAMED_MAXIMUM).map(({ name, detail }) => `${name}: ${detail}`);
  const more = left_out.size > NAMED_MAXIMUM ? ` And ${left_out.size - NAMED_MAXIMUM} more.` : '';
  return `${shown.join(' ')}${more}`;
}

async function checksumsOf(harmless: AsyncIterable<HarmlessFile>): Promise<Set<string>> {
  const sums = new Set<string>();
  for await (const { bytes } of harmless) sums.add(createHash('sha256').update(bytes).digest('hex'));
  return sums;
}

/** Removes rules from a prepared feed that would raise false alarms or slow the engines down. @throws BadFeed when it is strict and there are such rules, or none is left. */
async function siftFeed(
  { rules_folder, samples_folder, installation_folder, feed }: Trial,
  prepared: PreparedFeed,
): Promise<PreparedFeed> {
  const whole = await readFile(prepared.path, 'utf8');
  const alarming = await rulesThatAlarm(whole, harmlessContent(samples_folder, installation_folder));
  if (feed.strict && alarming.size > 0) throw new BadFeed(`It has rules that would alarm (${named(alarming)}).`);
  const calm = withoutRules(whole, alarming);
  const slow = slowRulesOf(calm.source, await readPack(rules_folder));
  if (feed.strict && slow.size > 0) throw new BadFeed(`It has rules that are slow (${named(slow)}).`);
  const fast = withoutRules(calm.source, slow);
  const more = [...calm.left_out, ...fast.left_out];
  if (more.length === 0) return prepared;
  const rules = countRules(fast.source);
  const left_out = [...prepared.left_out, ...more];
  if (rules === 0) throw new BadFeed(`None of its rules can be used (${named(new Map([...alarming, ...slow]))}).`);
  const error = errorOf(fast.source);
  if (error !== undefined) throw new BadFeed(`Its rules do not compile without those that are left out (${error}).`);
  await writeFile(prepared.path, fast.source, { mode: 0o600 });
  return { ...prepared, rules, left_out, digest: await digestOf(prepared.path) };
}

async function attempt(trial: Trial): Promise<TrialAnswer> {
  const { rules_folder, samples_folder, installation_folder, feed } = trial;
  try {
    const except =
      feed.kind === 'sha256' ? await checksumsOf(harmlessContent(samples_folder, installation_folder)) : new Set<string>();
    const taken = await prepareFeed(feed, except);
    if (taken.kind === 'domains') return { kind: 'passed', feed: taken };
    const prepared = taken.kind === 'yara' ? await siftFeed(trial, taken) : taken;
    const signatures = await loadSignatures({
      rules_folder,
      feeds: [{ ...prepared, kind: taken.kind, severity: 'alarm' }],
    });
    if (signatures.left_out.length > 0) return { kind: 'refused', sentence: 'It cannot be used by this version of the engine.' };
    const wrong = await selfTest(signatures, samples_folder);
    return wrong === undefined ? { kind: 'passed', feed: prepared } : { kind: 'refused', sentence: wrong };
  } catch (error) {
    if (error instanceof BadFeed) return { kind: 'refused', sentence: error.message };
    throw error;
  }
}

process.once('message', (message) => {
  attempt(trialSchema.parse(message)).then(
    (answer) => process.send?.(answer, () => process.exit(0)),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
});
// The parent process is gone.
process.once('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
