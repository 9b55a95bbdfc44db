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
import { inPages } from '#platform/batches.ts';
import { inTransaction } from '#platform/in-transaction.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { ArrivedFile, FileVerdict, ScannedFiles } from '#platform/scanned-files.ts';
import { refuse } from './chat.refusals.ts';
import type { ChatTables } from './chat.tables.ts';
import { type AttachmentRow, attachmentOf, type ConversationRow } from './records.ts';

/** A file with what decides who may see it. */
export type FoundAttachment = AttachmentOf & { row: AttachmentRow };

const MINUTE_MS = 60_000;
/** Wait of the upload for a verdict, in ms: a small file has one by then; for a larger one the page gets it later. */
const WAIT_MS = 1_000;
/** A scan without an end after this many ms was lost with its server. */
const LOST_AFTER_MS = 15 * MINUTE_MS;
const UNSENT_MS = 24 * 60 * MINUTE_MS;
const SWEPT_AT_ONCE = 200;
const HEAD_BYTES = 16;
/** The name shown for a person who answered and whose account is gone. */
const FORMER_AGENT = 'A former technician';

const SWEEP = jobKind({ name: 'desk_attachments', payload: z.object({}), every_ms: 5 * MINUTE_MS });

/** The media type of a picture that browsers show without running code; undefined for everything else, above all SVG. */
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

interface AttachmentsOptions {
  database: Kysely<ChatTables>;
  files: ScannedFiles;
  /** The shown form of a stranger's filename. */
  nameOf: (sent: string) => string;
  tell: (user_id: string, event: LiveEvent) => void;
  /** Called with a conversation that is deleted with its customer. */
  onForgotten: (conversation_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
}

const before = (now: () => number, ms: number) => new Date(now() - ms).toISOString();

const rowOf = (database: Kysely<ChatTables>, id: string) =>
  database.selectFrom('chat_attachments').selectAll().where('id', '=', id).executeTakeFirst();

/** Files of the chat. Each is scanned first; one that is not clean is removed, and cannot be sent. */
export class Attachments {
  private readonly database: Kysely<ChatTables>;
  private readonly files: ScannedFiles;
  private readonly nameOf: (sent: string) => string;
  private readonly tell: (user_id: string, event: LiveEvent) => void;
  private readonly onForgotten: (conversation_id: string) => void;
  private readonly now: () => number;
  /** Uploads of each person that this server is receiving. They count before their rows exist. */
  private readonly arriving = new Map<string, Set<{ id?: string }>>();

  constructor(options: AttachmentsOptions) {
    this.database = options.database;
    this.files = options.files;
    this.nameOf = options.nameOf;
    this.tell = options.tell;
    this.onForgotten = options.onForgotten;
    this.now = options.now;
    options.jobs.handle(SWEEP, async () => {
      const lost = await this.database
        .selectFrom('chat_attachments')
        .selectAll()
        .where('status', '=', 'scanning')
        .where('created_at', '<', before(this.now, LOST_AFTER_MS))
        .limit(SWEPT_AT_ONCE)
        .execute();
      for (const row of lost) await this.fail(row);
      const unsent = await this.database
        .selectFrom('chat_attachments')
        .select('id')
        .where('message_id', 'is', null)
        .where('created_at', '<', before(this.now, UNSENT_MS))
        .limit(SWEPT_AT_ONCE)
        .execute();
      for (const { id } of unsent) {
        const gone = await this.database
          .deleteFrom('chat_attachments')
          .where('id', '=', id)
          .where('message_id', 'is', null)
          .returning('id')
          .executeTakeFirst();
        if (gone !== undefined) await this.files.removeBytes([id]);
      }
    });
  }

  private async conclude(row: AttachmentRow, path: string, verdict: FileVerdict): Promise<boolean> {
    const picture_type = verdict.status === 'clean' ? pictureType(await headOf(path)) : null;
    const concluded = await this.database
      .updateTable('chat_attachments')
      .set({ ...verdict, picture_type })
      .where('id', '=', row.id)
      .where('status', '=', 'scanning')
      .returningAll()
      .executeTakeFirst();
    if (concluded === undefined) return false;
    this.tell(row.uploader_id ?? '', { kind: 'chat_attachment', attachment: attachmentOf(concluded) });
    return true;
  }

  private async fail(row: AttachmentRow): Promise<void> {
    const failed = await this.database
      .updateTable('chat_attachments')
      .set({ status: 'failed' })
      .where('id', '=', row.id)
      .where('status', '=', 'scanning')
      .returningAll()
      .executeTakeFirst();
    if (failed !== undefined && failed.uploader_id !== null)
      this.tell(failed.uploader_id, { kind: 'chat_attachment', attachment: attachmentOf(failed) });
  }

  /** Stores the record of a received file. */
  private async noteArrived(user_id: string, file: ArrivedFile): Promise<AttachmentRow> {
    const { id, size, sha256, name } = file;
    const row: AttachmentRow = {
      id,
      uploader_id: user_id,
      conversation_id: null,
      message_id: null,
      place: null,
      filename: this.nameOf(name),
      size,
      sha256,
      picture_type: null,
      status: 'scanning',
      threat: null,
      created_at: new Date(this.now()).toISOString(),
    };
    try {
      await this.database.insertInto('chat_attachments').values(row).execute();
    } catch (error) {
      await this.files.discard(file);
      throw error;
    }
    return row;
  }

  private scan(user_id: string, file: ArrivedFile, row: AttachmentRow) {
    return this.files.scan(file, {
      user_id,
      conclude: (verdict) => this.conclude(row, file.path, verdict),
      fail: () => this.fail(row),
    });
  }

  /** Counts a person's unsent files, plus uploads that began earlier; an upload whose row already exists counts once. */
  private async countUnsent(user_id: string, earlier: readonly { id?: string }[]): Promise<number> {
    const rows = await this.database
      .selectFrom('chat_attachments')
      .select('id')
      .where('uploader_id', '=', user_id)
      .where('message_id', 'is', null)
      .execute();
    const stored = new Set(rows.map(({ id }) => id));
    return stored.size + earlier.filter(({ id }) => id === undefined || !stored.has(id)).length;
  }

  /** @throws Problem `conflict` for more files than one may have unsent, and what an upload is refused with. */
  async receive(user_id: string, request: FastifyRequest): Promise<Attachment> {
    const uploads = this.arriving.get(user_id) ?? new Set();
    this.arriving.set(user_id, uploads);
    const earlier = [...uploads];
    const upload: { id?: string } = {};
    uploads.add(upload);
    let file: ArrivedFile;
    let row: AttachmentRow;
    try {
      if ((await this.countUnsent(user_id, earlier)) >= UNSENT_ATTACHMENTS_MAXIMUM) throw refuse('attachment.too_many_unsent');
      file = await this.files.receive(request, ATTACHMENT_BYTES_MAXIMUM);
      upload.id = file.id;
      row = await this.noteArrived(user_id, file);
    } finally {
      uploads.delete(upload);
      if (uploads.size === 0) this.arriving.delete(user_id);
    }
    await Promise.race([this.scan(user_id, file, row), pause(WAIT_MS, undefined, { ref: false })]);
    return attachmentOf((await rowOf(this.database, row.id)) ?? row);
  }

  /** Scans a file that was not uploaded, and resolves with its verdict. One that is not clean has then been removed. */
  async take(user_id: string, { name, bytes }: { name: string; bytes: Uint8Array }): Promise<Attachment> {
    const file = await this.files.take({ name, bytes });
    const row = await this.noteArrived(user_id, file);
    await this.scan(user_id, file, row);
    const read = (await rowOf(this.database, row.id)) ?? { ...row, status: 'failed' };
    if (read.status !== 'clean')
      await this.database.deleteFrom('chat_attachments').where('id', '=', row.id).where('message_id', 'is', null).execute();
    return attachmentOf(read);
  }

  async find(id: string): Promise<FoundAttachment | undefined> {
    const row = await rowOf(this.database, id);
    if (row === undefined) return undefined;
    const conversation: ConversationRow | undefined =
      row.conversation_id === null
        ? undefined
        : await this.database.selectFrom('conversations').selectAll().where('id', '=', row.conversation_id).executeTakeFirst();
    const message =
      row.message_id === null
        ? undefined
        : await this.database.selectFrom('chat_messages').select('is_note').where('id', '=', row.message_id).executeTakeFirst();
    return {
      row,
      uploader_id: row.uploader_id ?? '',
      status: row.status,
      is_note: message?.is_note === 1,
      conversation: conversation ?? null,
    };
  }

  /** @throws Problem `conflict` when it is not clean. */
  async read(row: AttachmentRow): Promise<Readable> {
    if (row.status !== 'clean') throw refuse('attachment.not_clean');
    try {
      return await this.files.read(row);
    } catch (error) {
      const current = await this.database.selectFrom('chat_attachments').select('id').where('id', '=', row.id).executeTakeFirst();
      if (current === undefined) throw new Problem('not_found', { cause: error });
      throw error;
    }
  }

  /** @throws Problem `conflict` when it was sent. */
  async remove({ id }: AttachmentRow): Promise<void> {
    const gone = await this.database
      .deleteFrom('chat_attachments')
      .where('id', '=', id)
      .where('message_id', 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (gone === undefined) throw refuse('attachment.sent');
    await this.files.removeBytes([id]);
  }

  /** Deletes the files of a deleted conversation, a person's unsent ones, and their name from their answers to others, as part of a transaction. Returns the work that removes the bytes. */
  async forgetPerson(transaction: Kysely<ChatTables>, user_id: string): Promise<() => Promise<void>> {
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
      if (own !== undefined) this.onForgotten(own.id);
      await this.files.removeBytes([...gone, ...mails].map(({ id }) => id));
    };
  }

  /** Removes conversations that were closed before `before` (ISO), with everything in them. */
  async forgetOld(closed_before: string): Promise<void> {
    const pages = inPages(SWEPT_AT_ONCE, () =>
      this.database
        .selectFrom('conversations')
        .select('id')
        .where('status', '=', 'closed')
        .where('closed_at', '<', closed_before)
        .limit(SWEPT_AT_ONCE)
        .execute(),
    );
    for await (const old of pages) {
      for (const { id } of old) {
        const gone = await inTransaction(this.database, async (transaction) => {
          // The update locks the row: a concurrent message of its customer either reopens it first, or comes after the deletion.
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
          const mails = await transaction.deleteFrom('arrived_mails').where('conversation_id', '=', id).returning('id').execute();
          await transaction.deleteFrom('conversations').where('id', '=', id).execute();
          return [...bytes, ...mails];
        });
        if (gone === undefined) continue;
        this.onForgotten(id);
        await this.files.removeBytes(gone.map(({ id: of }) => of));
      }
    }
  }

  close(): Promise<void> {
    return this.files.close();
  }
}

export function createAttachments(options: AttachmentsOptions): Attachments {
  return new Attachments(options);
}
