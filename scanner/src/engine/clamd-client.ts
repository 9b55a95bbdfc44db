import { type FileHandle, open } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { StatusDetail } from '@palisade/contract/antivirus';
import type { Content } from '#scanner/reading/content.ts';
import type { ScannerAddress } from './scanner-url.ts';

/** Answer of a clamd for a file. Any text other than an exact verdict is `failed`. */
export type ClamdAnswer =
  | { kind: 'clean' }
  | { kind: 'found'; threat: string }
  /** It did not read the whole file. */
  | { kind: 'limit'; detail: StatusDetail }
  | ClamdFailure;

export interface ClamdFailure {
  kind: 'failed';
  reason: string;
  /** Time ran out; it may still be working. */
  timed_out: boolean;
}

export interface ClamdVersion {
  kind: 'version';
  version: string;
  /** Version of the official database; `custom` if only others are loaded, which clamd does not report. */
  signatures_version: string;
  /** Changes with every official database. */
  text: string;
}

export interface ClamdTimes {
  /** Time limit of connecting, in ms. */
  connect_ms: number;
  /** Time limit of the whole call, in ms. */
  time_ms: number;
  signal: AbortSignal;
}

const PIECE_BYTES = 256 * 1024;
/** A verdict is one short line. */
const REPLY_BYTES_MAXIMUM = 4096;

/**
 * When clamd's StreamMaxLength is reached, it replies and closes while data is still being sent. Node would treat the first failed write as the end of the connection, and
 * the reply would be lost: so a failed write only stops sending.
 */
class PatientSocket extends Socket {
  mayWrite = true;

  private readonly after = (callback: (error?: Error | null) => void) => (error?: Error | null) => {
    if (error) this.mayWrite = false;
    callback();
  };

  override _write(chunk: unknown, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    super._write(chunk, encoding, this.after(callback));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], callback: (error?: Error | null) => void): void {
    super._writev?.(chunks, this.after(callback));
  }
}

const written = (socket: Socket, bytes: Buffer) => new Promise<void>((resolve) => socket.write(bytes, () => resolve()));

/** Chunks for INSTREAM: each preceded by its length in network order. Each is valid until the next but one. */
async function* piecesOf(content: Content): AsyncGenerator<Buffer> {
  const buffers = [Buffer.allocUnsafe(4 + PIECE_BYTES), Buffer.allocUnsafe(4 + PIECE_BYTES)] as const;
  const file: FileHandle | undefined = 'path' in content ? await open(content.path) : undefined;
  try {
    for (let at = 0, turn = 0; at < content.size; turn += 1) {
      const buffer = buffers[turn % 2 === 0 ? 0 : 1];
      const most = Math.min(PIECE_BYTES, content.size - at);
      const bytes =
        'bytes' in content
          ? content.bytes.copy(buffer, 4, at, at + most)
          : ((await file?.read(buffer, 4, most, at))?.bytesRead ?? 0);
      // A verdict on part of a file would be mistaken for one on the whole.
      if (bytes === 0) throw new Error('the file is shorter than it was');
      buffer.writeUInt32BE(bytes);
      yield buffer.subarray(0, 4 + bytes);
      at += bytes;
    }
  } finally {
    await file?.close();
  }
}

type Exchange = { kind: 'reply'; reply: string; sent: boolean } | ClamdFailure;

/** One connection: sends a command with its data, and reads the reply to the end. Never throws. */
function exchange(address: ScannerAddress, command: string, content: Content | undefined, times: ClamdTimes): Promise<Exchange> {
  return new Promise((resolve) => {
    const socket = new PatientSocket();
    let reply = '';
    let sent = false;
    const finish = (outcome: Exchange) => {
      clearTimeout(overall);
      clearTimeout(connecting);
      times.signal.removeEventListener('abort', abort);
      socket.destroy();
      resolve(outcome);
    };
    const fail = (reason: string, timed_out = false) => finish({ kind: 'failed', reason, timed_out });
    const abort = () => fail('stopped');
    const overall = setTimeout(() => fail(`no answer within ${times.time_ms} ms`, true), times.time_ms);
    const connecting = setTimeout(() => fail(`no connection within ${times.connect_ms} ms`), times.connect_ms);
    times.signal.addEventListener('abort', abort);

    async function send(): Promise<void> {
      let before = written(socket, Buffer.from(`z${command}\0`));
      if (content !== undefined) {
        for await (const piece of piecesOf(content)) {
          await before;
          // It has replied or disconnected: stop sending, and read whatever reply there is.
          if (reply !== '' || !socket.mayWrite || socket.destroyed) return;
          before = written(socket, piece);
        }
        await before;
        before = written(socket, Buffer.alloc(4));
      }
      await before;
      sent = socket.mayWrite;
    }

    socket.once('connect', () => {
      clearTimeout(connecting);
      send().catch((error: unknown) => fail(error instanceof Error ? error.message : String(error)));
    });
    socket.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1');
      if (reply.length > REPLY_BYTES_MAXIMUM) fail('an answer without an end');
    });
    socket.once('end', () => finish({ kind: 'reply', reply, sent }));
    // A reset after the reply does not invalidate it.
    socket.once('error', (error) => (reply === '' ? fail(error.message) : finish({ kind: 'reply', reply, sent })));
    socket.once('close', () => fail('the connection was closed'));
    socket.setNoDelay();
    if (times.signal.aborted) abort();
    else socket.connect(address);
  });
}

/** Limits that clamd reports as detections (AlertExceedsMax), by the suffix of their names. */
const LIMITS: Record<string, StatusDetail> = {
  MaxRecursion: 'depth',
  MaxFiles: 'too_many_members',
  MaxScanTime: 'time_limit',
};

function limitOf(name: string): StatusDetail | undefined {
  if (name.startsWith('Heuristics.Encrypted')) return 'encrypted';
  if (!name.startsWith('Heuristics.Limits')) return undefined;
  return LIMITS[name.split('.').at(-1) ?? ''] ?? 'too_large';
}

function answerOf(reply: string, sent: boolean): ClamdAnswer {
  const fail = (reason: string): ClamdAnswer => ({ kind: 'failed', reason, timed_out: false });
  // A killed clamd closes the connection without a reply, like a finished one.
  if (reply === '') return fail('closed without an answer');
  if (reply === 'INSTREAM size limit exceeded. ERROR\0') return { kind: 'limit', detail: 'too_large' };
  if (!sent) return fail('answered before it had the whole file');
  if (reply === 'stream: OK\0') return { kind: 'clean' };
  const threat = /^stream: ([\x21-\x7e]{1,200}) FOUND\0$/.exec(reply)?.[1];
  if (threat === undefined) return fail(`answered ${JSON.stringify(reply.slice(0, 200))}`);
  const detail = limitOf(threat);
  return detail === undefined ? { kind: 'found', threat } : { kind: 'limit', detail };
}

/**
 * Scans a complete file with one clamd (INSTREAM). Own client, because npm's `clamscan` returns null on time-outs and hides size errors. `clean` means exactly the reply
 * `stream: OK\0` to the whole file.
 */
export async function scanWithClamd(address: ScannerAddress, content: Content, times: ClamdTimes): Promise<ClamdAnswer> {
  const outcome = await exchange(address, 'INSTREAM', content, times);
  return outcome.kind === 'failed' ? outcome : answerOf(outcome.reply, outcome.sent);
}

/** Asks a clamd for its version and signatures. */
export async function clamdVersion(address: ScannerAddress, times: ClamdTimes): Promise<ClamdVersion | ClamdFailure> {
  const outcome = await exchange(address, 'VERSION', undefined, times);
  if (outcome.kind === 'failed') return outcome;
  // `ClamAV 1.4.6/27500/Fri Nov 20 08:26:50 2026`; without an official database `ClamAV 1.4.6`.
  const [, version, signatures] = /^ClamAV ([\w.+~-]{1,50})(?:\/(\d{1,10})\/[\x20-\x7e]{1,50})?\0$/.exec(outcome.reply) ?? [];
  if (version === undefined) {
    return { kind: 'failed', reason: `is no clamd: it says ${JSON.stringify(outcome.reply.slice(0, 200))}`, timed_out: false };
  }
  return { kind: 'version', version, signatures_version: signatures ?? 'custom', text: outcome.reply.replaceAll('\0', '') };
}
