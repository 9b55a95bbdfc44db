import { createServer, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { ScannerAddress } from '#scanner/engine/scanner-url.ts';
import { EICAR } from './files.ts';

/** Action of the double for a file that begins with `misbehave:` and one of these. */
export const MISBEHAVIOURS = {
  /** At the end of the file. */
  empty: (socket) => socket.end(),
  partial: (socket) => socket.end('stream: O'),
  'cut before its NUL': (socket) => socket.end('stream: OK'),
  'newline for NUL': (socket) => socket.end('stream: OK\n'),
  twice: (socket) => socket.end('stream: OK\0stream: OK\0'),
  'found without a name': (socket) => socket.end('stream:  FOUND\0'),
  garbage: (socket) => socket.end(Buffer.from([0, 255, 1, 254, 0])),
  error: (socket) => socket.end("stream: Can't allocate memory ERROR\0"),
  'other case': (socket) => socket.end('stream: ok\0'),
  endless: (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write('stream: OK '.repeat(500)));
    };
    socket.on('drain', more);
    more();
  },
  reset: (socket) => socket.resetAndDestroy(),
  silent: () => {},
} satisfies Record<string, (socket: Socket) => void>;

/** The same at its beginning, while it is still being sent. */
const IN_MIDSTREAM: Record<string, (socket: Socket) => void> = {
  'early OK': (socket) => socket.end('stream: OK\0'),
  'early reset': (socket) => socket.resetAndDestroy(),
  'early end': (socket) => socket.destroy(),
  /** As clamd does: says why, and closes while bytes are still coming. */
  oversize: (socket) => socket.write('INSTREAM size limit exceeded. ERROR\0', () => socket.destroy()),
};

export interface ClamdDouble {
  address: ScannerAddress;
  url: string;
  /** Its answer to VERSION. */
  version: string;
  /** Debian's defaults: OK for unread files. */
  fails_open: boolean;
  /** EICAR is not among its signatures. */
  knows_nothing: boolean;
  /** No file makes it misbehave any more. */
  cured: boolean;
  /** Files it has been given, self-tests among them. */
  streams: number;
  down(): Promise<void>;
  up(): Promise<void>;
}

const MARKER = 'only-clamd-knows-this';
/** A file in which clamd alone finds something, double and real one alike. */
export const CLAMD_ONLY = Buffer.from(`a text that holds ${MARKER}`);
/** Its name there. */
export const CLAMD_ONLY_THREAT = 'Palisade.Clamd-Only.UNOFFICIAL';
/** The signatures of the real one. */
export const CLAMD_SIGNATURES = [
  `Eicar-Test-Signature:0:*:${EICAR.toString('hex')}`,
  `Palisade.Clamd-Only:0:*:${Buffer.from(MARKER).toString('hex')}`,
  '',
].join('\n');

const LEVELS = 16;

/** A clamd's verdict, for the few formats that the tests hold against the real one. */
function verdictOn(bytes: Buffer, double: ClamdDouble): string {
  let content = bytes;
  for (let level = 0; content.length > 2 && content.readUInt16BE(0) === 0x1f8b; level += 1) {
    if (level === LEVELS) return double.fails_open ? 'OK' : 'Heuristics.Limits.Exceeded.MaxRecursion FOUND';
    content = gunzipSync(content);
  }
  if (content.includes(EICAR) && !double.knows_nothing) return 'Eicar-Test-Signature.UNOFFICIAL FOUND';
  if (content.includes(MARKER)) return `${CLAMD_ONLY_THREAT} FOUND`;
  const encrypted = content.toString('latin1', 0, 4) === 'PK\x03\x04' && (content.readUInt16LE(6) & 1) === 1;
  return encrypted && !double.fails_open ? 'Heuristics.Encrypted.Zip FOUND' : 'OK';
}

/** A clamd that can misbehave, on a port of its own until the test, or all tests of the file, are over. It shares the conformance test of the real one. */
export async function startClamdDouble(
  dispose: (end: () => Promise<void>) => void = onTestFinished,
  options: { stream_maximum?: number } = {},
): Promise<ClamdDouble> {
  const { stream_maximum = 64 * 1024 ** 2 } = options;
  const sockets = new Set<Socket>();

  function onStream(socket: Socket, received: Buffer): void {
    double.streams += 1;
    const pieces: Buffer[] = [];
    let size = 0;
    let rest = received;
    let over = false;
    const read = (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      while (!over && rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
        const length = rest.readUInt32BE(0);
        pieces.push(rest.subarray(4, 4 + length));
        size += length;
        rest = rest.subarray(4 + length);
        const asked = double.cured ? '' : (/^misbehave:([\w ]+)/.exec(pieces[0]?.toString('latin1', 0, 100) ?? '')?.[1] ?? '');
        const early = size > stream_maximum ? IN_MIDSTREAM['oversize'] : IN_MIDSTREAM[asked];
        over = early !== undefined || length === 0;
        if (early !== undefined) return void early(socket);
        if (length === 0) {
          const late = Object.entries(MISBEHAVIOURS).find(([name]) => name === asked)?.[1];
          if (late) late(socket);
          else socket.end(`stream: ${verdictOn(Buffer.concat(pieces), double)}\0`);
        }
      }
    };
    socket.on('data', read);
    read(Buffer.alloc(0));
  }

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let head = Buffer.alloc(0);
    const onHead = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(0);
      if (end < 0) return;
      socket.off('data', onHead);
      const command = head.toString('latin1', 0, end);
      if (command === 'zVERSION') socket.end(`${double.version}\0`);
      else if (command === 'zINSTREAM') onStream(socket, head.subarray(end + 1));
      else socket.end('UNKNOWN COMMAND\0');
    };
    socket.on('data', onHead);
  });
  let port = 0;
  const up = async () => {
    if (server.listening) return;
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const bound = server.address();
    port = bound !== null && typeof bound === 'object' ? bound.port : port;
  };
  const down = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await up();
  dispose(down);
  const double: ClamdDouble = {
    address: { host: '127.0.0.1', port },
    url: `clamd://127.0.0.1:${port}`,
    version: 'ClamAV 1.4.6/27500/Fri Nov 20 08:26:50 2026',
    fails_open: false,
    knows_nothing: false,
    cured: false,
    streams: 0,
    down,
    up,
  };
  return double;
}
