import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listScans, scanSchema } from '@palisade/contract/antivirus';
import { eventually } from '@palisade/scanner/test/eventually';
import { EICAR, noise, PDF } from '@palisade/scanner/test/files';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { readAnswer, replyOf } from './harness.ts';

import { childrenOf, runServer, type ServerProcess, startServer } from './server-process.ts';
import { listenAs } from './socket.ts';

import { openUpload, scanned } from './upload.ts';

const MIB = 1024 ** 2;

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-process-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('a start that cannot succeed ends with one clear line and exit code 1', () => {
  test('a taken port', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const { code, errors } = await runServer({ DATA_DIR: freshFolder(), PORT: String(port) });
    other.close();
    expect(code).toBe(1);
    expect(errors).toBe(
      `palisade: Port ${port} on 127.0.0.1 is in use. Stop the other program, or set PORT to another port (for example PORT=3001).\n`,
    );
  });

  test('a data folder that cannot be written', async () => {
    const file = join(freshFolder(), 'a-file');
    writeFileSync(file, '');
    const { code, errors } = await runServer({ DATA_DIR: join(file, 'data'), PORT: '0' });
    expect(code).toBe(1);
    expect(errors).toMatch(
      /^palisade: We can’t write to the data folder .* \(\w+\)\. Make it writable, or set DATA_DIR to another folder\.\n$/,
    );
  });

  test('a bad setting', async () => {
    const { code, errors } = await runServer({ PORT: 'many' });
    expect(code).toBe(1);
    expect(errors).toBe('palisade: PORT must be a port number from 0 to 65535 (it is "many").\n');
  });
});

// proves: asvs-16.3.4
test('a server that fails in an unforeseen way ends, says where, and reveals no data', async () => {
  // The address of the program stands in the stack, so it does not hold the word.
  const failing =
    "const wait = setInterval(() => { if (process.listenerCount('SIGTERM') > 0) { clearInterval(wait); " +
    "Promise.reject(Object.assign(new Error('hu' + 'sh'), { code: '23514', detail: 'hu' + 'sh' })); } }, 10);";
  const { code, errors } = await runServer({
    DATA_DIR: freshFolder(),
    PORT: '0',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(failing)}`,
  });
  expect(code).toBe(1);
  expect(errors).toMatch(/"err":\{"type":"Error","code":"23514","stack":\["at /);
  expect(errors).toMatch(/palisade: It ended because of an unexpected error\. /);
  expect(errors).not.toContain('hush');
});

/** The version of the npm on this machine; 9 keeps the signals that it gets to itself. */
const npmMajor = Number(spawnSync('npm', ['--version'], { encoding: 'utf8' }).stdout?.split('.', 1)[0] ?? 0);
if (npmMajor < 10) process.stdout.write('skipped: npm before version 10 passes no signal on to what it runs\n');

describe.runIf(npmMajor >= 10)('npm start', () => {
  const { scripts } = z
    .object({ scripts: z.object({ start: z.string() }) })
    .parse(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')));

  // proves: attack-D.21-1
  test.each<[string, (npm: ChildProcess) => void]>([
    ['SIGTERM to npm', (npm) => npm.kill('SIGTERM')],
    // As the terminal does: to npm and the server, and npm passes its own on.
    ['Ctrl-C', (npm) => process.kill(-(npm.pid ?? 0), 'SIGINT')],
  ])('ends the server, and itself with 0, by %s', async (_, stop) => {
    const folder = freshFolder();
    const start = scripts.start.replace('server/dist/main.js', fileURLToPath(new URL('../src/main.ts', import.meta.url)));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'started', version: '1.0.0', scripts: { start } }));
    const npm = spawn('npm', ['start'], {
      cwd: folder,
      env: {
        PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
        DATA_DIR: join(folder, 'data'),
        PORT: '0',
        SCANNER_URL: 'none',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    onTestFinished(() => {
      try {
        process.kill(-(npm.pid ?? 0), 'SIGKILL');
      } catch {
        // All of it has ended as expected.
      }
    });
    const ended = new Promise<number | null>((resolve) => npm.once('exit', resolve));
    const url = await new Promise<string>((resolve, reject) => {
      let output = '';
      npm.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        const address = /Palisade runs at (\S+)/.exec(output)?.[1];
        if (address !== undefined) resolve(address);
      });
      npm.once('exit', (code) => reject(new Error(`npm start ended with ${code}: ${output}`)));
    });
    stop(npm);
    expect(await ended).toBe(0);
    await expect(fetch(`${url}/api/health`)).rejects.toThrow();
  });
});

const onLinux = process.platform === 'linux';
if (!onLinux) process.stdout.write('skipped: process tests that read /proc need Linux\n');

describe.runIf(onLinux)('a server process', () => {
  const list = async (server: ServerProcess, token: string) =>
    replyOf(
      await readAnswer(
        listScans,
        await fetch(`${server.url}/api/antivirus/scans`, { headers: { authorization: `Bearer ${token}` } }),
      ),
    );
  const ready = (server: ServerProcess) =>
    eventually(async () => expect((await fetch(`${server.url}/api/ready`)).status).toBe(200));

  test('on SIGTERM ends cleanly and takes its engines along', async () => {
    const server = await startServer({ DATA_DIR: freshFolder() });
    await ready(server);
    const engines = childrenOf(server.pid);
    expect(engines.length).toBeGreaterThan(0);
    expect(await server.kill('SIGTERM')).toBe(0);
    for (const pid of engines) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  /** The server has begun to receive an upload: written bytes may still lie in the kernel. */
  const hasBegun = (DATA_DIR: string) => eventually(() => expect(readdirSync(join(DATA_DIR, 'spool'))).not.toEqual([]));

  const status = async (server: ServerProcess, path: string) => (await fetch(`${server.url}/api${path}`)).status;

  // proves: attack-D.21-2
  test('on SIGTERM takes no new requests, says so, and lets an upload finish that takes longer than 5 s', async () => {
    const DATA_DIR = freshFolder();
    const server = await startServer({ DATA_DIR });
    const token = await server.signIn('dora');
    await ready(server);
    const page = await listenAs(server, token);
    const dripping = openUpload(server, token, { name: 'slow.bin' });
    await dripping.write(noise(MIB));
    await hasBegun(DATA_DIR);
    const ended = server.kill('SIGTERM');
    expect(await page.closed).toBe(1001);
    await eventually(async () => expect(await status(server, '/ready')).toBe(503));
    const refused = await fetch(`${server.url}/api/config`);
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await status(server, '/health')).toBe(200);
    for (let second = 0; second < 6; second += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await dripping.write(noise(MIB / 8));
    }
    dripping.finish();
    const { status: answered, body } = await dripping.answer;
    expect([answered, scanSchema.parse(JSON.parse(body)).scan_status]).toEqual([201, 'clean']);
    expect(await ended).toBe(0);
  });

  test('serves on for STOP_NOTICE while it says that it stops, and cuts requests that do not end', async () => {
    const DATA_DIR = freshFolder();
    const server = await startServer({ DATA_DIR, STOP_NOTICE: '1', STOP_DRAIN: '2' });
    const token = await server.signIn('emil');
    await ready(server);
    const hanging = openUpload(server, token, { name: 'hangs.bin' });
    await hanging.write(noise(MIB));
    await hasBegun(DATA_DIR);
    const ended = server.kill('SIGTERM');
    await eventually(async () => expect(await status(server, '/ready')).toBe(503));
    expect(await status(server, '/config')).toBe(200);
    await expect(hanging.answer).rejects.toThrow();
    expect(await ended).toBe(0);
  });

  test('is ended at once by a second signal', async () => {
    const DATA_DIR = freshFolder();
    const server = await startServer({ DATA_DIR });
    const token = await server.signIn('finn');
    await ready(server);
    const hanging = openUpload(server, token, { name: 'hangs.bin' });
    await hanging.write(noise(MIB));
    await hasBegun(DATA_DIR);
    void server.kill('SIGTERM');
    await eventually(async () => expect(await status(server, '/ready')).toBe(503));
    // The same one from npm and from the terminal is one.
    void server.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await status(server, '/ready')).toBe(503);
    expect(await server.kill('SIGTERM')).toBe(1);
  });

  test('killed during a scan and started again has lost nothing and answers nothing false', async () => {
    const DATA_DIR = freshFolder();
    const server = await startServer({ DATA_DIR });
    const token = await server.signIn('anna');
    await ready(server);
    expect((await scanned(server, token, 'before.pdf', PDF)).scan_status).toBe('clean');

    const engines = childrenOf(server.pid);
    for (const pid of engines) process.kill(pid, 'SIGSTOP');
    const uploads = [
      scanned(server, token, 'eicar.com', EICAR),
      // Other bytes than before, or it would be answered from that reading.
      scanned(server, token, 'paper.pdf', Buffer.concat([PDF, Buffer.from('%')])),
      scanned(server, token, 'noise.bin', noise(MIB)),
      scanned(server, token, 'gone.bin', noise(MIB, 2)),
      scanned(server, token, 'shorter.bin', noise(MIB, 3)),
      scanned(server, token, 'changed.bin', noise(MIB, 4)),
    ];
    const cut = openUpload(server, token, { name: 'half.bin' });
    await cut.write(noise(MIB));
    await eventually(async () =>
      expect((await list(server, token)).filter((scan) => scan.status_detail === 'queued')).toHaveLength(6),
    );
    await eventually(() => expect(readdirSync(join(DATA_DIR, 'spool')).filter((name) => name.endsWith('.part'))).toHaveLength(1));
    const ids = new Map((await list(server, token)).map(({ filename, id }) => [filename, id]));
    await Promise.all([server.kill('SIGKILL'), ...uploads.map((upload) => expect(upload).rejects.toThrow())]);
    for (const pid of engines) process.kill(pid, 'SIGKILL');

    // Data that a disk may lose with its power.
    const spooled = (name: string) => join(DATA_DIR, 'spool', ids.get(name) ?? '');
    rmSync(spooled('gone.bin'));
    truncateSync(spooled('shorter.bin'), 1000);
    writeFileSync(spooled('changed.bin'), Buffer.alloc(MIB));

    const again = await startServer({ DATA_DIR });
    await eventually(async () => {
      const records = await list(again, token);
      expect(records.map((scan) => [scan.filename, scan.scan_status, scan.status_detail]).sort()).toEqual([
        ['before.pdf', 'clean', null],
        ['changed.bin', 'pending', 'damaged'],
        ['eicar.com', 'infected', null],
        ['gone.bin', 'pending', 'damaged'],
        ['noise.bin', 'clean', null],
        ['paper.pdf', 'clean', null],
        ['shorter.bin', 'pending', 'damaged'],
      ]);
    });
    // A verdict is stored before the bytes go.
    await eventually(() => expect(readdirSync(join(DATA_DIR, 'spool'))).toEqual([]));
  });

  // proves: asvs-5.2.1
  test('takes a file of 300 MB with less than 64 MB more memory', async () => {
    const server = await startServer({ DATA_DIR: freshFolder() });
    const token = await server.signIn('berta');
    const memory = (field: string) =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024;
    const send = async (bytes: number) => {
      const transfer = openUpload(server, token, { name: 'large.bin' });
      const piece = noise(MIB);
      for (let sent = 0; sent < bytes; sent += piece.length) await transfer.write(piece);
      transfer.finish();
      return scanSchema.parse(JSON.parse((await transfer.answer).body));
    };
    await send(10 * MIB);
    const before = memory('VmRSS');
    // The peak begins anew (proc(5), clear_refs).
    writeFileSync(`/proc/${server.pid}/clear_refs`, '5');
    expect(await send(300 * MIB)).toMatchObject({ scan_status: 'clean', size: 300 * MIB });
    const growth = memory('VmHWM') - before;
    process.stdout.write(`server memory grew by ${(growth / MIB).toFixed(1)} MB during an upload of 300 MB\n`);
    expect(growth).toBeLessThan(64 * MIB);
  });
});
