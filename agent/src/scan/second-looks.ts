import { createHash } from 'node:crypto';
import type { DeviceEvent, SecondLook } from '@palisade/contract/agent';
import { lineOf } from '#agent/line.ts';
import { type ForeignFile, openForeign } from '#files/foreign.ts';
import { FileRefused } from '#files/timely.ts';
import type { Sent } from '#link/call.ts';
import { createFoundFiles, type FoundFiles } from './found-files.ts';
import type { Quarantine } from './quarantine.ts';

/** The content of a file to send. Its bytes can be read more than once. */
interface Content {
  size: number;
  read: () => AsyncIterable<Buffer>;
  close: () => Promise<void>;
}

/** Error: the file is not sent; the message is the reason. */
class NotSent extends Error {}

/** Attempts for a file that the server cannot accept now. The delays between them begin at `AGAIN_MS`, in ms. */
const TRIES = 6;
const AGAIN_MS = 5_000;
const AGAIN_MOST_MS = 60_000;
/** HTTP statuses after which a retry may succeed. */
const LATER = new Set([408, 425, 429, 500, 502, 503, 504, 507]);
const NOT_FOUND_HERE = 'This device has not found such a file, so it was not sent.';
const ANOTHER_FILE = 'The file is not what was found any more, so it was not sent.';
const NOT_READ = 'The file could not be read, so it was not sent.';
const SWITCHED_OFF = 'Files are not sent from this computer: that was switched off on it.';
const REASON_LENGTH = 300;

export interface SecondLooksParts {
  quarantine: Pick<Quarantine, 'read'>;
  /** Folder of the records of findings. */
  folder: string;
  /** Uploads a file for an order; `read` yields exactly `size` bytes or throws. @throws Error without a response */
  send: (order_id: string, file: { size: number; read: () => AsyncIterable<Buffer> }, signal: AbortSignal) => Promise<Sent>;
  /** Whether the owner of this computer allows sending files. */
  isAllowed: () => boolean;
  happened: (event: DeviceEvent) => void;
  log: (line: string) => void;
  wait: (ms: number) => Promise<void>;
}

/** Reads the whole file and checks its hash before the first byte is sent, so that no other file leaves this computer. */
async function checkedContent(read: Content['read'], file_hash: string): Promise<Pick<Content, 'size' | 'read'>> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const part of read()) {
    hash.update(part);
    size += part.length;
  }
  if (hash.digest('hex') !== file_hash) throw new NotSent(ANOTHER_FILE);
  return { size, read: () => checked(read(), file_hash, size) };
}

/** Yields the bytes and checks them again. If they have changed, it throws before the last chunk, so that the upload stays incomplete. */
async function* checked(bytes: AsyncIterable<Buffer>, file_hash: string, size: number): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let left = size;
  let last: Buffer | undefined;
  for await (const part of bytes) {
    left -= part.length;
    if (left < 0) throw new NotSent(ANOTHER_FILE);
    hash.update(part);
    if (last !== undefined) yield last;
    // The next read may overwrite the buffer.
    last = Buffer.from(part);
  }
  if (left !== 0 || hash.digest('hex') !== file_hash) throw new NotSent(ANOTHER_FILE);
  if (last !== undefined) yield last;
}

/** Sends requested files to the server, one at a time: only files that this device has found, and only unchanged ones. */
export class SecondLooks {
  readonly #parts: SecondLooksParts;
  readonly #found: FoundFiles;
  /** Current requests of the server; the contract limits their number. */
  #wanted = new Map<string, SecondLook>();
  /** Ids of requests that have begun, so that each begins once. */
  #begun = new Set<string>();
  #is_working = false;
  #current: { id: string; abort: AbortController } | undefined;

  constructor(parts: SecondLooksParts) {
    this.#parts = parts;
    this.#found = createFoundFiles(parts.folder);
  }

  /** Applies the requests of a desired state. Withdrawn requests are dropped or aborted. */
  want(looks: readonly SecondLook[]): void {
    this.#wanted = new Map(looks.map((look) => [look.id, look]));
    // A request that is withdrawn and made again has a new id.
    this.#begun = new Set([...this.#begun].filter((id) => this.#wanted.has(id)));
    if (this.#current !== undefined && !this.#wanted.has(this.#current.id)) this.#current.abort.abort();
    void this.#workAll();
  }

  close(): void {
    this.#wanted = new Map();
    this.#current?.abort.abort();
  }

  /** Carries out the requests in sequence until all have begun. */
  async #workAll(): Promise<void> {
    if (this.#is_working) return;
    this.#is_working = true;
    const next = () => [...this.#wanted.values()].find(({ id }) => !this.#begun.has(id));
    for (let look = next(); look !== undefined; look = next()) {
      this.#begun.add(look.id);
      await this.#work(look).catch((error: unknown) => this.#parts.log(`a second look failed: ${String(error)}`));
    }
    this.#is_working = false;
  }

  async #work(look: SecondLook): Promise<void> {
    const abort = new AbortController();
    this.#current = { id: look.id, abort };
    const reason = await this.#carryOut(look, abort.signal).catch((error: unknown) => {
      if (!(error instanceof NotSent)) this.#parts.log(`a file could not be sent: ${String(error)}`);
      return error instanceof NotSent ? error.message : NOT_READ;
    });
    this.#current = undefined;
    if (reason === undefined || abort.signal.aborted) return;
    this.#parts.happened({ event: 'order_done', order_id: look.id, ok: false, message: lineOf(reason, REASON_LENGTH) });
  }

  /** @returns the reason why the file could not be sent; undefined if it was sent or is no longer requested */
  async #carryOut(look: SecondLook, signal: AbortSignal): Promise<string | undefined> {
    if (!this.#parts.isAllowed()) return SWITCHED_OFF;
    const content = await this.#open(look);
    try {
      for (let turn = 1; ; turn += 1) {
        const sent = await this.#sendOnce(look, content, signal);
        if (sent.status === 201) return undefined;
        // The request was withdrawn, or the device is revoked.
        if (signal.aborted || sent.status === 404 || sent.status === 401) return undefined;
        if (!LATER.has(sent.status) || turn >= TRIES) return sent.detail || `The server answered ${sent.status}.`;
        await this.#parts.wait(Math.min(AGAIN_MOST_MS, sent.retry_after_ms ?? AGAIN_MS * turn));
        if (signal.aborted) return undefined;
      }
    } finally {
      await content.close();
    }
  }

  async #sendOnce({ id, file_hash }: SecondLook, content: Content, signal: AbortSignal): Promise<Sent> {
    let is_whole = false;
    async function* read() {
      yield* content.read();
      is_whole = true;
    }
    const sent = await this.#parts.send(id, { size: content.size, read }, signal).catch((error: unknown): Sent => {
      if (error instanceof NotSent) throw error;
      return { status: 503, detail: error instanceof Error ? error.message : String(error), retry_after_ms: undefined };
    });
    // The file has left this computer whatever the response is. The server may end the request before it responds.
    if (is_whole)
      this.#parts.log(`the file with the SHA-256 ${file_hash} was sent to the server for a second look, as asked for`);
    return sent;
  }

  /** The bytes of a finding, from the quarantine or from the path where it was found. */
  async #open({ finding_id, file_hash }: SecondLook): Promise<Content> {
    const record = await this.#found.find(finding_id);
    if (record !== undefined && record.file_hash !== file_hash) throw new NotSent(NOT_FOUND_HERE);
    const sealed = await this.#parts.quarantine.read(finding_id);
    if (sealed !== undefined) return { ...(await checkedContent(sealed, file_hash)), close: () => Promise.resolve() };
    if (record === undefined) throw new NotSent(NOT_FOUND_HERE);
    let file: ForeignFile | undefined;
    try {
      const opened = await openForeign(Buffer.from(record.path, 'base64'));
      file = opened;
      if (opened.stats.size !== BigInt(record.size)) throw new NotSent(ANOTHER_FILE);
      return { ...(await checkedContent(() => opened.chunks(), file_hash)), close: () => opened.close() };
    } catch (error) {
      await file?.close();
      if (error instanceof FileRefused && error.code === 'not_regular') throw new NotSent(ANOTHER_FILE);
      throw error;
    }
  }
}
