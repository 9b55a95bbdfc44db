// The thread that one mail is read in. It is given the mail, answers once, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { readMail } from './read-mail.ts';

const mail = await readMail(z.instanceof(Uint8Array).parse(workerData));
parentPort?.postMessage(mail);
