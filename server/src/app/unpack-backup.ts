import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { VERSION } from '@palisade/contract/constants';
import type { z } from 'zod';
import { BASELINE, migrations } from '#migrations/all.ts';
import { readKeyFile } from '#platform/key-file.ts';
import { describeOldData, versionOf } from '#platform/migrations.ts';
import type { Settings } from '#platform/settings.ts';
import { readTar, TarError } from '#platform/tar-file.ts';
import {
  BackupError,
  ENTRY,
  FORMAT,
  HEAD,
  type Head,
  headSchema,
  MANIFEST,
  MANIFEST_MAC,
  MANIFEST_SUM,
  type Manifest,
  manifestSchema,
  signManifest,
} from './backup-format.ts';

const MANIFEST_BYTES_MAXIMUM = 1024 ** 3;

export const damaged = (file: string, what: string) =>
  new BackupError(`${file} is damaged: it ${what}. Use another backup. Nothing was changed.`);

/** Whether version `a` is newer than `b`. */
function isNewer(a: string, b: string): boolean {
  return a.localeCompare(b, 'en', { numeric: true }) > 0;
}

function requireKnown(file: string, { format, version, migrations: has }: Head): void {
  const of = versionOf(has, migrations, BASELINE);
  if (of === 'older') throw new BackupError(describeOldData(BASELINE, file));
  if (format > FORMAT || isNewer(version, VERSION) || of === 'newer')
    throw new BackupError(
      `${file} needs Palisade ${version}, which is newer than this version (${VERSION}). Restore it with that version. Nothing was changed.`,
    );
}

function requireKind(file: string, { database }: Head, settings: Settings): void {
  const here = settings.database_url === undefined ? 'sqlite' : 'postgresql';
  if (database === here) return;
  throw new BackupError(
    database === 'sqlite'
      ? `${file} is from a server with the embedded database. Unset DATABASE_URL to restore it. Nothing was changed.`
      : `${file} is from a server with PostgreSQL. Set DATABASE_URL to an empty database. Nothing was changed.`,
  );
}

/** Refuses a backup without a valid signature of this installation's key: from another machine, older than signed backups, or forged. */
function requireSigned(file: string, signed: { sum: string; mac: string | undefined }, settings: Settings): void {
  const { sum, mac } = signed;
  const path = settings.backup_key_file;
  const key = readKeyFile(path);
  const wanted = key === undefined ? undefined : Buffer.from(signManifest(key, sum));
  const found = Buffer.from(mac ?? '');
  if (wanted !== undefined && wanted.length === found.length && timingSafeEqual(wanted, found)) return;
  const reason =
    mac === undefined
      ? 'has no signature, like those of older versions'
      : wanted === undefined
        ? `can’t be checked without the key that signed it: ${path} is missing`
        : `isn’t signed with the key in ${path}`;
  throw new BackupError(
    `${file} ${reason}. Set BACKUP_KEY_FILE to a copy of that key. Use --trust only if no other person could write this file. Nothing was changed.`,
  );
}

/** Unpacks the archive into a folder. Its content is valid only after the whole archive is read and verified. `trust` skips the check of the signature. */
export async function unpack(
  file: string,
  stage: string,
  { settings, trust }: { settings: Settings; trust: boolean },
): Promise<{ head: Head; manifest: Manifest }> {
  const source = await open(file, 'r').catch((error: unknown) => {
    throw new BackupError(`We can’t read the backup ${file} (${error instanceof Error ? error.message : String(error)}).`);
  });
  try {
    const found = new Map<string, { size: number; sha256: string }>();
    let head: Head | undefined;
    let manifest: Manifest | undefined;
    let sum: string | undefined;
    let mac: string | undefined;
    let is_whole = false;
    for await (const { name, size, content } of readTar(source)) {
      if (head === undefined && name !== HEAD) throw new BackupError(`${file} isn’t a Palisade backup. Nothing was changed.`);
      const is_late = manifest !== undefined && name !== MANIFEST_SUM && name !== MANIFEST_MAC;
      if (is_late || is_whole || !ENTRY.test(name) || found.has(name)) throw damaged(file, `holds ${JSON.stringify(name)}`);
      if (/^(backup|manifest)\./.test(name) && size > MANIFEST_BYTES_MAXIMUM) throw damaged(file, `has an unfinished ${name}`);
      const path = join(stage, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const hash = createHash('sha256');
      const target = await open(path, 'wx', 0o600);
      try {
        for await (const bytes of content) {
          hash.update(bytes);
          await target.writeFile(bytes);
        }
        await target.sync();
      } finally {
        await target.close();
      }
      if (name === HEAD) {
        head = parsed(file, path, headSchema);
        requireKnown(file, head);
        requireKind(file, head, settings);
      } else if (name === MANIFEST) manifest = parsed(file, path, manifestSchema);
      const sha256 = hash.digest('hex');
      if (name === MANIFEST) sum = sha256;
      else if (name === MANIFEST_MAC && size < 1_000) mac = readFileSync(path, 'latin1');
      else if (name !== MANIFEST_SUM) found.set(name, { size, sha256 });
      else if (readFileSync(path, 'latin1') === sum) is_whole = true;
    }
    if (head === undefined || manifest === undefined || !is_whole) throw damaged(file, 'ends too early');
    for (const { name, size, sha256 } of manifest.files) {
      const real = found.get(name);
      if (real === undefined) throw damaged(file, `lacks ${name}`);
      if (real.size !== size || real.sha256 !== sha256)
        throw damaged(file, `has changed bytes in ${name} (the checksum doesn’t match)`);
      found.delete(name);
    }
    if (found.size > 0) throw damaged(file, `contains ${JSON.stringify([...found.keys()][0])}, which isn’t part of the backup`);
    if (!trust) requireSigned(file, { sum: sum ?? '', mac }, settings);
    return { head, manifest };
  } catch (error) {
    if (error instanceof TarError) throw damaged(file, error.message);
    throw error;
  } finally {
    await source.close();
  }
}

function parsed<T>(file: string, path: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw damaged(file, 'has no description');
  }
}
