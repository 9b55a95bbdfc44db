import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { z } from 'zod';
import { Folder, isSameFile, splitPath } from './foreign.ts';
import { timely } from './timely.ts';

/**
 * Jobs in folders that other users can write to: removing an entry, and putting a file back. Both run with the rights of one user (`as-owner.ts`), on handles
 * of folders, so that a bug or a race here cannot change anything that this user could not change.
 */

/** Inode numbers and times have 64 bits, so JSON carries them as decimal text. */
const bigSchema = z.string().regex(/^-?\d{1,20}$/u);

export const removeJobSchema = z.object({
  kind: z.literal('remove'),
  /** Base64, because a name may be invalid UTF-8. */
  path: z.base64(),
  dev: bigSchema,
  ino: bigSchema,
  size: bigSchema,
  mtime_ns: bigSchema,
  /** Temporary name of the entry during removal. It is stored with the quarantined file, so that an interrupted removal can be finished later. */
  set_aside: z.string().regex(/^\.palisade-[0-9a-f]{32}$/u),
});
const putJobSchema = z.object({
  kind: z.literal('put'),
  path: z.base64(),
  size: z.int().min(0),
  mode: z.int().min(0).max(0o7777),
  gid: z.int().min(0),
  mtime_ms: z.number(),
});
export const ownerJobSchema = z.discriminatedUnion('kind', [removeJobSchema, putJobSchema]);
export type RemoveJob = z.infer<typeof removeJobSchema>;
export type PutJob = z.infer<typeof putJobSchema>;
export type OwnerJob = z.infer<typeof ownerJobSchema>;

/** `changed` means that another file has the name. Other codes come from the system or from `FileRefused`. */
export const ownerAnswerSchema = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), code: z.string().max(40), at: z.enum(['folder', 'file']) }),
]);
export type OwnerAnswer = z.infer<typeof ownerAnswerSchema>;

/** First output line of the process: it now has only the user's rights. */
export const READY = 'ready\n';

/** Completion byte after the file's bytes on the stdin of `owner-process.ts`. */
export const WHOLE = 'W';
const MODE = 0o777;
const BESIDE = '.palisade-';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code).slice(0, 40) : 'unknown');
const isRoot = () => process.geteuid?.() === 0;
/** Refusal: root does not act in a folder where another user could replace the checked entry. */
const NOT_ROOTS = { ok: false, code: 'not_roots', at: 'folder' } as const;
/** An unpredictable name. */
export const hiddenName = () => `${BESIDE}${randomBytes(16).toString('hex')}`;

async function inFolder(path: string, work: (folder: Folder, name: Buffer) => Promise<OwnerAnswer>): Promise<OwnerAnswer> {
  let folder: Folder;
  let name: Buffer;
  try {
    const parts = splitPath(Buffer.from(path, 'base64'));
    name = parts.name;
    folder = await Folder.open(parts.folder);
  } catch (error) {
    return { ok: false, code: codeOf(error), at: 'folder' };
  }
  try {
    return await work(folder, name);
  } catch (error) {
    return { ok: false, code: codeOf(error), at: 'file' };
  } finally {
    await folder.close();
  }
}

/** Renames an entry back to its old name. If another entry has that name now, it keeps the temporary name. */
async function giveBack(folder: Folder, from: Buffer, to: Buffer): Promise<void> {
  await timely(() => link(folder.entryPath(from), folder.entryPath(to)));
  await timely(() => unlink(folder.entryPath(from)));
}

/**
 * Removes the entry at a path if it is exactly the file of the job. The entry is first renamed to an unpredictable name and checked again: a file saved under the old name in
 * the meantime stays.
 */
export function removeEntry({ path, set_aside, ...job }: RemoveJob): Promise<OwnerAnswer> {
  const wanted = { dev: BigInt(job.dev), ino: BigInt(job.ino), size: BigInt(job.size), mtimeNs: BigInt(job.mtime_ns) };
  return inFolder(path, async (folder, name) => {
    if (isRoot() && folder.writers === 'others') return NOT_ROOTS;
    const isIt = async (entry: Buffer) => {
      const now = await folder.stat(entry);
      const is_file = now.dev === wanted.dev && now.ino === wanted.ino && now.isFile();
      return is_file && now.size === wanted.size && now.mtimeNs === wanted.mtimeNs;
    };
    if (!(await isIt(name))) return { ok: false, code: 'changed', at: 'file' };
    const moved = Buffer.from(set_aside);
    await timely(() => rename(folder.entryPath(name), folder.entryPath(moved)));
    if (!(await isIt(moved))) {
      await giveBack(folder, moved, name);
      return { ok: false, code: 'changed', at: 'file' };
    }
    await timely(() => unlink(folder.entryPath(moved)));
    return { ok: true };
  });
}

/** Removes the entry if it is the file of the open handle. */
async function removeHeld(folder: Folder, name: Buffer, held: FileHandle): Promise<void> {
  try {
    if (isSameFile(await folder.stat(name), await held.stat({ bigint: true })))
      await timely(() => unlink(folder.entryPath(name)));
  } catch {
    // The entry is already gone.
  }
}

/** Sets group, mode and time on the open file. If the user is not in the group, the user's own group stays. Set-user-id and set-group-id bits are not restored. */
async function dress(file: FileHandle, { mode, gid, mtime_ms }: PutJob): Promise<void> {
  await file.chown(-1, gid).catch(() => undefined);
  await file.chmod(mode & MODE);
  await file.utimes(mtime_ms / 1_000, mtime_ms / 1_000);
  await file.sync();
}

/**
 * Puts a file at an unused path: writes it in the same folder under an unpredictable name, and links it to its final name when it is complete.
 * @param content yields exactly `size` bytes, or throws if they have changed
 */
export function putFile(job: PutJob, content: AsyncIterable<Buffer>): Promise<OwnerAnswer> {
  return inFolder(job.path, async (folder, name) => {
    if (isRoot() && !folder.isRootsAlone) return NOT_ROOTS;
    const beside = Buffer.from(hiddenName());
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await timely(
      () => open(folder.entryPath(beside), flags, 0o600),
      (late) => late.close(),
    );
    try {
      let bytes = 0;
      for await (const part of content) {
        bytes += part.length;
        await timely(() => file.writeFile(part));
      }
      if (bytes !== job.size) return { ok: false, code: 'cut_off', at: 'file' };
      await dress(file, job);
      // Fails if the name exists, so that nothing is overwritten.
      await timely(() => link(folder.entryPath(beside), folder.entryPath(name)));
      if (isSameFile(await folder.stat(name), await file.stat({ bigint: true }))) return { ok: true };
      return { ok: false, code: 'changed', at: 'file' };
    } finally {
      await removeHeld(folder, beside, file);
      await file.close();
    }
  });
}
