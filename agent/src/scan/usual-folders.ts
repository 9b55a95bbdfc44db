import { join, normalize } from 'node:path';
import { foreignText } from '#files/foreign.ts';
import { homesOf, peopleHere } from '#files/people.ts';

const USUAL = ['DOWNLOAD', 'DESKTOP', 'DOCUMENTS'] as const;
const ENGLISH: Record<(typeof USUAL)[number], string> = { DOWNLOAD: 'Downloads', DESKTOP: 'Desktop', DOCUMENTS: 'Documents' };
const SETTINGS_LENGTH = 16_384;

/** A user's folders for downloads, documents and the like: from the user's settings (xdg-user-dirs), otherwise by the English names. */
export function usualFolders(home: string, settings: string): string[] {
  const named = new Map<string, string>();
  for (const line of settings.slice(0, SETTINGS_LENGTH).split('\n')) {
    const [name = '', value = ''] = line.trim().split('=');
    // Only paths inside the home folder are used.
    const path = normalize(value.replaceAll('"', '').replace('$HOME', home)).replace(/\/+$/u, '');
    // In these settings, the home folder itself means that a folder is switched off.
    if (path.startsWith(`${home}/`) && path.length > home.length + 1) named.set(name, path);
  }
  return USUAL.map((name) => named.get(`XDG_${name}_DIR`) ?? join(home, ENGLISH[name]));
}

/** Maximum bytes that are read of a user's settings file. */
const SETTINGS_BYTES = 64 * 1024;

/** The usual folders of all users with a home folder. */
export async function everybodysFolders(passwd_file = '/etc/passwd'): Promise<string[]> {
  const homes = homesOf(await peopleHere(passwd_file));
  const folders = await Promise.all(
    homes.map(async (home) => usualFolders(home, await foreignText(join(home, '.config/user-dirs.dirs'), SETTINGS_BYTES))),
  );
  return folders.flat();
}
