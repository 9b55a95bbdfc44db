import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FILES_HAVE_THIS_CLOCK, filesHaveThisClock, needing } from '@palisade/scanner/test/needs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type HomeTakenError, takeHome } from './home.ts';
import { newId } from './id.ts';

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'palisade-home-'));
  return folder;
}

const take = (folder: string, onLost: (error: HomeTakenError) => void = () => {}) => takeHome({ folder, onLost });
const holderOf = (folder: string) =>
  z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(folder, 'server.json'), 'utf8')));
const BOOT_OF_ANOTHER = '7f1c6c3e-0000-4000-8000-000000000000';

/** A folder as a killed server left it, with the given changes. */
function left(otherwise: Record<string, unknown> = {}): string {
  const folder = freshFolder();
  const home = take(folder);
  const holder = { ...holderOf(folder), run: newId(), ...otherwise };
  home.release();
  writeFileSync(join(folder, 'server.json'), JSON.stringify(holder));
  return folder;
}

describe('a data folder', () => {
  test('has an id that stays, and is another than that of any other', () => {
    const folder = freshFolder();
    const first = take(folder);
    first.release();
    const second = take(folder);
    expect(second.id).toBe(first.id);
    second.release();
    const other = take(freshFolder());
    expect(other.id).not.toBe(first.id);
    other.release();
  });

  const isLinux = process.platform === 'linux';
  if (!isLinux) process.stdout.write('skipped: zombies are told by /proc\n');
  test.runIf(isLinux)('is free when its server has ended and only waits for its parent', async () => {
    // The shell becomes a program that never asks what became of its child. The child ends after that: a shell would ask.
    const child = '( until [ "$(cat /proc/$$/comm)" = sleep ]; do sleep 0.01; done )';
    const parent = spawn('sh', ['-c', `${child} & echo $!; exec sleep 60`], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const said = await new Promise<string>((resolve) => parent.stdout.once('data', (bytes: Buffer) => resolve(bytes.toString())));
    const pid = Number(said);
    const fields = () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
    await vi.waitFor(() => expect(fields()[0]).toBe('Z'), { timeout: 10_000 });
    const folder = left({ pid, process_began: fields()[19] });
    take(folder).release();
  });

  test('a damaged id is not replaced by a new one', () => {
    const folder = freshFolder();
    take(folder).release();
    writeFileSync(join(folder, 'home'), 'something else');
    expect(() => take(folder)).toThrow(`The file ${join(folder, 'home')} doesn’t contain the data folder’s ID.`);
    // And was not kept by the one that failed.
    rmSync(join(folder, 'home'));
    take(folder).release();
  });

  test('is refused while another server has it, and free as soon as that one releases it', () => {
    const folder = freshFolder();
    const home = take(folder);
    expect(() => take(folder)).toThrow(
      `The data folder ${folder} is in use by another server (process ${process.pid} on ${hostname()}, started ${String(holderOf(folder)['started_at'])}). Stop that server, or set DATA_DIR to a separate folder.`,
    );
    home.release();
    take(folder).release();
  });

  test.runIf(process.platform === 'linux')(
    'of a process that is gone is taken over, also when its id belongs to another process by now',
    () => {
      take(left({ pid: 2 ** 22 - 1, process_began: '1' })).release();
      // This process' parent runs, but it is not the one that took the folder.
      take(left({ pid: process.ppid, process_began: '1' })).release();
      take(left({ boot: BOOT_OF_ANOTHER })).release();
    },
  );

  test.runIf(process.platform === 'linux')('of a process that runs is refused where the lock does not reach it', () => {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8');
    const process_began = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    expect(() => take(left({ pid: process.ppid, process_began }))).toThrow(`process ${process.ppid} on ${hostname()}`);
  });

  // proves: attack-D.19-3
  needing(FILES_HAVE_THIS_CLOCK, filesHaveThisClock()).test(
    'of another machine is refused as long as something was heard of it within a minute',
    () => {
      const folder = left({ host: 'elsewhere', boot: BOOT_OF_ANOTHER });
      expect(() => take(folder)).toThrow(
        /in use by another server \(process \d+ on elsewhere, started \S+, last active 0 s ago\)\. .* If that machine no longer runs, start again in 60 s\.$/,
      );
      const long_ago = new Date(Date.now() - 61_000);
      utimesSync(join(folder, 'server.json'), long_ago, long_ago);
      take(folder).release();
    },
  );

  test('takes a folder whose holder file was cut off by a power failure', () => {
    const folder = left();
    writeFileSync(join(folder, 'server.json'), '{"run":"');
    take(folder).release();
  });

  test('says every 15 seconds that its server is there, and tells that one when another machine has it', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const folder = freshFolder();
    const onLost = vi.fn();
    const home = take(folder, onLost);
    const path = join(folder, 'server.json');
    const long_ago = new Date(0);
    utimesSync(path, long_ago, long_ago);
    vi.advanceTimersByTime(15_000);
    expect(readFileSync(path, 'utf8')).toContain(`"pid":${process.pid}`);
    const other = { ...holderOf(folder), run: newId(), host: 'elsewhere' };
    writeFileSync(path, JSON.stringify(other));
    vi.advanceTimersByTime(60_000);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(String(onLost.mock.calls[0]?.[0])).toContain('on elsewhere');
    // A folder of another server is left alone.
    home.release();
    expect(holderOf(folder)).toEqual(other);
  });
});
