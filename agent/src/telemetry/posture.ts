import { platform } from 'node:os';
import type { Defaults, Posture } from '@palisade/contract/agent';
import { z } from 'zod';
import { lineOf } from '#agent/line.ts';
import { kernelStat } from '#files/kernel.ts';
import { runProgram } from '#firewall/nft.ts';

/** Interval between checks for pending updates, in ms. Each check reads all package lists. */
const UPDATES_EVERY_MS = 6 * 60 * 60_000;
const OTHERS_EVERY_MS = 60 * 60_000;
const EVIDENCE_LENGTH = 500;
/** Maximum length of a line of a program's output. */
const LINE_LENGTH = 2_000;

type Found = Pick<Posture, 'state' | 'evidence'>;
type Run = (program: string, ...args: string[]) => Promise<string | undefined>;

/** Output of a program that runs at low priority; undefined if it is missing or fails. */
const runQuietly: Run = async (program, ...args) =>
  await runProgram(['nice', '-n', '19'], [program, ...args]).then(
    ({ code, stdout }) => (code === 0 ? stdout : undefined),
    () => undefined,
  );

const unknown = (evidence: string): Found => ({ state: 'unknown', evidence });

/** Parses the output of `apt-get -s upgrade` for upgrades from a security archive. */
export function readUpdates(simulated: string): Found {
  const upgrades = simulated.split('\n').filter((line) => line.startsWith('Inst '));
  const security = upgrades.filter((line) => {
    const [, archive = ''] = line.slice(0, LINE_LENGTH).split('(');
    return (archive.split(')')[0] ?? '').toLowerCase().includes('security');
  });
  if (security.length === 0) return { state: 'pass', evidence: 'No security update is waiting.' };
  const names = security.slice(0, 5).map((line) => line.split(' ')[1] ?? '');
  const rest = security.length > names.length ? ` and ${security.length - names.length} more` : '';
  return { state: 'fail', evidence: `Security updates wait for ${names.join(', ')}${rest}.` };
}

/** No lock, so that other programs do not wait, and no cache on disk, which an uninstallation would leave behind. */
const APT_OPTIONS = ['Debug::NoLocking=true', 'Dir::Cache::pkgcache=', 'Dir::Cache::srcpkgcache='].flatMap((one) => ['-o', one]);

async function securityUpdates(run: Run): Promise<Found> {
  const simulated = await run('apt-get', '-s', ...APT_OPTIONS, 'upgrade');
  return simulated === undefined ? unknown('Updates can only be looked for where packages come by apt.') : readUpdates(simulated);
}

interface Block {
  type: string | null;
  mountpoints?: (string | null)[] | undefined;
  children?: Block[] | undefined;
}
const blockSchema: z.ZodType<Block> = z.object({
  type: z.string().nullable(),
  mountpoints: z.array(z.string().nullable()).optional(),
  get children() {
    return z.array(blockSchema).optional();
  },
});
const blocksSchema = z.object({ blockdevices: z.array(blockSchema) });

/** Whether the device mounted at `/` is encrypted; undefined if it is not listed. */
export function isRootEncrypted(listing: unknown): boolean | undefined {
  const read = blocksSchema.safeParse(listing);
  if (!read.success) return undefined;
  const look = (block: Block, is_encrypted: boolean): boolean | undefined => {
    const here = is_encrypted || block.type === 'crypt';
    if (block.mountpoints?.includes('/')) return here;
    for (const child of block.children ?? []) {
      const found = look(child, here);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const block of read.data.blockdevices) {
    const found = look(block, false);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function diskEncryption(run: Run): Promise<Found> {
  const listed = await run('lsblk', '-J', '-o', 'NAME,TYPE,MOUNTPOINTS');
  const is_encrypted = listed === undefined ? undefined : isRootEncrypted(JSON.parse(listed));
  if (is_encrypted === undefined) return unknown('The disk of this system could not be found among the block devices.');
  return is_encrypted
    ? { state: 'pass', evidence: 'The disk of this system is encrypted.' }
    : { state: 'fail', evidence: 'The disk of this system is not encrypted.' };
}

/** Parses the output of `sshd -T`. */
export function readSshSettings(settings: string): Found {
  const known = new Map<string, string>();
  for (const line of settings.split('\n')) {
    const [name = '', ...value] = line.slice(0, LINE_LENGTH).split(' ');
    if (!known.has(name.toLowerCase())) known.set(name.toLowerCase(), value.join(' ').trim());
  }
  const settingOf = (name: string) => known.get(name);
  const faults = [
    ...(settingOf('permitrootlogin') === 'yes' ? ['Root may sign in by SSH.'] : []),
    ...(settingOf('passwordauthentication') === 'yes' ? ['A password is enough to sign in by SSH.'] : []),
    ...(settingOf('permitemptypasswords') === 'yes' ? ['Empty passwords are taken by SSH.'] : []),
  ];
  if (faults.length === 0) return { state: 'pass', evidence: 'SSH takes keys alone, and not from root by password.' };
  return { state: 'fail', evidence: faults.join(' ') };
}

async function sshSettings(run: Run): Promise<Found> {
  if (kernelStat('/usr/sbin/sshd') === undefined) return { state: 'pass', evidence: 'No SSH server is installed.' };
  const settings = await run('/usr/sbin/sshd', '-T');
  return settings === undefined ? unknown('The settings of the SSH server could not be read.') : readSshSettings(settings);
}

function screenLock(): Found {
  if (
    kernelStat('/etc/systemd/system/display-manager.service') === undefined &&
    kernelStat('/usr/share/xsessions') === undefined
  ) {
    return { state: 'pass', evidence: 'This computer has no desktop, so no screen can be left open.' };
  }
  return unknown('Each person’s desktop keeps its own screen lock, which a system service cannot read.');
}

function firewallDefault(defaults: Defaults | undefined): Found {
  if (defaults === undefined) return unknown('No rules are enforced on this computer.');
  return defaults.inbound === 'block'
    ? { state: 'pass', evidence: 'What no rule allows does not come in.' }
    : { state: 'fail', evidence: 'What no rule blocks comes in.' };
}

/** Checks the security settings of the computer at long intervals, in the background. */
export interface PostureWatch {
  /** Returns the latest results, and starts checks that are due; their results come with a later call. */
  read(): Posture[];
  /** Runs the checks that are due. */
  look(): Promise<void>;
}

export function createPosture(parts: {
  defaults: () => Defaults | undefined;
  /** Whether the signatures are the newest; undefined if this computer cannot scan. */
  signatures: () => Found | undefined;
  now: () => number;
  run?: Run;
}): PostureWatch {
  const { now, run = runQuietly } = parts;
  const found = new Map<Posture['check'], Posture>();
  let looking: Promise<void> | undefined;

  async function look(check: Posture['check'], every_ms: number, how: () => Promise<Found> | Found): Promise<void> {
    const last = found.get(check);
    if (last !== undefined && now() - Date.parse(last.checked_at) < every_ms) return;
    const { state, evidence } = await Promise.resolve()
      .then(how)
      .catch(() => unknown('It could not be looked at.'));
    found.set(check, { check, state, evidence: lineOf(evidence, EVIDENCE_LENGTH), checked_at: new Date(now()).toISOString() });
  }

  return {
    read() {
      looking ??= lookAtAll().finally(() => (looking = undefined));
      return [...found.values()];
    },
    look: lookAtAll,
  };

  async function lookAtAll(): Promise<void> {
    if (platform() === 'linux') {
      await look('security_updates', UPDATES_EVERY_MS, () => securityUpdates(run));
      await look('disk_encryption', OTHERS_EVERY_MS, () => diskEncryption(run));
      await look('ssh_settings', OTHERS_EVERY_MS, () => sshSettings(run));
      await look('screen_lock', OTHERS_EVERY_MS, screenLock);
    }
    await look('firewall_default', 0, () => firewallDefault(parts.defaults()));
    await look('signatures_fresh', 0, () => parts.signatures() ?? unknown('This agent came without signatures.'));
  }
}
