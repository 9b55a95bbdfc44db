import { Worker } from 'node:worker_threads';
import { logoSizeSchema } from '@palisade/contract/brand';
import { LOGO_BYTES_MAXIMUM, LOGO_SIDE_MAXIMUM } from '@palisade/contract/setup';
import { z } from 'zod';
import { refuse, refuseField } from './setup.refusals.ts';

/** Time limit for reading a picture, in ms. */
const READ_MS = 10_000;
const MEMORY_MB = 256;
/** Beside this one, as source and as built. */
const THREAD_FILE = new URL(import.meta.url.endsWith('.ts') ? './logo-thread.ts' : './logo-thread.js', import.meta.url);

/** The pixels of a logo as a new PNG, with the backgrounds on which it can be seen; or why there is none. */
const readLogoSchema = z.union([
  z.object({ fault: z.enum(['not_png', 'too_many_bytes', 'animated', 'damaged', 'blank']) }),
  z.object({ fault: z.literal('too_wide'), width: z.int(), height: z.int() }),
  logoSizeSchema.extend({ png: z.instanceof(Uint8Array) }),
]);
export type ReadLogo = z.infer<typeof readLogoSchema>;
type Logo = Extract<ReadLogo, { png: unknown }>;

function refusalOf(read: Exclude<ReadLogo, Logo>, field: string): Error {
  if (read.fault === 'too_many_bytes') return refuseField(field, 'logo.too_many_bytes', { maximum: LOGO_BYTES_MAXIMUM });
  if (read.fault !== 'too_wide') return refuseField(field, `logo.${read.fault}`);
  return refuseField(field, 'logo.too_wide', { width: read.width, height: read.height, maximum: LOGO_SIDE_MAXIMUM });
}

let isReading = false;

/**
 * Reads a logo in a separate thread, one at a time, so that a large one delays no other request. @throws Problem `invalid_field` for `field`, or `unavailable` while another
 * one is being read.
 */
export async function readLogoApart(file: Uint8Array, field: string): Promise<Logo> {
  if (isReading) throw refuse('logo.busy', {}, { retry_after: 1 });
  isReading = true;
  const thread = new Worker(THREAD_FILE, { workerData: file, resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB } });
  let timer: NodeJS.Timeout | undefined;
  try {
    const read = await new Promise<ReadLogo>((resolve) => {
      const giveUp = () => resolve({ fault: 'damaged' });
      timer = setTimeout(giveUp, READ_MS);
      thread.once('message', (message) => resolve(readLogoSchema.parse(message)));
      thread.once('error', giveUp);
      thread.once('exit', giveUp);
    });
    if ('fault' in read) throw refusalOf(read, field);
    return read;
  } finally {
    clearTimeout(timer);
    isReading = false;
    await thread.terminate();
  }
}
