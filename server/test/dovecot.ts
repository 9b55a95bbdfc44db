import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawnBound } from '@palisade/scanner/test/bound-process';
import { ImapFlow } from 'imapflow';
import { afterFile } from './after-file.ts';
import { freePort } from './free-port.ts';

const PROGRAM = ['/usr/sbin/dovecot', '/usr/local/sbin/dovecot', '/opt/homebrew/sbin/dovecot'].find((path) => existsSync(path));

/** Why there is no IMAP server for tests; undefined when there is (scripts/packages.mjs installs it in CI). */
export const NO_DOVECOT =
  PROGRAM === undefined
    ? 'no Dovecot on this machine (install the package dovecot-imapd)'
    : execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).startsWith('2.3')
      ? undefined
      : 'the Dovecot on this machine is no 2.3, for which its settings are written';

export interface TestMailbox {
  /** As INBOX_IMAP_URL has it. */
  url: string;
  /** Puts mails into the mailbox, as they came. */
  deliver(...mails: readonly string[]): Promise<void>;
  /** Mails in it: a mail that was flagged has `\Flagged`. */
  contents(): Promise<{ uid: number; flags: string[]; text: string }[]>;
  /** Makes another mailbox of the same name: its mails are numbered anew. */
  renumber(): Promise<void>;
}

/** Dovecot with one account, on loopback and in a temporary folder, by a user without rights. */
export async function startDovecot(): Promise<TestMailbox> {
  const home = mkdtempSync(join(tmpdir(), 'palisade-dovecot-'));
  const isRoot = process.getuid?.() === 0;
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  const as = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  const user = isRoot ? 'nobody' : userInfo().username;
  const group = execFileSync('id', ['-gn', user], { encoding: 'utf8' }).trim();
  const port = await freePort();
  if (as.uid !== undefined && as.gid !== undefined) chownSync(home, as.uid, as.gid);
  const conf = join(home, 'dovecot.conf');
  writeFileSync(
    conf,
    `base_dir = ${home}/run
state_dir = ${home}/state
log_path = ${home}/log
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
first_valid_uid = 1
mail_location = maildir:${home}/mail
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=${user} gid=${group} home=${home}
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
}
`,
    { mode: 0o644 },
  );
  const child = spawnBound(PROGRAM ?? 'dovecot', ['-F', '-c', conf], as);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  afterFile(async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(home, { recursive: true, force: true });
  });

  async function inMailbox<T>(work: (client: ImapFlow) => Promise<T>): Promise<T> {
    const auth = { user: 'support@example.com', pass: 'secret' };
    const client = new ImapFlow({ host: '127.0.0.1', port, secure: false, auth, logger: false, disableAutoIdle: true });
    client.on('error', () => {});
    await client.connect();
    try {
      await client.mailboxOpen('INBOX');
      return await work(client);
    } finally {
      await client.logout();
    }
  }

  for (let left = 200; ; left -= 1) {
    const failure = await inMailbox(() => Promise.resolve(undefined)).catch((error: unknown) => error);
    if (failure === undefined) break;
    if (left === 0 || child.exitCode !== null) throw failure;
    await pause(50);
  }
  return {
    url: `imap://${encodeURIComponent('support@example.com')}:secret@127.0.0.1:${port}/INBOX`,
    deliver: (...mails) =>
      inMailbox(async (client) => {
        for (const mail of mails) await client.append('INBOX', Buffer.from(mail));
      }),
    contents: () =>
      inMailbox(async (client) => {
        const all = await client.fetchAll('1:*', { uid: true, flags: true, source: true });
        return all.map(({ uid, flags, source }) => ({ uid, flags: [...(flags ?? [])], text: source?.toString('latin1') ?? '' }));
      }),
    renumber: () =>
      inMailbox(async (client) => {
        await client.mailboxClose();
        // The server may write there once more while it is deleted.
        rmSync(join(home, 'mail'), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
      }),
  };
}
