// The thread that checks messages: parsing untrusted text blocks no request, and a check that does not end is ended with the thread.
import { AsyncLocalStorage } from 'node:async_hooks';
import { promises as dns } from 'node:dns';
import { parentPort, workerData } from 'node:worker_threads';
import { isMailboxProvider } from '@palisade/scam/mail-signs';
import { openTextReader } from '@palisade/scam/picture-text';
import { ScamCheck } from '@palisade/scam/scam-check';
import type { Resolve } from '@palisade/scam/surroundings';
import { domainSum } from '@palisade/scanner/domain-list';
import { type HashList, openHashList } from '@palisade/scanner/hash-list';
import { z } from 'zod';
import { readOutlookLetter, readPdf } from './documents.ts';
import { type FromThread, type ThreadSurroundings, type ToThread, toThreadSchema, zoneSchema } from './scam-thread-messages.ts';

const { zone } = z.object({ zone: zoneSchema.optional() }).parse(workerData);
const VERDICTS = z.enum(['infected', 'clean', 'not_checked']);

const send = (message: FromThread) => parentPort?.postMessage(message);

/** Records of a test in place of the DNS. */
function resolveIn(records: z.infer<typeof zoneSchema>): Resolve {
  return (name, type) => {
    const found = records[`${type} ${name.toLowerCase()}`];
    return found === undefined
      ? Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
      : Promise.resolve(found);
  };
}

/** Queried only for people who allow it, and only for signature keys (TXT records). */
const resolve: Resolve = zone === undefined ? (name) => dns.resolveTxt(name) : resolveIn(zone);

const asking = new Map<number, (value: string | undefined) => void>();
let questions = 0;

/** The running check: its requests to the engines carry its number. */
const running = new AsyncLocalStorage<number>();

function scanAttachment(name: string, bytes: Uint8Array): Promise<'infected' | 'clean' | 'not_checked'> {
  questions += 1;
  const id = questions;
  return new Promise((done) => {
    asking.set(id, (value) => done(VERDICTS.catch('not_checked').parse(value)));
    send({ kind: 'ask', id, of: running.getStore() ?? 0, name, bytes });
  });
}

const pictureText = openTextReader();
let opened: { key: string; check: ScamCheck; lists: HashList[] } | undefined;

/** The check with these lists. Files of changed lists are opened again. */
function checkWith(surroundings: ThreadSurroundings): ScamCheck {
  const key = JSON.stringify(surroundings);
  if (opened?.key === key) return opened.check;
  const before = opened;
  const own = new Set(surroundings.dangerous);
  const lists = surroundings.lists.map(({ name, path }) => ({ name, list: openHashList(path) }));
  const { name: provider, domains } = surroundings.provider;
  // The domain of a mail service is not the provider's own.
  const own_domains = domains.filter((domain) => !isMailboxProvider(domain));
  const check = new ScamCheck({
    ...(own_domains.length === 0 ? {} : { provider: { name: provider, domains: own_domains } }),
    trusted: new Set(surroundings.trusted),
    lists: [
      ...lists.map(({ name, list }) => ({ name, has: (entry: string) => list.find(domainSum(entry)) !== undefined })),
      ...(own.size === 0 ? [] : [{ name: provider, has: (entry: string) => own.has(entry) }]),
    ],
    scanAttachment,
    readDocument: (_name, content) => readPdf(content),
    readLetter: (_name, content) => readOutlookLetter(content),
    resolve,
    ...(pictureText === undefined ? {} : { readPictureText: pictureText.read }),
  });
  opened = { key, check, lists: lists.map(({ list }) => list) };
  before?.check.close();
  for (const list of before?.lists ?? []) list.close();
  return check;
}

async function answer({ id, input, person, surroundings }: Extract<ToThread, { kind: 'check' }>): Promise<void> {
  try {
    const check = checkWith(surroundings).forPerson({ trusted: new Set(person.trusted), mayAskDns: person.may_ask_dns });
    const found = await (input.kind === 'text' ? check.checkText(input.text) : check.checkFile(input.name, input.bytes));
    send({ kind: 'answer', id, answer: found });
  } catch (error) {
    send({ kind: 'failed', id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

parentPort?.on('message', (message: unknown) => {
  const parsed = toThreadSchema.parse(message);
  if (parsed.kind === 'told') {
    asking.get(parsed.id)?.(parsed.value);
    asking.delete(parsed.id);
  } else running.run(parsed.id, () => void answer(parsed));
});
