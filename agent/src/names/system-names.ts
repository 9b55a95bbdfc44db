import {
  chmodSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { runProgram } from '#firewall/nft.ts';
import {
  domainsIn,
  isOurs,
  type NamesFacts,
  resolvConfWith,
  resolvConfWithout,
  resolvedSettings,
  serversIn,
  wayOf,
} from './way.ts';

const RESOLVED_SERVICE = 'systemd-resolved.service';
const SYSTEMCTL_MS = 10_000;
/** The list of previous DNS servers is cached for this time, in ms. */
const READ_MS = 2_000;

const textOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Replaces a file atomically; all users can read it. A temporary file of a killed agent is overwritten. */
function replaceFile(path: string, text: string): void {
  const beside = `${path}.new-palisade`;
  try {
    const file = openSync(beside, 'w', 0o644);
    try {
      writeFileSync(file, text);
      fchmodSync(file, 0o644);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

async function systemctl(...args: string[]): Promise<number | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('systemctl does not answer')), SYSTEMCTL_MS);
  });
  return await Promise.race([runProgram(['systemctl'], args).then(({ code }) => code), late]).finally(() => clearTimeout(timer));
}

async function restartResolved(): Promise<void> {
  // Resets systemd's start limit: otherwise a few restarts in ten seconds would leave the service stopped.
  await systemctl('reset-failed', RESOLVED_SERVICE);
  if ((await systemctl('try-restart', RESOLVED_SERVICE)) !== 0) throw new Error('systemd-resolved could not be started again');
}

/**
 * Manages this computer's DNS settings. Name resolution works even if the process ends at any point of a change: each file is replaced atomically, the original file stays
 * under another name, restoring it needs no free disk space, and the previous servers follow the agent’s address in the list.
 */
export class SystemNames {
  private readonly file: string;
  private readonly before: string;
  private readonly uplinks: string;
  /** Path of the settings for systemd-resolved. It is below /run, so that a reboot removes it. */
  private readonly settings: string;
  private readonly restart: () => Promise<void>;
  private read: { at: number; servers: string[]; domains: string[] } | undefined;

  /** @param root prefix of all paths, for tests */
  constructor(root = '', restart = restartResolved) {
    this.file = join(root, '/etc/resolv.conf');
    this.before = `${this.file}.before-palisade`;
    this.uplinks = join(root, '/run/systemd/resolve/resolv.conf');
    this.settings = join(root, '/run/systemd/resolved.conf.d/palisade-agent.conf');
    this.restart = restart;
  }

  private facts(): NamesFacts | undefined {
    try {
      const found = lstatSync(this.file);
      return {
        link: found.isSymbolicLink() ? resolve('/etc', readlinkSync(this.file)) : null,
        text: textOf(this.file) ?? '',
        uid: found.uid,
        is_resolved_running: textOf(this.uplinks) !== undefined,
      };
    } catch {
      return undefined;
    }
  }

  way(): ReturnType<typeof wayOf> {
    const facts = this.facts();
    if (facts !== undefined) return wayOf(facts);
    return { kind: 'refused', reason: 'There is no /etc/resolv.conf. Make one with a line like: nameserver 192.168.1.1.' };
  }

  /** DNS servers and search domains of this computer’s network, without the agent. */
  network(): { servers: string[]; domains: string[] } {
    const now = performance.now();
    if (this.read !== undefined && now - this.read.at < READ_MS) return this.read;
    const kept = textOf(this.settings);
    const text = this.way().kind === 'resolved' ? textOf(this.uplinks) : (textOf(this.before) ?? textOf(this.file));
    const known =
      kept
        ?.match(/^DNS=(.+)$/mu)?.[1]
        ?.split(' ')
        .slice(1) ?? [];
    const found = serversIn(text ?? '');
    // Servers of the current network come before those stored when the agent changed the settings.
    const servers = [...found.filter((one) => !known.includes(one)), ...known, ...found.filter((one) => known.includes(one))];
    this.read = { at: now, servers: [...new Set(servers)], domains: domainsIn(text ?? '') };
    return this.read;
  }

  /** Whether the system’s DNS settings name the agent. */
  isTaken(): boolean {
    if (this.way().kind === 'resolved') return (textOf(this.settings) ?? '') !== '';
    return this.facts()?.link === null && isOurs(textOf(this.file) ?? '');
  }

  /** Changes the system's settings so that all DNS queries go to the agent. @throws Error if a file cannot be written or the service does not start */
  async takeUp(): Promise<void> {
    const { servers } = this.network();
    if (this.way().kind === 'resolved') {
      mkdirSync(dirname(this.settings), { recursive: true });
      chmodSync(dirname(this.settings), 0o755);
      replaceFile(this.settings, resolvedSettings(servers));
      await this.restart();
    } else {
      rmSync(this.before, { force: true });
      linkSync(this.file, this.before);
      replaceFile(this.file, resolvConfWith(readFileSync(this.before, 'utf8')));
    }
    this.read = undefined;
  }

  /** Restores the previous settings. Does nothing if the agent has changed none. */
  async giveBack(): Promise<void> {
    this.read = undefined;
    this.giveFileBack();
    if (textOf(this.settings) === undefined) return;
    // Truncating needs no free disk space. The file is removed last, so that after a crash the next start finds it and restarts the service.
    truncateSync(this.settings);
    await this.restart().finally(() => rmSync(this.settings, { force: true }));
  }

  private giveFileBack(): void {
    rmSync(`${this.file}.new-palisade`, { force: true });
    const kept = textOf(this.before);
    const now = this.facts();
    if (now?.link === null && isOurs(now.text)) {
      // A rename needs no free disk space.
      if (kept !== undefined && now.text === resolvConfWith(kept)) renameSync(this.before, this.file);
      else replaceFile(this.file, resolvConfWithout(now.text));
    }
    rmSync(this.before, { force: true });
  }
}
