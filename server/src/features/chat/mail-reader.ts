import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Zone } from './mail-proof.ts';
import type { ReadMail } from './read-mail.ts';

/** Time limit for reading a mail, in ms. */
const READ_MS = 30_000;
const MEMORY_MB = 192;
/** Beside this one, as source and as built. */
const THREAD_FILE = new URL(import.meta.url.endsWith('.ts') ? './mail-thread.ts' : './mail-thread.js', import.meta.url);

const readMailSchema = z.object({
  from: z.string(),
  author_fault: z.enum(['no_author', 'several_authors', 'other_sender']).optional(),
  proof: z.enum(['aligned', 'not_aligned', 'unsure']),
  recipients: z.string(),
  automatic: z.string().optional(),
  text: z.string(),
  has_lost_letters: z.boolean(),
  files: z.array(z.object({ name: z.string(), bytes: z.instanceof(Uint8Array) })),
  left_out: z.number(),
  key: z.string(),
});

/**
 * Options for reading mails. `authserv_id`: the server whose `Authentication-Results` are trusted; `zone`: records in
 * place of the DNS.
 */
export interface ReadingOptions {
  read_ms?: number | undefined;
  authserv_id?: string | undefined;
  zone?: Zone | undefined;
}

/** A mail that could not be read. */
export class UnreadableMail extends Error {
  override name = 'UnreadableMail';
}

/** Reads a mail in a separate thread: one built to take forever delays no other, and one built to exhaust memory ends only its thread. @throws UnreadableMail */
export async function readMailApart(
  raw: Uint8Array,
  { read_ms = READ_MS, authserv_id, zone }: ReadingOptions = {},
): Promise<ReadMail> {
  const thread = new Worker(THREAD_FILE, {
    workerData: { raw, authserv_id, zone },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<ReadMail>((resolve, reject) => {
      timer = setTimeout(() => reject(new UnreadableMail('It took too long to read.')), read_ms);
      thread.once('message', (mail) => {
        const parsed = readMailSchema.safeParse(mail);
        if (parsed.success) resolve({ ...parsed.data, automatic: parsed.data.automatic, author_fault: parsed.data.author_fault });
        else reject(new UnreadableMail(parsed.error.message));
      });
      thread.once('error', (error) => reject(new UnreadableMail(String(error))));
      thread.once('exit', () => reject(new UnreadableMail('It wasn’t fully read.')));
    });
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
