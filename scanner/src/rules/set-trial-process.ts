import { z } from 'zod';
import { selfTest } from './self-test.ts';
import { signatureFilesSchema } from './signature-files.ts';
import { loadSignatures } from './signature-set.ts';

// The main file of a process that tests a downloaded set of signatures and then ends: third-party rules may take all of a core and much memory.

const askedSchema = signatureFilesSchema.extend({ samples_folder: z.string() });

/** Returns what is wrong with a set, in one sentence; null if it passes. */
async function attempt({ samples_folder, ...files }: z.infer<typeof askedSchema>): Promise<string | null> {
  const signatures = await loadSignatures(files);
  if (signatures.left_out.length > 0) return 'A part of it cannot be used by this version of the engine.';
  return (await selfTest(signatures, samples_folder)) ?? null;
}

process.once('message', (message) => {
  attempt(askedSchema.parse(message)).then(
    (wrong) => process.send?.({ wrong }, () => process.exit(0)),
    () => process.exit(1),
  );
});
// The parent process is gone.
process.once('disconnect', () => process.exit(0));
