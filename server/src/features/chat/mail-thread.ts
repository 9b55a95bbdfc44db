// The thread that reads one mail: it receives the mail, answers once, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { resolverOf } from './mail-proof.ts';
import { readMail } from './read-mail.ts';

const { raw, authserv_id, zone } = z
  .object({
    raw: z.instanceof(Uint8Array),
    authserv_id: z.string().optional(),
    zone: z.record(z.string(), z.array(z.array(z.string()))).optional(),
  })
  .parse(workerData);
const mail = await readMail(raw, { authserv_id, ...(zone !== undefined && { resolve: resolverOf(zone) }) });
parentPort?.postMessage(mail);
