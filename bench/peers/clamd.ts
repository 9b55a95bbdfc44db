// Peer of scanner.ts and deep-scan.ts: clamd with the shipped clamd.conf and given signatures, without a cache.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from '#bench/server.ts';

export interface BenchClamd {
  /** Of the configuration, for clamdscan. */
  conf: string;
  socket: string;
  stop(): Promise<void>;
}

/** One exchange as plain as it can be: the command, the bytes in one piece, the reply. */
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

/** clamd with the clamd.conf that Palisade ships, these signatures alone, and no memory of what it has seen. */
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
