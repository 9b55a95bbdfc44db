import { type FileHandle, open } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { StatusDetail } from '@palisade/contract/antivirus';
import type { Content } from '#scanner/reading/content.ts';
import type { ScannerAddress } from './scanner-url.ts';

/** Answer of a clamd for a file. Any text other than an exact verdict is `failed`. */
export type ClamdAnswer =
  | { kind: 'clean' }
  | { kind: 'found'; threat: string }
  /** It did not read everything. */
  | { kind: 'limit'; detail: StatusDetail }
  | ClamdFailure;

export interface ClamdFailure {
  kind: 'failed';
  reason: string;
  /** The time was over; it may still be at work. */
  timed_out: boolean;
}

export interface ClamdVersion {
  kind: 'version';
  version: string;
  /** Number of the official database; `custom` when only others are loaded, of which clamd tells nothing. */
  signatures_version: string;
  /** Changes with every official database. */
  text: string;
}

export interface ClamdTimes {
  /** For the connection, in ms. */
  connect_ms: number;
  /** For everything, in ms. */
  time_ms: number;
  signal: AbortSignal;
}

const PIECE_BYTES = 256 * 1024;
/** A verdict is one short line. */
const REPLY_BYTES_MAXIMUM = 4096;

/**
 * A clamd that has enough (StreamMaxLength) says so and closes, whatever is still on its way. Node would take the first failed write for the end of the
 * connection, and what clamd said would never be read: so a failed write ends the sending alone.
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

/** Pieces as INSTREAM wants them: each behind its length, in network order. Valid until the next but one. */
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
      // A verdict on the part of a file would pass for one on the whole.
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

/** One connection: a command, what belongs to it, and the reply up to the end. Never throws. */
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
          // It has spoken, or is gone: what it says, or its silence, is read all the same.
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
    // A reset that comes behind the answer does not take it back.
    socket.once('error', (error) => (reply === '' ? fail(error.message) : finish({ kind: 'reply', reply, sent })));
    socket.once('close', () => fail('the connection was closed'));
    socket.setNoDelay();
    if (times.signal.aborted) abort();
    else socket.connect(address);
  });
}

/** Limits that clamd tells of as if they were malware (AlertExceedsMax), by the end of their names. */
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
  // A clamd that was killed closes like one that is done, without a word.
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
 * Has a complete file scanned by one clamd (INSTREAM). Ours, because npm's `clamscan` answers null on time-outs and hides size errors. `clean` is the exact
 * reply `stream: OK\0` to the whole file, and nothing else.
 */
export async function scanWithClamd(address: ScannerAddress, content: Content, times: ClamdTimes): Promise<ClamdAnswer> {
  const outcome = await exchange(address, 'INSTREAM', content, times);
  return outcome.kind === 'failed' ? outcome : answerOf(outcome.reply, outcome.sent);
}

/** Which clamd is there, with which signatures. */
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
