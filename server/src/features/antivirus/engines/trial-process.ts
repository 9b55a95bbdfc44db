import { readFile } from 'node:fs/promises';
import { BadFeed, prepareFeed } from './prepare-feed.ts';
import { readPack } from './rules.ts';
import { selfTest, speedTest } from './self-test.ts';
import { loadSignatures } from './signature-set.ts';
import { type Trial, type TrialAnswer, trialSchema } from './trial-messages.ts';

// The main file of a process that tries one feed: proves, unpacks and compiles it beside the rule pack, tests them together, and ends.
// It runs outside the server because compiling takes all of a core, and rules of others may take forever.

async function attempt({ rules_folder, samples_folder, feed }: Trial): Promise<TrialAnswer> {
  try {
    const prepared = await prepareFeed(feed);
    const signatures = await loadSignatures({ rules_folder, feeds: [prepared] });
    if (signatures.left_out.length > 0) return { kind: 'refused', sentence: 'It cannot be used by this version of the engine.' };
    const wrong =
      (await selfTest(signatures, samples_folder)) ??
      (prepared.kind === 'yara' ? speedTest(await readFile(prepared.path, 'utf8'), await readPack(rules_folder)) : undefined);
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
// Whoever asked is gone.
process.once('disconnect', () => process.exit(0));
process.on('SIGINT', () => {});
