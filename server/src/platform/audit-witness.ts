import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { type AuditTables, HEAD, isSealed } from './audit.ts';
import type { AuditMark } from './audit-verify.ts';
import { logFailure } from './database-patience.ts';
import { newId } from './id.ts';
import { parseJson } from './parse-json.ts';

const noteSchema = z.object({ seq: z.int(), hash: z.string(), mac: z.string() });

/** This server's note of the newest log entry: a file beside the keys, outside the database. */
export interface WitnessFile {
  /** Undefined before the first note. @throws when the file exists and was not written with the key. */
  read(): AuditMark | undefined;
  write(mark: { seq: number; hash: string }): void;
}

export function openWitness(path: string, key: Buffer): WitnessFile {
  const macOf = ({ seq, hash }: { seq: number; hash: string }) =>
    createHmac('sha256', key)
      .update(JSON.stringify(['palisade audit witness 1', seq, hash]))
      .digest('hex');
  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, 'utf8');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
      const note = noteSchema.safeParse(parseJson(text)).data;
      if (note === undefined || note.mac !== macOf(note))
        throw new Error(`The audit log’s end mark, ${path}, has the wrong key. Restore it, or run palisade accept-keys audit.`);
      return { seq: note.seq, hash: note.hash, by: 'this server’s own note' };
    },

    write({ seq, hash }) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const made = `${path}.${newId()}`;
      try {
        writeFileSync(made, `${JSON.stringify({ seq, hash, mac: macOf({ seq, hash }) })}\n`, { mode: 0o600, flush: true });
        renameSync(made, path);
      } finally {
        rmSync(made, { force: true });
      }
    },
  };
}

/** Interval at which the log is compared with this server's own note, in ms, even if no entry was added. */
const COMPARED_EVERY_MS = 3_600_000;
/** Entries within this many ms are noted together: truncation within this interval is undetected. */
const NOTED_AFTER_MS = 1_000;

/** Keeps the note of the newest entry up to date. A log that contradicts the note never replaces it. */
export interface AuditWitness {
  /** Call this when an entry was added; it need not be committed yet. */
  wake(): void;
  /** Compares the log with the note, then updates the note. */
  look(): Promise<void>;
  /** Notes the last entry. */
  close(): Promise<void>;
}

export function createAuditWitness(parts: {
  database: Kysely<AuditTables>;
  file: WitnessFile;
  key: Buffer;
  logger: FastifyBaseLogger;
}): AuditWitness {
  const { database, file, key, logger } = parts;
  let waiting: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  let told = false;

  async function isThere({ seq, hash }: AuditMark, anchor: { seq: number; hash: string }): Promise<boolean> {
    // Entries removed by retention cannot be compared; the sealed anchor of the log vouches for them.
    if (seq < anchor.seq || seq === 0) return true;
    if (seq === anchor.seq) return hash === anchor.hash;
    const entry = await database.selectFrom('audit_entries').select('hash').where('seq', '=', seq).executeTakeFirst();
    return entry?.hash === hash;
  }

  async function compare(): Promise<void> {
    const mark = file.read();
    const head = await database.selectFrom('audit_head').selectAll().where('id', '=', HEAD).executeTakeFirst();
    const holds =
      head !== undefined &&
      isSealed(key, head) &&
      (mark === undefined || (await isThere(mark, { seq: head.anchor_seq, hash: head.anchor_hash })));
    if (holds) {
      if (head.seq !== mark?.seq) file.write(head);
      return;
    }
    if (told) return;
    told = true;
    logger.error(
      { noted: mark?.seq, found: head?.seq },
      'the audit log is not the one that this server wrote: run palisade verify',
    );
  }

  const look = () => {
    looking = looking.then(compare).catch((error: unknown) => {
      logFailure(logger, error, 'could not store the end of the audit log');
    });
    return looking;
  };

  const timer = setInterval(() => void look(), COMPARED_EVERY_MS).unref();

  return {
    wake() {
      waiting ??= setTimeout(() => {
        waiting = undefined;
        void look();
      }, NOTED_AFTER_MS).unref();
    },
    look,
    async close() {
      clearInterval(timer);
      clearTimeout(waiting);
      await look();
    },
  };
}
