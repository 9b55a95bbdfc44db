import { createHash } from 'node:crypto';
import type { DeviceEvent, SecondLook } from '@palisade/contract/agent';
import { lineOf } from '#agent/line.ts';
import { type ForeignFile, openForeign } from '#files/foreign.ts';
import { FileRefused } from '#files/timely.ts';
import type { Sent } from '#link/call.ts';
import { createFoundFiles } from './found-files.ts';
import type { Quarantine } from './quarantine.ts';

/** Files that the server asked for are sent to it, one at a time: those that this device has found itself, as long as they are what was found. */
export interface SecondLooks {
  /** Takes what a desired state asks for. What it does not ask for any more is not sent, and not sent on. */
  want(looks: readonly SecondLook[]): void;
  close(): void;
}

/** A file as it is sent: its bytes can be read more than once. */
interface Content {
  size: number;
  read: () => AsyncIterable<Buffer>;
  close: () => Promise<void>;
}

/** A file that is not sent, with the reason. */
class NotSent extends Error {}

/** How often a server that cannot take a file now is asked again, and after how long at first, in ms. */
const TRIES = 6;
const AGAIN_MS = 5_000;
const AGAIN_MOST_MS = 60_000;
/** Answers after which a later try may succeed. */
const LATER = new Set([408, 425, 429, 500, 502, 503, 504, 507]);
const NOT_FOUND_HERE = 'This device has not found such a file, so it was not sent.';
const ANOTHER_FILE = 'The file is not what was found any more, so it was not sent.';
const NOT_READ = 'The file could not be read, so it was not sent.';
const SWITCHED_OFF = 'Files are not sent from this computer: that was switched off on it.';
const REASON_LENGTH = 300;

export function createSecondLooks(parts: {
  quarantine: Pick<Quarantine, 'read'>;
  /** Where what was found is noted. */
  folder: string;
  /** Sends bytes for an order; `read` gives exactly `size` of them, or fails. @throws Error where no answer came */
  send: (order_id: string, file: { size: number; read: () => AsyncIterable<Buffer> }, signal: AbortSignal) => Promise<Sent>;
  /** Whether whoever this computer belongs to lets files be sent. */
  isAllowed: () => boolean;
  happened: (event: DeviceEvent) => void;
  log: (line: string) => void;
  wait: (ms: number) => Promise<void>;
}): SecondLooks {
  const { quarantine, send, isAllowed, happened, log, wait } = parts;
  const found = createFoundFiles(parts.folder);
  /** What is asked for now: no more than a desired state may name. */
  let wanted = new Map<string, SecondLook>();
  /** Of these, what was begun: it is not begun again while it is asked for. */
  let begun = new Set<string>();
  let is_working = false;
  let current: { id: string; abort: AbortController } | undefined;

  /** Where the bytes of a finding are now: sealed, or where they were found. */
  async function openFound({ finding_id, file_hash }: SecondLook): Promise<Content> {
    const record = await found.find(finding_id);
    if (record !== undefined && record.file_hash !== file_hash) throw new NotSent(NOT_FOUND_HERE);
    const sealed = await quarantine.read(finding_id);
    if (sealed !== undefined) return { ...(await measured(sealed, file_hash)), close: () => Promise.resolve() };
    if (record === undefined) throw new NotSent(NOT_FOUND_HERE);
    let file: ForeignFile | undefined;
    try {
      const opened = await openForeign(Buffer.from(record.path, 'base64'));
      file = opened;
      if (opened.stats.size !== BigInt(record.size)) throw new NotSent(ANOTHER_FILE);
      return { ...(await measured(() => opened.chunks(), file_hash)), close: () => opened.close() };
    } catch (error) {
      await file?.close();
      if (error instanceof FileRefused && error.code === 'not_regular') throw new NotSent(ANOTHER_FILE);
      throw error;
    }
  }

  /** Reads all of it once: nothing of another file leaves this computer. */
  async function measured(read: Content['read'], file_hash: string): Promise<Pick<Content, 'size' | 'read'>> {
    const hash = createHash('sha256');
    let size = 0;
    for await (const part of read()) {
      hash.update(part);
      size += part.length;
    }
    if (hash.digest('hex') !== file_hash) throw new NotSent(ANOTHER_FILE);
    return { size, read: () => checked(read(), file_hash, size) };
  }

  /** The same bytes again: what changed meanwhile is broken off before its end, so that no server can take it for whole. */
  async function* checked(bytes: AsyncIterable<Buffer>, file_hash: string, size: number): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    let left = size;
    let last: Buffer | undefined;
    for await (const part of bytes) {
      left -= part.length;
      if (left < 0) throw new NotSent(ANOTHER_FILE);
      hash.update(part);
      if (last !== undefined) yield last;
      // What is read next may overwrite it.
      last = Buffer.from(part);
    }
    if (left !== 0 || hash.digest('hex') !== file_hash) throw new NotSent(ANOTHER_FILE);
    if (last !== undefined) yield last;
  }

  /** Undefined once it was sent, or is not asked for any more; else why it could not be. */
  async function carryOut(look: SecondLook, signal: AbortSignal): Promise<string | undefined> {
    if (!isAllowed()) return SWITCHED_OFF;
    const content = await openFound(look);
    try {
      for (let turn = 1; ; turn += 1) {
        let is_whole = false;
        async function* read() {
          yield* content.read();
          is_whole = true;
        }
        const sent = await send(look.id, { size: content.size, read }, signal).catch((error: unknown): Sent => {
          if (error instanceof NotSent) throw error;
          return { status: 503, detail: error instanceof Error ? error.message : String(error), retry_after_ms: undefined };
        });
        // Whatever became of it: it has left this computer. Once a server has it, it asks for it no more, and its answer is not waited for.
        if (is_whole) log(`the file with the SHA-256 ${look.file_hash} was sent to the server for a second look, as asked for`);
        if (sent.status === 201) return undefined;
        // Nobody asks for it any more, or this device is none.
        if (signal.aborted || sent.status === 404 || sent.status === 401) return undefined;
        if (!LATER.has(sent.status) || turn >= TRIES) return sent.detail || `The server answered ${sent.status}.`;
        await wait(Math.min(AGAIN_MOST_MS, sent.retry_after_ms ?? AGAIN_MS * turn));
        if (signal.aborted) return undefined;
      }
    } finally {
      await content.close();
    }
  }

  async function work(look: SecondLook): Promise<void> {
    const abort = new AbortController();
    current = { id: look.id, abort };
    const reason = await carryOut(look, abort.signal).catch((error: unknown) => {
      if (!(error instanceof NotSent)) log(`a file could not be sent: ${String(error)}`);
      return error instanceof NotSent ? error.message : NOT_READ;
    });
    current = undefined;
    if (reason === undefined || abort.signal.aborted) return;
    happened({ event: 'order_done', order_id: look.id, ok: false, message: lineOf(reason, REASON_LENGTH) });
  }

  /** One after the other, as long as there is one that was not begun. */
  async function workAll(): Promise<void> {
    if (is_working) return;
    is_working = true;
    const next = () => [...wanted.values()].find(({ id }) => !begun.has(id));
    for (let look = next(); look !== undefined; look = next()) {
      begun.add(look.id);
      await work(look).catch((error: unknown) => log(`a second look failed: ${String(error)}`));
    }
    is_working = false;
  }

  return {
    want(looks) {
      wanted = new Map(looks.map((look) => [look.id, look]));
      // What was taken back and is asked for anew has another id.
      begun = new Set([...begun].filter((id) => wanted.has(id)));
      if (current !== undefined && !wanted.has(current.id)) current.abort.abort();
      void workAll();
    },
    close() {
      wanted = new Map();
      current?.abort.abort();
    },
  };
}
