import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished } from 'node:stream/promises';
import { z } from 'zod';
import { digestOf } from './digest.ts';
import type { FeedFile, SignatureFiles } from './signature-files.ts';

/**
 * A set of signatures as one file, for computers that scan their own files: one line of JSON that lists the files, then their contents one after the other.
 * Its bytes depend on the signatures alone, so two servers with the same signatures make the same file.
 */

const FILES_MAXIMUM = 2_000;
const HEADER_BYTES_MAXIMUM = 1024 ** 2;
/** Maximum size of a set. Bytes. */
export const ARCHIVE_BYTES_MAXIMUM = 512 * 1024 ** 2;
const CHUNK_BYTES = 1024 ** 2;
const NEW_LINE = 10;

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/u);
const entrySchema = z.object({
  /** A file name in one of three folders, so that no other path can be written. */
  name: z.string().regex(/^(?:rules\/[\w-]{1,100}\.yar|samples\/[\w-]{1,100}\.json|feeds\/[\w-]{1,64})$/u),
  bytes: z.int().min(0).max(ARCHIVE_BYTES_MAXIMUM),
  sha256: sha256Schema,
  feed: z.object({ kind: z.enum(['yara', 'sha256']), severity: z.enum(['alarm', 'note']) }).optional(),
});
const headerSchema = z.object({ palisade_signatures: z.literal(1), files: z.array(entrySchema).min(1).max(FILES_MAXIMUM) });

/** A set cannot be used. The message is the reason, in one sentence. */
export class BadArchive extends Error {}

/** Writes a set to `target`. Returns the digest (hex) and size of the file. */
export async function packSignatures(
  { rules_folder, feeds }: SignatureFiles,
  samples_folder: string,
  target: string,
): Promise<{ sha256: string; bytes: number }> {
  const named = async (folder: string, ending: string, as: string) =>
    (await readdir(folder))
      .filter((name) => name.endsWith(ending))
      .sort()
      .map((name) => ({ name: `${as}/${name}`, path: join(folder, name) }));
  const sources: { name: string; path: string; feed?: Pick<FeedFile, 'kind' | 'severity'> }[] = [
    ...(await named(rules_folder, '.yar', 'rules')),
    ...(await named(samples_folder, '.json', 'samples')),
    ...feeds.map(({ id, path, kind, severity }) => ({ name: `feeds/${id}`, path, feed: { kind, severity } })),
  ];
  const files = [];
  for (const { path, ...source } of sources) {
    files.push({ ...source, bytes: (await stat(path)).size, sha256: await digestOf(path) });
  }
  const header = `${JSON.stringify(headerSchema.parse({ palisade_signatures: 1, files }))}\n`;
  const hash = createHash('sha256').update(header);
  let bytes = Buffer.byteLength(header);
  const out = createWriteStream(target, { mode: 0o600 });
  out.write(header);
  for (const { path } of sources) {
    const file = await open(path, 'r');
    try {
      for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: CHUNK_BYTES })) {
        hash.update(chunk);
        bytes += chunk.length;
        if (!out.write(chunk)) await new Promise<void>((resolve) => out.once('drain', resolve));
      }
    } finally {
      await file.close();
    }
  }
  out.end();
  await finished(out);
  return { sha256: hash.digest('hex'), bytes };
}

async function readHeader(file: FileHandle): Promise<{ files: z.infer<typeof headerSchema>['files']; end: number }> {
  const buffer = Buffer.alloc(HEADER_BYTES_MAXIMUM);
  const { bytesRead } = await file.read(buffer, 0, HEADER_BYTES_MAXIMUM, 0);
  const end = buffer.subarray(0, bytesRead).indexOf(NEW_LINE);
  let json: unknown;
  try {
    json = end < 0 ? undefined : JSON.parse(buffer.subarray(0, end).toString());
  } catch {
    json = undefined;
  }
  const read = headerSchema.safeParse(json);
  if (!read.success) throw new BadArchive('It does not say what is in it.');
  return { files: read.data.files, end: end + 1 };
}

/**
 * Unpacks a set into an empty folder. The sizes that the header lists must add up to the length of the file before any content is
 * read.
 * @throws BadArchive with the reason
 */
export async function unpackSignatures(path: string, folder: string): Promise<SignatureFiles & { samples_folder: string }> {
  const file = await open(path, 'r');
  try {
    const { files, end } = await readHeader(file);
    const { size } = await file.stat();
    if (files.reduce((sum, { bytes }) => sum + bytes, end) !== size) throw new BadArchive('It is not as long as it says.');
    if (new Set(files.map(({ name }) => name)).size !== files.length) throw new BadArchive('It names a file twice.');
    for (const name of ['rules', 'samples', 'feeds']) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
    let at = end;
    const feeds: FeedFile[] = [];
    for (const { name, bytes, sha256, feed } of files) {
      const target = join(folder, name);
      await copyPart(file, at, bytes, target);
      at += bytes;
      if ((await digestOf(target)) !== sha256) throw new BadArchive(`${name} is not what it should be.`);
      if (dirname(name) === 'feeds') {
        if (feed === undefined) throw new BadArchive(`${name} does not say what it is.`);
        feeds.push({ id: name.slice('feeds/'.length), path: target, digest: sha256, ...feed });
      }
    }
    return { rules_folder: join(folder, 'rules'), samples_folder: join(folder, 'samples'), feeds };
  } finally {
    await file.close();
  }
}

async function copyPart(from: FileHandle, start: number, bytes: number, target: string): Promise<void> {
  const to = await open(target, 'wx', 0o600);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let done = 0; done < bytes; ) {
      const { bytesRead } = await from.read(buffer, 0, Math.min(CHUNK_BYTES, bytes - done), start + done);
      if (bytesRead === 0) throw new BadArchive('It is cut off.');
      await to.writeFile(buffer.subarray(0, bytesRead));
      done += bytesRead;
    }
    await to.sync();
  } finally {
    await to.close();
  }
}
