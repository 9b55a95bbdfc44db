// Peer of scanner.ts and deep-scan.ts: clamd.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from '#bench/server.ts';

export interface BenchClamd {
  /** Path of the configuration file, for clamdscan. */
  conf: string;
  socket: string;
  stop(): Promise<void>;
}

/** A minimal INSTREAM scan: sends the command and the bytes in one chunk, and returns the reply. */
export function rawInstream(socket: string, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    let reply = '';
    const connection = connect(socket, () => {
      connection.write(Buffer.concat([Buffer.from('zINSTREAM\0'), length, bytes, Buffer.alloc(4)]));
    });
    connection.on('data', (chunk: Buffer) => {
      reply += chunk.toString('latin1');
    });
    connection.once('end', () => resolve(reply));
    connection.once('error', reject);
  });
}

async function listening(socket: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error('clamd did not start. Install the package "clamav-daemon".');
    try {
      await rawInstream(socket, Buffer.from('hello'));
      return;
    } catch {
      await pause(50);
    }
  }
}

/** Starts clamd with the clamd.conf that Palisade ships, only these signatures, and without its cache. */
export async function startClamd(signatures: Record<string, string>): Promise<BenchClamd> {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-bench-clamd-'));
  const database = join(folder, 'signatures');
  mkdirSync(database);
  for (const [name, lines] of Object.entries(signatures)) writeFileSync(join(database, name), lines);
  const socket = join(folder, 'socket');
  const own: Record<string, string> = {
    LocalSocket: socket,
    DatabaseDirectory: database,
    TemporaryDirectory: folder,
    LogFile: join(folder, 'log'),
    Foreground: 'yes',
    DisableCache: 'yes',
  };
  const shipped = readFileSync(join(ROOT, 'server/clamd/clamd.conf'), 'utf8').split('\n');
  const kept = shipped.filter((line) => !['User', ...Object.keys(own)].includes(line.split(' ')[0] ?? ''));
  const conf = join(folder, 'clamd.conf');
  writeFileSync(conf, [...kept, ...Object.entries(own).map(([name, value]) => `${name} ${value}`), ''].join('\n'));
  const child = spawn('/usr/sbin/clamd', ['-c', conf], { stdio: 'ignore' });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  await listening(socket, child);
  return {
    conf,
    socket,
    async stop() {
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
