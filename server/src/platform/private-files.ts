import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join, sep } from 'node:path';

const OTHERS = 0o077;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const STICKY = 0o1000;

/** The program's own names in DATA_DIR: whole folders, and files. Other entries of the folder are left unchanged. The folder is this program's (data-folder.ts). */
const OUR_FOLDERS = new Set([
  'attachments',
  'attachments-arriving',
  'scam-arriving',
  'keys',
  'outgoing',
  'quarantine',
  'restoring',
  'signatures',
  'spool',
]);
const OUR_FILES = /^palisade\.|^home$|^server\.(json|lock)|^before-restore-\d+$/;
/** Names that a file system makes. */
const NOBODYS = new Set(['lost+found']);

/** Result of repairing the permissions of files that others could read. */
interface Privacy {
  /** Number of files and folders that others could read or write until now. */
  mended: number;
  /** Sentences about files that could not be repaired. */
  warnings: string[];
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown');

/** The folder's content, created if missing. Undefined if that fails: the code that needs the folder reports the reason. */
function openFolder(path: string): { root: Stats; names: string[] } | undefined {
  try {
    mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
    return { root: statSync(path), names: readdirSync(path) };
  } catch {
    return undefined;
  }
}

/**
 * Protects the server's files from other users of the machine (the source of the rule: OWASP ASVS 5, 13.3.2). From now on the process creates files with mode 0600 and
 * folders with 0700; existing files in `data_dir` are repaired. A key file elsewhere is only checked: container secrets often have 0444, and this program must not change
 * them. Windows has no such modes. `acts_for_owner` is for root, which gives the files to the owner of the folder.
 */
export function keepFilesPrivate(parts: { data_dir: string; key_files: readonly string[]; acts_for_owner?: boolean }): Privacy {
  const { data_dir, key_files, acts_for_owner = false } = parts;
  const privacy: Privacy = { mended: 0, warnings: [] };
  if (process.platform === 'win32') return privacy;
  process.umask(OTHERS);
  const found = openFolder(data_dir);
  if (found === undefined) return privacy;
  const { root, names } = found;
  const refused: string[] = [];

  /** Removes other users' rights to a file or folder. One that no longer exists needs none. */
  function mend(path: string, stat: Stats): void {
    if ((stat.mode & OTHERS) === 0) return;
    try {
      chmodSync(path, stat.isDirectory() ? PRIVATE_FOLDER : PRIVATE_FILE);
      privacy.mended += 1;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') refused.push(path);
    }
  }

  /** Links are left unchanged: their target may belong to others. */
  function mendAll(path: string): void {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || stat.isSymbolicLink()) return;
    mend(path, stat);
    if (!stat.isDirectory()) return;
    try {
      for (const name of readdirSync(path)) mendAll(join(path, name));
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') refused.push(path);
    }
  }

  const ours = names.filter((name) => OUR_FOLDERS.has(name) || OUR_FILES.test(name));
  const others = names.filter((name) => !ours.includes(name) && !NOBODYS.has(name));
  for (const name of ours) mendAll(join(data_dir, name));
  if (others.length === 0 && (root.mode & STICKY) === 0) mend(data_dir, root);
  else if ((root.mode & OTHERS) !== 0) {
    const what = others.length === 0 ? 'is open to everyone' : `also contains other files (${others.slice(0, 3).join(', ')})`;
    privacy.warnings.push(
      `The data folder ${data_dir} ${what}, so we left its permissions unchanged. Others can see file names in it. Give Palisade a separate folder.`,
    );
  }
  if (refused.length > 0) {
    privacy.warnings.push(
      `Other users can read ${refused.length} files and folders in ${data_dir} (the first: ${refused[0]}). Make the Palisade user their owner (chown -R) and start again.`,
    );
  }
  const me = process.geteuid?.();
  if (me !== undefined && root.uid !== me && !acts_for_owner) {
    privacy.warnings.push(
      `The data folder ${data_dir} belongs to another user (number ${root.uid}), who can read it. Make the Palisade user its owner (chown -R).`,
    );
  }
  const inside = realpathSync(data_dir) + sep;
  for (const path of key_files) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || (stat.mode & OTHERS) === 0 || realpathSync(path).startsWith(inside)) continue;
    privacy.warnings.push(`Other users can read the key file ${path}. Remove their access: chmod 600 ${path}`);
  }
  return privacy;
}
