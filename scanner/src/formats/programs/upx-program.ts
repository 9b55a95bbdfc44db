import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Content, openSource } from '#scanner/reading/content.ts';
import type { Member, ReadContext } from '#scanner/reading/member.ts';

// Runs UPX, if installed, for programs that the built-in reader cannot unpack. It is a native program that processes hostile data, so it gets an empty
// environment and limits on memory, time and file size.

const PROGRAMS = ['/usr/bin/upx', '/usr/bin/upx-ucl', '/usr/local/bin/upx', '/opt/homebrew/bin/upx'];
/** Part of util-linux, so present on every Linux. */
const PRLIMIT = '/usr/bin/prlimit';
const LIMITS = ['--as=1073741824', '--cpu=20', '--fsize=268435456', '--core=0'];
const TIME_MS = 30_000;
const COPIED_BYTES = 1024 ** 2;

/** Path of UPX on this machine; undefined if it is not installed. */
export function upxProgram(): string | undefined {
  return PROGRAMS.find((path) => existsSync(path));
}

function copyTo(content: Content, path: string): void {
  const source = openSource(content);
  const file = openSync(path, 'wx', 0o600);
  try {
    for (let at = 0; at < source.size; at += COPIED_BYTES) writeSync(file, source.read(at, COPIED_BYTES));
  } finally {
    closeSync(file);
    source.close();
  }
}

/** The program unpacked by `upx -d`; undefined if that fails. */
export async function unpackedByProgram(
  content: Content,
  { budget, path }: ReadContext,
  program: string,
): Promise<Member | undefined> {
  const [packed, unpacked] = [path(), path()];
  copyTo(content, packed);
  const words = [program, '-d', '-q', '-o', unpacked, packed];
  const [command = '', ...rest] = existsSync(PRLIMIT) ? [PRLIMIT, ...LIMITS, '--', ...words] : words;
  try {
    await promisify(execFile)(command, rest, { env: {}, timeout: TIME_MS, killSignal: 'SIGKILL', maxBuffer: COPIED_BYTES });
    const { size } = await stat(unpacked);
    budget.addUnpacked(size, size, content.size);
    return { name: 'unpacked program', read: () => ({ content: { size, path: unpacked } }) };
  } catch (error) {
    await rm(unpacked, { force: true });
    // UPX failed, timed out, or wrote no file.
    if (error instanceof Error && ('killed' in error || 'syscall' in error)) return undefined;
    throw error;
  } finally {
    budget.checkTime();
    await rm(packed, { force: true });
  }
}
