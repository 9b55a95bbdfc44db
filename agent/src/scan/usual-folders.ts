import { join, normalize } from 'node:path';
import { foreignText } from '#files/foreign.ts';
import { homesOf, peopleHere } from '#files/people.ts';

const USUAL = ['DOWNLOAD', 'DESKTOP', 'DOCUMENTS'] as const;
const ENGLISH: Record<(typeof USUAL)[number], string> = { DOWNLOAD: 'Downloads', DESKTOP: 'Desktop', DOCUMENTS: 'Documents' };
const SETTINGS_LENGTH = 16_384;

/** The folders of downloads and documents of a desktop: from the person's own settings (xdg-user-dirs), else by the English names. */
export function usualFolders(home: string, settings: string): string[] {
  const named = new Map<string, string>();
  for (const line of settings.slice(0, SETTINGS_LENGTH).split('\n')) {
    const [name = '', value = ''] = line.trim().split('=');
    // Links that lead out of the home are not watched for that person.
    const path = normalize(value.replaceAll('"', '').replace('$HOME', home)).replace(/\/+$/u, '');
    // One that is the home itself is switched off.
    if (path.startsWith(`${home}/`) && path.length > home.length + 1) named.set(name, path);
  }
  return USUAL.map((name) => named.get(`XDG_${name}_DIR`) ?? join(home, ENGLISH[name]));
}

/** Bytes that are read of a person's own settings file. */
const SETTINGS_BYTES = 64 * 1024;

/** The usual folders of everybody who has a home here. */
export async function everybodysFolders(passwd_file = '/etc/passwd'): Promise<string[]> {
  const homes = homesOf(await peopleHere(passwd_file));
  const folders = await Promise.all(
    homes.map(async (home) => usualFolders(home, await foreignText(join(home, '.config/user-dirs.dirs'), SETTINGS_BYTES))),
  );
  return folders.flat();
}
