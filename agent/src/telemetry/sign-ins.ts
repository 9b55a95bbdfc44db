import { join } from 'node:path';
import { parseIp, printIp } from '@palisade/contract/ip-address';
import { openForeign, statForeign } from '#files/foreign.ts';
import { kernelNames, kernelStat } from '#files/kernel.ts';
import { runProgram } from '#firewall/nft.ts';

/** Number of failed sign-ins from one address within `WINDOW_MS` that counts as password guessing. fail2ban's default is 5; this is higher because of typing errors. */
export const GUESSES = 10;
const WINDOW_MS = 10 * 60_000;
/** Maximum addresses that are tracked. */
const ADDRESSES_MAXIMUM = 10_000;
const AUTH_LOG = '/var/log/auth.log';
/** Folders of journald's files, persistent and volatile. Each has a subfolder per computer. */
const JOURNAL_FOLDERS = ['/var/log/journal', '/run/log/journal'];
const READ_MAXIMUM = 4 * 1024 ** 2;
const JOURNAL = ['-t', 'sshd', '-t', 'sshd-session', '-o', 'cat', '--no-pager', '-q'];

/**
 * Maximum length of a line, in characters: sshd truncates its messages at 1,024, and the prefix is short. A longer line of another program
 * is truncated.
 */
const LINE_LENGTH = 2_048;
/** Program names in the prefix of sshd's log lines. */
const PROGRAMS = ['sshd[', 'sshd-session['];
const UNKNOWN_USER = 'invalid user ';

const isDigits = (text: string) => text !== '' && [...text].every((character) => character >= '0' && character <= '9');

/** sshd's message without date, host and process id. */
function sentenceOf(line: string): string {
  for (const program of PROGRAMS) {
    const at = line.indexOf(program);
    if (at < 0 || (at > 0 && line[at - 1] !== ' ')) continue;
    const end = line.indexOf(']: ', at);
    if (end >= 0 && isDigits(line.slice(at + program.length, end))) return line.slice(end + 3);
  }
  return line;
}

/** The address before the last `port NUMBER`, preceded by the word `before` if given; undefined if there is none. Linear time. */
function addressBeforePort(words: readonly string[], before?: string): string | undefined {
  const at = words.findLastIndex((word, index) => word === 'port' && index >= 2 && isDigits(words[index + 1] ?? ''));
  const address = words[at - 1];
  if (at < 2 || address === undefined || (before !== undefined && words[at - 2] !== before)) return undefined;
  const read = parseIp(address);
  return read === undefined ? undefined : printIp(read);
}

/**
 * The address of a failed sign-in in a log line. A user name is untrusted and may imitate sshd's words, so the last address of the message counts.
 * sshd logs a failure of an unknown user twice, and only the second message counts. It uses no regular expression on the line, and takes linear time.
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

/** Counts failures and reports password guessing, once per address in a window. */
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

/** Reads new lines of sshd's log: from the journal, or from auth.log if there is no journal. */
export interface SignInLog {
  read(): Promise<readonly string[]>;
}

/**
 * Text that changes whenever the journal was written to: journald touches a file after each append to wake up readers (systemd:
 * journal_file_post_change). Rotated files, with an @ in their name, are left out.
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
  /** Mark of the journal at the last reading. While it is unchanged, journalctl is not started. */
  let mark: string | undefined;
  let offset: number | undefined;
  let since = Math.floor(Date.now() / 1_000);
  let has_journal: boolean | undefined;

  async function readFileOn(): Promise<readonly string[]> {
    const stats = await statForeign(path);
    if (stats?.isFile() !== true) return [];
    const size = Number(stats.size);
    // Lines from before the agent's start are skipped. A file that became shorter is a new file.
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
