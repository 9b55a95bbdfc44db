import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { afterFile } from './after-file.ts';

const PYTHON = '/usr/bin/python3';
const SCRIPT = fileURLToPath(new URL('./s3-server.py', import.meta.url));
const ACCOUNT = { accessKeyId: 'palisade:tester', secretAccessKey: 'secret/of+the%tests' };
const BUCKET = 'palisade-tests';

/** Whether there is a server that speaks S3 for the tests: OpenStack Swift of Debian's package python3-swift (scripts/packages.mjs installs it in CI). */
export const HAS_S3_SERVER =
  existsSync(PYTHON) && existsSync('/usr/lib/python3/dist-packages/swift/common/middleware/s3api/__init__.py');
export const NO_S3_SERVER = 'no S3 server on this machine (install the package python3-swift)';

export interface TestS3 {
  /** A STORAGE_URL with a new folder of the bucket. */
  url(changes?: { port?: number; secret?: string; bucket?: string; folder?: string }): string;
  port: number;
  /** Where the server keeps its objects. */
  folder: string;
  freeze(): void;
  thaw(): void;
  /** Ends it as a failing machine does, and starts it again at the same port with its data. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** An S3 server of a test file's own, on loopback and in a temporary folder. */
export async function startS3(): Promise<TestS3> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-s3-'));
  let port = 0;
  let end = () => Promise.resolve();
  let signal = (_name: NodeJS.Signals) => {};
  async function start() {
    const args = [SCRIPT, folder, ACCOUNT.accessKeyId, ACCOUNT.secretAccessKey, BUCKET, String(port)];
    const child = spawnBound(PYTHON, args, { stdout: 'pipe' });
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    signal = (name) => void child.kill(name);
    end = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    port = await new Promise<number>((resolve, reject) => {
      let output = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const said = /listening (\d+)/.exec(output)?.[1];
        if (said !== undefined) resolve(Number(said));
      });
      child.once('exit', (code) => reject(new Error(`the S3 server ended with ${code} before it listened`)));
    });
  }
  await start();
  afterFile(async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    url(changes = {}) {
      const account = `${encodeURIComponent(ACCOUNT.accessKeyId)}:${encodeURIComponent(changes.secret ?? ACCOUNT.secretAccessKey)}`;
      const place = `${changes.bucket ?? BUCKET}/${changes.folder ?? `test-${randomBytes(6).toString('hex')}`}`;
      return `s3://${account}@127.0.0.1:${changes.port ?? port}/${place}?region=us-east-1&tls=0`;
    },
    get port() {
      return port;
    },
    folder,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    stop: () => end(),
    start,
  };
}

/** Faults of a call on its way to the store. */
export type Fault =
  | { kind: 'answer'; status: number; code?: string }
  /** The connection ends when so many bytes of the call's body, or of the answer's, have gone by. */
  | { kind: 'cut_body'; after: number }
  | { kind: 'cut_answer'; after: number }
  /** The connection falls silent after so many bytes of the answer's body. */
  | { kind: 'hang'; after: number }
  /** One bit of the answer's body is another one. */
  | { kind: 'flip'; at: number };

/** A way to the store on which each call may meet a fault: `next` is asked for each. */
export async function startFaults(
  to_port: number,
): Promise<{ port: number; calls: string[]; next: (fault: () => Fault | undefined) => void }> {
  let choose: () => Fault | undefined = () => undefined;
  const calls: string[] = [];
  const server = createServer((near, answer) => {
    const fault = choose();
    calls.push(`${near.method} ${near.headers.range ?? ''}`.trim());
    near.on('error', () => {});
    answer.on('error', () => {});
    if (fault?.kind === 'answer') {
      near.resume();
      answer.writeHead(fault.status, { 'content-type': 'application/xml' });
      answer.end(`<Error><Code>${fault.code ?? 'InternalError'}</Code></Error>`);
      return;
    }
    const far = request({
      host: '127.0.0.1',
      port: to_port,
      path: near.url,
      method: near.method,
      headers: near.headers,
      setHost: false,
    });
    far.on('error', () => near.socket.destroy());
    let sent = 0;
    near.on('data', (chunk: Buffer) => {
      sent += chunk.length;
      if (fault?.kind === 'cut_body' && sent > fault.after) {
        near.socket.destroy();
        far.destroy();
      } else if (!far.write(chunk)) {
        near.pause();
        far.once('drain', () => near.resume());
      }
    });
    near.on('end', () => far.end());
    far.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 0, response.headers);
      let given = 0;
      response.on('data', (bytes: Buffer) => {
        const chunk = Buffer.from(bytes);
        const before = given;
        given += chunk.length;
        if (fault?.kind === 'cut_answer' && given > fault.after) {
          answer.write(chunk.subarray(0, fault.after - before), () => near.socket.destroy());
          response.destroy();
          return;
        }
        if (fault?.kind === 'hang' && given > fault.after) {
          response.pause();
          return;
        }
        if (fault?.kind === 'flip' && fault.at >= before && fault.at < given)
          chunk[fault.at - before] = (chunk[fault.at - before] ?? 0) ^ 1;
        if (!answer.write(chunk)) {
          response.pause();
          answer.once('drain', () => response.resume());
        }
      });
      response.on('end', () => answer.end());
      response.on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the way to the store has no port');
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    port: address.port,
    calls,
    next(fault) {
      choose = fault;
      calls.length = 0;
    },
  };
}
