import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { ReadMail } from './read-mail.ts';

/** A mail that takes longer, or more memory, is not read. */
const READ_MS = 30_000;
const MEMORY_MB = 192;
/** Beside this one, as source and as built. */
const THREAD_FILE = new URL(import.meta.url.endsWith('.ts') ? './mail-thread.ts' : './mail-thread.js', import.meta.url);

const readMailSchema = z.object({
  from: z.string(),
  recipients: z.string(),
  automatic: z.string().optional(),
  text: z.string(),
  files: z.array(z.object({ name: z.string(), bytes: z.instanceof(Uint8Array) })),
  left_out: z.number(),
  key: z.string(),
});

/** A mail that could not be read. */
export class UnreadableMail extends Error {
  override name = 'UnreadableMail';
}

/**
 * Reads a mail in a thread of its own: one that was made to be read for ever holds up nobody, and one that was made to fill the memory ends its thread alone.
 * @throws UnreadableMail
 */
export async function readMailApart(raw: Uint8Array, read_ms = READ_MS): Promise<ReadMail> {
  const thread = new Worker(THREAD_FILE, {
    workerData: raw,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ReadMail>((resolve, reject) => {
      timer = setTimeout(() => reject(new UnreadableMail('It took too long.')), read_ms);
      thread.once('message', (mail) => {
        const parsed = readMailSchema.safeParse(mail);
        if (parsed.success) resolve({ ...parsed.data, automatic: parsed.data.automatic });
        else reject(new UnreadableMail(parsed.error.message));
      });
      thread.once('error', (error) => reject(new UnreadableMail(String(error))));
      thread.once('exit', () => reject(new UnreadableMail('Its reading ended early.')));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
