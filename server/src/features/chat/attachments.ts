import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ATTACHMENT_BYTES_MAXIMUM, UNSENT_ATTACHMENTS_MAXIMUM } from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import type { LiveEvent } from '@palisade/contract/events';
import type { AttachmentOf } from '@palisade/contract/may';
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { StoreAwayError } from '#platform/blobs/blobs.ts';
import { logFailure } from '#platform/database-patience.ts';
import type { Disk } from '#platform/disk.ts';
import { newId } from '#platform/id.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { invalidField, Problem } from '#platform/problem.ts';
import { storageProblem } from '#platform/storage-problem.ts';
import { receiveUpload } from '#platform/upload.ts';
import type { ChatTables } from './chat.tables.ts';
import { type AttachmentRow, attachmentOf, type ConversationRow } from './records.ts';

/** Where files lie sealed: no store has a customer's file as it is. */
export interface SealedFiles {
  seal(file: SealedFile, bytes: AsyncIterable<Uint8Array>): Promise<unknown>;
  read(file: SealedFile): Promise<Readable>;
  /** Nothing there is no error. */
  remove(id: string): Promise<void>;
}

interface SealedFile {
  id: string;
  file_hash: string;
  size: number;
}

/** A file as the engines get it. `path` has its bytes. */
interface InspectedFile {
  id: string;
  user_id: string;
  path: string;
  size: number;
  sha256: string;
  name: string;
  signal: AbortSignal;
}

/** What the engines say of a file: `clean` only when every byte was read and nothing found. */
export type Inspect = (
  file: InspectedFile,
) => Promise<{ status: 'clean' | 'infected' | 'unread' | 'failed'; threat: string | null }>;

/** A file with what decides who may see it. */
export type FoundAttachment = AttachmentOf & { row: AttachmentRow };

/** Files of the chat. Each is scanned first; of what is not clean nothing is kept, and nothing can be sent. */
export interface Attachments {
  /** @throws Problem `conflict` for more files than one may have unsent, and what an upload is refused with. */
  receive(user_id: string, request: FastifyRequest): Promise<Attachment>;
  /** Scans a file that came another way, and answers once it has its verdict. One that is not clean is gone by then. */
  take(user_id: string, file: { name: string; bytes: Uint8Array }): Promise<Attachment>;
  find(id: string): Promise<FoundAttachment | undefined>;
  /** @throws Problem `conflict` when it is not clean. */
  read(row: AttachmentRow): Promise<Readable>;
  /** @throws Problem `conflict` when it was sent. */
  remove(row: AttachmentRow): Promise<void>;
  /** Removes the files of a conversation that goes, and what a person has not sent, as part of `database`'s transaction. Answers what removes their bytes. */
  forgetPerson(database: Kysely<ChatTables>, user_id: string): Promise<() => Promise<void>>;
  /** Removes conversations that were closed before `before` (ISO), with everything in them. */
  forgetOld(before: string): Promise<void>;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
const STALL_MS = 30_000;
const SLOW = { window_ms: 30_000, bytes: 30 * 1024 } as const;
/** A small file has its verdict by then; of another one the page is told. */
const WAIT_MS = 1_000;
/** A scan that has not ended by then never will: its server is gone. */
const LOST_AFTER_MS = 15 * MINUTE_MS;
const UNSENT_MS = 24 * 60 * MINUTE_MS;
const SWEPT_AT_ONCE = 200;
const HEAD_BYTES = 16;

const SWEEP = jobKind({ name: 'desk_attachments', payload: z.object({}), every_ms: 5 * MINUTE_MS });

/** The media type of a picture that browsers show without running anything in it; undefined for everything else, SVG first of all. */
function pictureType(head: Buffer): string | null {
  const begins = (text: string, at = 0) => head.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
  if (begins('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (begins('\xff\xd8\xff')) return 'image/jpeg';
  if (begins('GIF87a') || begins('GIF89a')) return 'image/gif';
  return begins('RIFF') && begins('WEBP', 8) ? 'image/webp' : null;
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export function createAttachments(parts: {
  database: Kysely<ChatTables>;
  /** Where files lie until they have their verdict; this server's own. */
  folder: string;
  disk: Disk;
  files: SealedFiles;
  inspect: Inspect;
  /** What is shown of a name that a stranger sent. */
  nameOf: (sent: string) => string;
  tell: (user_id: string, event: LiveEvent) => void;
  /** Told of a conversation that goes with its customer. */
  onForgotten: (conversation_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  upload_ms: number;
  now: () => number;
  logger: FastifyBaseLogger;
}): Attachments {
  const { database, folder, disk, files, inspect, nameOf, tell, onForgotten, jobs, upload_ms, now, logger } = parts;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const running = new Map<string, { done: Promise<void>; stop: AbortController }>();
  const before = (ms: number) => new Date(now() - ms).toISOString();

  const sealedOf = ({ id, sha256, size }: AttachmentRow): SealedFile => ({ id, file_hash: sha256, size });
  const rowOf = (id: string) => database.selectFrom('chat_attachments').selectAll().where('id', '=', id).executeTakeFirst();

  async function removeBytes(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      running.get(id)?.stop.abort();
      await files
        .remove(id)
        .catch((error: unknown) => logFailure(logger, error, 'a file of the chat could not be removed from the store'));
    }
  }

  async function conclude(row: AttachmentRow, path: string, signal: AbortSignal): Promise<void> {
    const { id, sha256, size, filename: name } = row;
    const user_id = row.uploader_id ?? '';
    const verdict = await inspect({ id, user_id, path, size, sha256, name, signal });
    const picture_type = verdict.status === 'clean' ? pictureType(await headOf(path)) : null;
    // First the bytes, then the word that they are there.
    if (verdict.status === 'clean') await files.seal(sealedOf(row), createReadStream(path));
    const concluded = await database
      .updateTable('chat_attachments')
      .set({ ...verdict, picture_type })
      .where('id', '=', id)
      .where('status', '=', 'scanning')
      .returningAll()
      .executeTakeFirst();
    if (concluded === undefined) await files.remove(id);
    else tell(user_id, { kind: 'chat_attachment', attachment: attachmentOf(concluded) });
  }

  async function fail(row: AttachmentRow): Promise<void> {
    const failed = await database
      .updateTable('chat_attachments')
      .set({ status: 'failed' })
      .where('id', '=', row.id)
      .where('status', '=', 'scanning')
      .returningAll()
      .executeTakeFirst();
    if (failed !== undefined && failed.uploader_id !== null)
      tell(failed.uploader_id, { kind: 'chat_attachment', attachment: attachmentOf(failed) });
  }

  function requireRoom(bytes: number): void {
    try {
      disk.require(bytes);
    } catch (error) {
      throw storageProblem(error);
    }
  }

  /** Writes down a file that lies at `path`. */
  async function arrived(file: { id: string; path: string; user_id: string; name: string; size: number; sha256: string }) {
    const { id, path, user_id, name, size, sha256 } = file;
    const row: AttachmentRow = {
      ...{ id, uploader_id: user_id, conversation_id: null, message_id: null, place: null },
      ...{ filename: nameOf(name), size, sha256, picture_type: null },
      ...{ status: 'scanning', threat: null, created_at: new Date(now()).toISOString() },
    };
    try {
      await database.insertInto('chat_attachments').values(row).execute();
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    return row;
  }

  function scan(row: AttachmentRow, path: string): Promise<void> {
    const stop = new AbortController();
    const done = conclude(row, path, stop.signal)
      .catch(async (error: unknown) => {
        logFailure(logger, error, 'a file of the chat could not be scanned');
        await fail(row);
      })
      .catch((error: unknown) => logFailure(logger, error, 'that a file of the chat was not scanned could not be noted'))
      .then(async () => {
        running.delete(row.id);
        await rm(path, { force: true });
      });
    running.set(row.id, { done, stop });
    return done;
  }

  jobs.handle(SWEEP, async () => {
    const lost = await database
      .selectFrom('chat_attachments')
      .selectAll()
      .where('status', '=', 'scanning')
      .where('created_at', '<', before(LOST_AFTER_MS))
      .limit(SWEPT_AT_ONCE)
      .execute();
    for (const row of lost) await fail(row);
    const unsent = await database
      .selectFrom('chat_attachments')
      .select('id')
      .where('message_id', 'is', null)
      .where('created_at', '<', before(UNSENT_MS))
      .limit(SWEPT_AT_ONCE)
      .execute();
    for (const { id } of unsent) {
      const gone = await database
        .deleteFrom('chat_attachments')
        .where('id', '=', id)
        .where('message_id', 'is', null)
        .returning('id')
        .executeTakeFirst();
      if (gone !== undefined) await removeBytes([id]);
    }
  });

  return {
    async receive(user_id, request) {
      const { count } = await database
        .selectFrom('chat_attachments')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('uploader_id', '=', user_id)
        .where('message_id', 'is', null)
        .executeTakeFirstOrThrow();
      if (Number(count) >= UNSENT_ATTACHMENTS_MAXIMUM)
        throw new Problem('conflict', {
          detail: 'You have many files here that you have not sent. Send them, or take some out.',
        });
      const id = newId();
      const path = join(folder, id);
      const upload = await receiveUpload(request, {
        ...{ field: 'file', path, memory_bytes: 0, maximum: ATTACHMENT_BYTES_MAXIMUM, take: requireRoom },
        ...{ stall_ms: STALL_MS, slow: SLOW, total_ms: upload_ms, signal: new AbortController().signal },
      });
      if (upload.size === 0) throw invalidField('file', 'This file is empty. Choose another one.');
      const row = await arrived({ id, path, user_id, name: upload.filename, size: upload.size, sha256: upload.sha256 });
      await Promise.race([scan(row, path), pause(WAIT_MS, undefined, { ref: false })]);
      return attachmentOf((await rowOf(id)) ?? row);
    },

    async take(user_id, { name, bytes }) {
      const id = newId();
      const path = join(folder, id);
      requireRoom(bytes.byteLength);
      await writeFile(path, bytes, { mode: 0o600 });
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const row = await arrived({ id, path, user_id, name, size: bytes.byteLength, sha256 });
      await scan(row, path);
      const read = (await rowOf(id)) ?? { ...row, status: 'failed' };
      if (read.status !== 'clean')
        await database.deleteFrom('chat_attachments').where('id', '=', id).where('message_id', 'is', null).execute();
      return attachmentOf(read);
    },

    async find(id) {
      const row = await rowOf(id);
      if (row === undefined) return undefined;
      const conversation: ConversationRow | undefined =
        row.conversation_id === null
          ? undefined
          : await database.selectFrom('conversations').selectAll().where('id', '=', row.conversation_id).executeTakeFirst();
      const message =
        row.message_id === null
          ? undefined
          : await database.selectFrom('chat_messages').select('is_note').where('id', '=', row.message_id).executeTakeFirst();
      return {
        row,
        uploader_id: row.uploader_id ?? '',
        status: row.status,
        is_note: message?.is_note === 1,
        conversation: conversation ?? null,
      };
    },

    async read(row) {
      if (row.status !== 'clean') throw new Problem('conflict', { detail: 'This file is not clean, so it cannot be opened.' });
      try {
        return await files.read(sealedOf(row));
      } catch (error) {
        if (error instanceof StoreAwayError) throw error;
        const current = await database.selectFrom('chat_attachments').select('id').where('id', '=', row.id).executeTakeFirst();
        if (current === undefined) throw new Problem('not_found', { cause: error });
        logger.error({ err: error, file: row.id }, 'a file of the chat could not be opened');
        throw new Problem('unavailable', { detail: 'The kept copy of this file does not open. Send it again.', cause: error });
      }
    },

    async remove({ id }) {
      const gone = await database
        .deleteFrom('chat_attachments')
        .where('id', '=', id)
        .where('message_id', 'is', null)
        .returning('id')
        .executeTakeFirst();
      if (gone === undefined)
        throw new Problem('conflict', { detail: 'This file was sent. What was sent stays in the conversation.' });
      await removeBytes([id]);
    },

    async forgetPerson(transaction, user_id) {
      const own = await transaction.selectFrom('conversations').select('id').where('user_id', '=', user_id).executeTakeFirst();
      const gone = await transaction
        .deleteFrom('chat_attachments')
        .where(({ or, and, eb }) =>
          or([eb('conversation_id', '=', own?.id ?? ''), and([eb('uploader_id', '=', user_id), eb('message_id', 'is', null)])]),
        )
        .returning('id')
        .execute();
      return async () => {
        if (own !== undefined) onForgotten(own.id);
        await removeBytes(gone.map(({ id }) => id));
      };
    },

    async forgetOld(closed_before) {
      for (;;) {
        const old = await database
          .selectFrom('conversations')
          .select('id')
          .where('status', '=', 'closed')
          .where('closed_at', '<', closed_before)
          .limit(SWEPT_AT_ONCE)
          .execute();
        for (const { id } of old) {
          const gone = await database.transaction().execute(async (transaction) => {
            // Taken by being written: what its customer writes meanwhile opens it, or comes after it.
            const taken = await transaction
              .updateTable('conversations')
              .set(({ ref }) => ({ version: ref('version') }))
              .where('id', '=', id)
              .where('status', '=', 'closed')
              .where('closed_at', '<', closed_before)
              .returning('id')
              .executeTakeFirst();
            if (taken === undefined) return undefined;
            const bytes = await transaction
              .deleteFrom('chat_attachments')
              .where('conversation_id', '=', id)
              .returning('id')
              .execute();
            await transaction.deleteFrom('conversations').where('id', '=', id).execute();
            return bytes;
          });
          if (gone === undefined) continue;
          onForgotten(id);
          await removeBytes(gone.map(({ id: of }) => of));
        }
        if (old.length < SWEPT_AT_ONCE) return;
      }
    },

    async close() {
      for (const { stop } of running.values()) stop.abort();
      await Promise.allSettled([...running.values()].map(({ done }) => done));
    },
  };
}
