import { join } from 'node:path';
import type { ScanJob } from '@palisade/contract/agent';
import { kernelLink, kernelNames } from '#files/kernel.ts';
import { bytesOfText } from '#files/name-text.ts';
import { homesOf, peopleHere } from '#files/people.ts';
import { localRoots } from './walk.ts';

const IN_HOME = [
  'Downloads',
  '.config/autostart',
  '.config/systemd/user',
  '.local/share/applications',
  '.bashrc',
  '.profile',
  '.bash_profile',
  '.zshrc',
  '.mozilla/firefox',
  '.config/google-chrome/Default/Extensions',
  '.config/chromium/Default/Extensions',
];
const OF_SYSTEM = [
  '/tmp',
  '/var/tmp',
  '/dev/shm',
  '/etc/cron.d',
  '/etc/cron.daily',
  '/etc/cron.hourly',
  '/var/spool/cron',
  '/etc/crontab',
  '/etc/systemd/system',
  '/etc/xdg/autostart',
  '/etc/profile',
  '/etc/profile.d',
  '/etc/rc.local',
];

/** Roots of a quick scan: running programs, downloads, temporary folders, and autostart files. */
async function quickRoots(): Promise<Buffer[]> {
  const pids = kernelNames('/proc').filter((name) => /^\d+$/u.test(name));
  const programs = pids.map((pid) => kernelLink(`/proc/${pid}/exe`));
  const files = programs.filter((path) => path.startsWith('/') && !path.endsWith(' (deleted)'));
  const homes = homesOf(await peopleHere());
  const all = [...files, ...homes.flatMap((home) => IN_HOME.map((name) => join(home, name))), ...OF_SYSTEM];
  return [...new Set(all)].map((path) => Buffer.from(path));
}

/** The files and folders that a job scans. */
export async function rootsOf({ scan, path }: Pick<ScanJob, 'scan' | 'path'>): Promise<readonly Buffer[]> {
  if (scan === 'full') return localRoots();
  return scan === 'quick' ? await quickRoots() : [bytesOfText(path ?? '/')];
}
