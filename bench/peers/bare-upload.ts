// Peer of scanner.ts: the least possible upload with a verdict. `node:http`, the bytes and their hash, our rules in the same process, and one shared sync of the file that they are appended to.
// No people, limits, records or unpacking. Our server cannot be faster on the same machine.
import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ROOT } from '#bench/server.ts';

const [port = '0', kept = ''] = process.argv.slice(2);

type Match = (bytes: Buffer) => { verdict: string }[];
type Load = (files: { rules_folder: string; feeds: [] }) => Promise<{ match: Match }>;
const isLoad = (value: unknown): value is Load => typeof value === 'function';
const loaded: unknown = await import(pathToFileURL(join(ROOT, 'scanner/src/rules/signature-set.ts')).href);
const { loadSignatures } = z.object({ loadSignatures: z.custom<Load>(isLoad) }).parse(loaded);
const { match } = await loadSignatures({ rules_folder: join(ROOT, 'server/signatures/rules'), feeds: [] });

const file = await open(kept, 'a');
let running: Promise<void> | undefined;
let next: Promise<void> | undefined;

function begin(): Promise<void> {
  next = undefined;
  const mine = file.datasync().finally(() => {
    running = undefined;
  });
  running = mine;
  return mine;
}

/** Ends after a sync that began when it was called. */
function onDisk(): Promise<void> {
  if (running === undefined) return begin();
  next ??= running.then(begin);
  return next;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  await new Promise((resolve) => request.once('end', resolve));
  return Buffer.concat(pieces);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const boundary = body.subarray(0, body.indexOf('\r\n'));
  const start = body.indexOf('\r\n\r\n') + 4;
  const bytes = body.subarray(start, body.indexOf(`\r\n${boundary}`, start));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const is_infected = match(bytes).some(({ verdict }) => verdict === 'infected');
  await file.appendFile(Buffer.concat([Buffer.from(sha256), bytes]));
  await onDisk();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ success: true, data: { result: [{ is_infected, sha256 }] } }));
}

createServer((request, response) => void answer(request, response)).listen(Number(port), '127.0.0.1');
