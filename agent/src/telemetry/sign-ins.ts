import { join } from 'node:path';
import { parseIp, printIp } from '@palisade/contract/ip-address';
import { openForeign, statForeign } from '#files/foreign.ts';
import { kernelNames, kernelStat } from '#files/kernel.ts';
import { runProgram } from '#firewall/nft.ts';

/** Failed sign-ins from one address within `WINDOW_MS` that count as guessing (fail2ban's default is 5; people mistype). */
export const GUESSES = 10;
const WINDOW_MS = 10 * 60_000;
/** Addresses that are kept in mind at a time. */
const ADDRESSES_MAXIMUM = 10_000;
const AUTH_LOG = '/var/log/auth.log';
/** The folders of journald's files, each computer's in a folder of its own: on the disk, or in memory alone. */
const JOURNAL_FOLDERS = ['/var/log/journal', '/run/log/journal'];
const READ_MAXIMUM = 4 * 1024 ** 2;
const JOURNAL = ['-t', 'sshd', '-t', 'sshd-session', '-o', 'cat', '--no-pager', '-q'];

/**
 * The longest part of a line that is read, in characters: sshd cuts its own at 1,024, and the text before it is short. A longer foreign
 * line is not read further.
 */
const LINE_LENGTH = 2_048;
/** The text before sshd's own sentence in a log. */
const PROGRAMS = ['sshd[', 'sshd-session['];
const UNKNOWN_USER = 'invalid user ';

const isDigits = (text: string) => text !== '' && [...text].every((character) => character >= '0' && character <= '9');

/** sshd's sentence, without the date, the host and the number of the process. */
function sentenceOf(line: string): string {
  for (const program of PROGRAMS) {
    const at = line.indexOf(program);
    if (at < 0 || (at > 0 && line[at - 1] !== ' ')) continue;
    const end = line.indexOf(']: ', at);
    if (end >= 0 && isDigits(line.slice(at + program.length, end))) return line.slice(end + 3);
  }
  return line;
}

/** The address before the last `port` with a number, where the word before it is `before`; undefined where there is none. Looks at each word once. */
function addressBeforePort(words: readonly string[], before?: string): string | undefined {
  const at = words.findLastIndex((word, index) => word === 'port' && index >= 2 && isDigits(words[index + 1] ?? ''));
  const address = words[at - 1];
  if (at < 2 || address === undefined || (before !== undefined && words[at - 2] !== before)) return undefined;
  const read = parseIp(address);
  return read === undefined ? undefined : printIp(read);
}

/**
 * The address that a line says a sign-in failed from. A user name is foreign text and may itself look like sshd's words: the address is the last that a sentence names.
 * sshd reports a failure for an unknown user twice, and only the second sentence counts. No regular expression is run over the line: each of its words is read once.
 */
export function failedFrom(line: string): string | undefined {
  const sentence = sentenceOf(line.slice(0, LINE_LENGTH));
  const words = sentence.split(' ');
  if (sentence.startsWith('Invalid user ')) return addressBeforePort(words, 'from');
  if (words[0] === 'Failed' && words[2] === 'for')
    return words.slice(3).join(' ').startsWith(UNKNOWN_USER) ? undefined : addressBeforePort(words, 'from');
  const is_cut = /^Connection (?:closed|reset) by authenticating user /u.test(sentence);
  return is_cut ? addressBeforePort(words) : undefined;
}

/** Counts failures and says when they are guessing: once for each address in a window. */
export interface Guessing {
  hear(lines: readonly string[], now: number): { address: string; failures: number }[];
}

export function createGuessing(): Guessing {
  const failures = new Map<string, { since: number; count: number; is_told: boolean }>();
  return {
    hear(lines, now) {
      for (const [address, { since }] of failures) if (now - since >= WINDOW_MS) failures.delete(address);
      const guessing = new Set<string>();
      for (const line of lines) {
        const address = failedFrom(line);
        if (address === undefined) continue;
        const seen = failures.get(address) ?? { since: now, count: 0, is_told: false };
        seen.count += 1;
        if (!failures.has(address) && failures.size >= ADDRESSES_MAXIMUM) continue;
        failures.set(address, seen);
        if (seen.count >= GUESSES && !seen.is_told) guessing.add(address);
      }
      return [...guessing].map((address) => {
        const seen = failures.get(address);
        if (seen !== undefined) seen.is_told = true;
        return { address, failures: seen?.count ?? GUESSES };
      });
    },
  };
}

/** New lines of the log that sshd writes to: the journal where there is one, else auth.log. */
export interface SignInLog {
  read(): Promise<readonly string[]>;
}

/**
 * A mark that changes once anything was written to the journal: journald touches a file whenever it has added to it, which wakes up waiting readers (systemd:
 * journal_file_post_change). Rotated files have an @ in their name.
 */
function markOfJournal(folders: readonly string[]): string {
  const machines = folders.flatMap((folder) => kernelNames(folder).map((machine) => join(folder, machine)));
  const files = machines.flatMap((folder) => kernelNames(folder).map((name) => ({ folder, name })));
  return files
    .filter(({ name }) => name.endsWith('.journal') && !name.includes('@'))
    .map(({ folder, name }) => {
      const stats = kernelStat(join(folder, name));
      return `${folder} ${name} ${stats?.ino} ${stats?.size} ${stats?.mtimeMs}`;
    })
    .join();
}

export function createSignInLog(path = AUTH_LOG, journal_folders: readonly string[] = JOURNAL_FOLDERS): SignInLog {
  /** Mark of the journal at the last reading: while it is unchanged, no program is started to read it. */
  let mark: string | undefined;
  let offset: number | undefined;
  let since = Math.floor(Date.now() / 1_000);
  let has_journal: boolean | undefined;

  async function readFileOn(): Promise<readonly string[]> {
    const stats = await statForeign(path);
    if (stats?.isFile() !== true) return [];
    const size = Number(stats.size);
    // Lines from before this start are no news; a file that became shorter is a new one.
    const from = offset === undefined ? size : offset > size ? 0 : offset;
    const length = Math.min(size - from, READ_MAXIMUM);
    if (length <= 0) {
      offset = size;
      return [];
    }
    const file = await openForeign(path);
    try {
      const buffer = await file.readSome(length, size - length);
      const whole = buffer.lastIndexOf('\n') + 1;
      offset = size - length + whole;
      return buffer.subarray(0, whole).toString().split('\n');
    } finally {
      await file.close();
    }
  }

  return {
    async read() {
      const mark_now = markOfJournal(journal_folders);
      if (has_journal !== false && mark_now !== mark) {
        const now = Math.floor(Date.now() / 1_000);
        const read = await runProgram(['journalctl'], [...JOURNAL, '--since', `@${since}`, '--until', `@${now}`]).catch(
          () => undefined,
        );
        has_journal = read?.code === 0;
        if (has_journal) {
          mark = mark_now;
          since = now;
          const lines = read?.stdout.split('\n') ?? [];
          if (lines.length > 1) return lines;
        }
      }
      return await readFileOn();
    },
  };
}
