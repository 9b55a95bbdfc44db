// The thread that reads one logo: it receives the file, answers once, and ends.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { readLogo } from './logo-picture.ts';

parentPort?.postMessage(readLogo(z.instanceof(Uint8Array).parse(workerData)));
