import { createReadStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Signatures } from '@palisade/contract/agent';
import { packSignatures } from '@palisade/scanner/signature-archive';
import type { SignatureFiles } from '@palisade/scanner/signature-files';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { isUniqueViolation } from '#platform/database.ts';
import type { DeviceTables } from './devices.tables.ts';

/** The signatures that this server uses, as one file for devices. */
export interface SignatureEditions {
  /** The newest; null while there is none. It is made again when the signatures are not those that it was made of. */
  current(): Promise<Signatures | null>;
  /** The file of `current`; undefined for any other version. */
  open(version: string): Promise<Readable | undefined>;
}

const DIGITS = 12;
/** Other servers may take a number at the same moment. */
const TRIES = 5;

export function createSignatureEditions(parts: {
  database: Kysely<DeviceTables>;
  /** The signature files of this server's engines. */
  files: () => SignatureFiles;
  samples_folder: string;
  /** The path of the file. */
  folder: string;
  logger: Pick<FastifyBaseLogger, 'error'>;
  now: () => number;
}): SignatureEditions {
  const { database, files, samples_folder, folder, logger, now } = parts;
  let made: { of: string; edition: Signatures; path: string } | undefined;
  let making: Promise<void> | undefined;

  /** The number of a content: that of the newest edition where it is the same, else the next one. */
  async function numberOf(sha256: string): Promise<number> {
    for (let turn = 1; ; turn += 1) {
      const newest = await database
        .selectFrom('signature_editions')
        .select(['number', 'sha256'])
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst();
      if (newest?.sha256 === sha256) return newest.number;
      const number = (newest?.number ?? 0) + 1;
      try {
        await database
          .insertInto('signature_editions')
          .values({ number, sha256, issued_at: new Date(now()).toISOString() })
          .execute();
        return number;
      } catch (error) {
        if (!isUniqueViolation(error, 'number') || turn >= TRIES) throw error;
      }
    }
  }

  async function make(of: string): Promise<void> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const staged = join(folder, 'new');
    const { sha256, bytes } = await packSignatures(files(), samples_folder, staged);
    const number = await numberOf(sha256);
    const path = join(folder, sha256);
    await rename(staged, path);
    const before = made?.path;
    made = { of, path, edition: { number, version: `${number}-${sha256.slice(0, DIGITS)}`, sha256, bytes } };
    // Current readers of the old file can read it to its end.
    if (before !== undefined && before !== path) await rm(before, { force: true });
  }

  async function current(): Promise<Signatures | null> {
    const { rules_folder, feeds } = files();
    const of = JSON.stringify([rules_folder, feeds.map(({ id, digest, severity }) => [id, digest, severity])]);
    if (made?.of !== of) {
      making ??= make(of)
        .catch((error: unknown) =>
          logger.error({ err: error }, 'no set of signatures could be made for devices; they keep theirs'),
        )
        .finally(() => (making = undefined));
      await making;
    }
    return made?.edition ?? null;
  }

  return {
    current,
    async open(version) {
      const edition = await current();
      return edition?.version === version && made !== undefined ? createReadStream(made.path) : undefined;
    },
  };
}
