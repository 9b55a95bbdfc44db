import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { ATTACHMENT_BYTES_MAXIMUM, UNSENT_ATTACHMENTS_MAXIMUM } from '@palisade/contract/chat';
import type { Attachment } from '@palisade/contract/chat-record';
import type { LiveEvent } from '@palisade/contract/events';
import type { AttachmentOf } from '@palisade/contract/may';
import type { FastifyRequest } from 'fastify';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { ArrivedFile, FileVerdict, ScannedFiles } from '#platform/scanned-files.ts';
import type { ChatTables } from './chat.tables.ts';
import { type AttachmentRow, attachmentOf, type ConversationRow } from './records.ts';

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
  /** Removes the files of a conversation that goes, what a person has not sent, and their name from what they answered others, as part of `database`'s transaction. Answers what removes the bytes. */
  forgetPerson(database: Kysely<ChatTables>, user_id: string): Promise<() => Promise<void>>;
  /** Removes conversations that were closed before `before` (ISO), with everything in them. */
  forgetOld(before: string): Promise<void>;
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** A small file has its verdict by then; of another one the page is told. */
const WAIT_MS = 1_000;
/** A scan that has not ended by then never will: its server is gone. */
const LOST_AFTER_MS = 15 * MINUTE_MS;
const UNSENT_MS = 24 * 60 * MINUTE_MS;
const SWEPT_AT_ONCE = 200;
const HEAD_BYTES = 16;
/** Who answered, where the account is gone. */
const FORMER_AGENT = 'A former technician';

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
  files: ScannedFiles;
  /** What is shown of a name that a stranger sent. */
  nameOf: (sent: string) => string;
  tell: (user_id: string, event: LiveEvent) => void;
  /** Told of a conversation that goes with its customer. */
  onForgotten: (conversation_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
}): Attachments {
  const { database, files, nameOf, tell, onForgotten, jobs, now } = parts;
  const before = (ms: number) => new Date(now() - ms).toISOString();
  /** Files of a person that this server receives just now: they are counted before they are there. */
  const arriving = new Map<string, number>();

  const rowOf = (id: string) => database.selectFrom('chat_attachments').selectAll().where('id', '=', id).executeTakeFirst();

  async function conclude(row: AttachmentRow, path: string, verdict: FileVerdict): Promise<boolean> {
    const picture_type = verdict.status === 'clean' ? pictureType(await headOf(path)) : null;
    const concluded = await database
      .updateTable('chat_attachments')
      .set({ ...verdict, picture_type })
      .where('id', '=', row.id)
      .where('status', '=', 'scanning')
      .returningAll()
      .executeTakeFirst();
    if (concluded === undefined) return false;
    tell(row.uploader_id ?? '', { kind: 'chat_attachment', attachment: attachmentOf(concluded) });
    return true;
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

  /** Writes down a file that has arrived. */
  async function noteArrived(user_id: string, file: ArrivedFile): Promise<AttachmentRow> {
    const { id, size, sha256, name } = file;
    const row: AttachmentRow = {
      ...{ id, uploader_id: user_id, conversation_id: null, message_id: null, place: null },
      ...{ filename: nameOf(name), size, sha256, picture_type: null },
      ...{ status: 'scanning', threat: null, created_at: new Date(now()).toISOString() },
    };
    try {
      await database.insertInto('chat_attachments').values(row).execute();
    } catch (error) {
      await files.discard(file);
      throw error;
    }
    return row;
  }

  const scan = (user_id: string, file: ArrivedFile, row: AttachmentRow) =>
    files.scan(file, { user_id, conclude: (verdict) => conclude(row, file.path, verdict), fail: () => fail(row) });

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
      if (gone !== undefined) await files.removeBytes([id]);
    }
  });

  return {
    async receive(user_id, request) {
      const others = arriving.get(user_id) ?? 0;
      arriving.set(user_id, others + 1);
      let file: ArrivedFile;
      let row: AttachmentRow;
      try {
        const { count } = await database
          .selectFrom('chat_attachments')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('uploader_id', '=', user_id)
          .where('message_id', 'is', null)
          .executeTakeFirstOrThrow();
        if (Number(count) + others >= UNSENT_ATTACHMENTS_MAXIMUM)
          throw new Problem('conflict', {
            detail: 'You have many files here that you have not sent. Send them, or take some out.',
          });
        file = await files.receive(request, ATTACHMENT_BYTES_MAXIMUM);
        row = await noteArrived(user_id, file);
      } finally {
        const left = (arriving.get(user_id) ?? 1) - 1;
        if (left === 0) arriving.delete(user_id);
        else arriving.set(user_id, left);
      }
      await Promise.race([scan(user_id, file, row), pause(WAIT_MS, undefined, { ref: false })]);
      return attachmentOf((await rowOf(row.id)) ?? row);
    },

    async take(user_id, { name, bytes }) {
      const file = await files.take({ name, bytes });
      const row = await noteArrived(user_id, file);
      await scan(user_id, file, row);
      const read = (await rowOf(row.id)) ?? { ...row, status: 'failed' };
      if (read.status !== 'clean')
        await database.deleteFrom('chat_attachments').where('id', '=', row.id).where('message_id', 'is', null).execute();
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
        return await files.read(row);
      } catch (error) {
        const current = await database.selectFrom('chat_attachments').select('id').where('id', '=', row.id).executeTakeFirst();
        if (current === undefined) throw new Problem('not_found', { cause: error });
        throw error;
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
      await files.removeBytes([id]);
    },

    async forgetPerson(transaction, user_id) {
      await transaction
        .updateTable('chat_messages')
        .set({ author: FORMER_AGENT })
        .where('author_id', '=', user_id)
        .where('author', 'is not', null)
        .execute();
      const own = await transaction.selectFrom('conversations').select('id').where('user_id', '=', user_id).executeTakeFirst();
      const gone = await transaction
        .deleteFrom('chat_attachments')
        .where(({ or, and, eb }) =>
          or([eb('conversation_id', '=', own?.id ?? ''), and([eb('uploader_id', '=', user_id), eb('message_id', 'is', null)])]),
        )
        .returning('id')
        .execute();
      const mails = await transaction.deleteFrom('arrived_mails').where('user_id', '=', user_id).returning('id').execute();
      return async () => {
        if (own !== undefined) onForgotten(own.id);
        await files.removeBytes([...gone, ...mails].map(({ id }) => id));
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
            const mails = await transaction
              .deleteFrom('arrived_mails')
              .where('conversation_id', '=', id)
              .returning('id')
              .execute();
            await transaction.deleteFrom('conversations').where('id', '=', id).execute();
            return [...bytes, ...mails];
          });
          if (gone === undefined) continue;
          onForgotten(id);
          await files.removeBytes(gone.map(({ id: of }) => of));
        }
        if (old.length < SWEPT_AT_ONCE) return;
      }
    },

    close: files.close,
  };
}
