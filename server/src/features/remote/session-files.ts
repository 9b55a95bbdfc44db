import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { UserInfo } from '@palisade/contract/auth';
import {
  RECORDING_BYTES_MAXIMUM,
  RECORDING_PATIENCE,
  RECORDINGS_MAXIMUM,
  SESSION_FILE_BYTES_MAXIMUM,
  SESSION_FILE_LIFETIME,
  SESSION_FILES_AT_ONCE,
  SESSION_FILES_MAXIMUM,
  type SessionFile,
  type SessionFileStatus,
} from '@palisade/contract/remote-files';
import type { GrantKind } from '@palisade/contract/remote-grant';
import type { Side } from '@palisade/contract/remote-record';
import type { FastifyRequest } from 'fastify';
import type { Kysely, Selectable } from 'kysely';
import { z } from 'zod';
import { BlobNotFoundError } from '#platform/blobs/blobs.ts';
import { newId } from '#platform/id.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { ArrivedFile, FileVerdict, ScannedFiles } from '#platform/scanned-files.ts';
import type { RemoteTables } from './remote.tables.ts';
import type { Remote } from './remote.ts';
import type { By, Note } from './session-changes.ts';
import { heldGrants, type Row } from './session-state.ts';

type FileRow = Selectable<RemoteTables['remote_files']>;

/** A file with the session that decides who may see it. */
export interface FoundFile {
  file: FileRow;
  session: Row;
}

/** What the sides of a session send to each other. Each file is scanned first; of what is not clean, or not wanted, nothing is kept. */
export interface SessionFiles {
  list(session: Row): Promise<SessionFile[]>;
  find(id: string): Promise<FoundFile | undefined>;
  /** @throws Problem `conflict` when files are not allowed just now, or there are too many; and what an upload is refused with. */
  send(me: UserInfo, session: Row, by: By, request: FastifyRequest): Promise<SessionFile>;
  /** @throws Problem `conflict` when recording is not allowed just now, or there are too many. */
  beginRecording(me: UserInfo, session: Row, by: By): Promise<SessionFile>;
  /** @throws Problem `conflict` for one that was handed in, is lost, or was refused. */
  receiveRecording(me: UserInfo, found: FoundFile, request: FastifyRequest): Promise<SessionFile>;
  /** @throws Problem `conflict` for one of which nothing is kept. */
  refuse(found: FoundFile, by: By): Promise<SessionFile>;
  /** @throws Problem `conflict` when it is not clean. */
  read(found: FoundFile, by: By): Promise<Readable>;
  /** Deletes what has had its time, and gives up what will not come any more. */
  sweep(): Promise<void>;
  /** Removes the files of a person's sessions, as part of `database`'s transaction, and takes their name off others. Answers what removes the bytes. */
  forgetPerson(database: Kysely<RemoteTables>, user_id: string): Promise<() => Promise<void>>;
}

const MINUTE_MS = 60_000;
/** A small file has its verdict by then; of another one the pages are told. */
const WAIT_MS = 1_000;
/** A scan that has not ended by then never will: its server is gone. */
const LOST_AFTER_MS = 15 * MINUTE_MS;
const SWEPT_AT_ONCE = 200;
const FORMER_AGENT = 'A former technician';

const SWEEP = jobKind({ name: 'remote_files', payload: z.object({}), every_ms: 5 * MINUTE_MS });

const NOT_ALLOWED: Record<'files' | 'recording', string> = {
  files: 'Files are sent while the session runs and the customer allows them. They do not just now.',
  recording: 'The picture is recorded while the session runs and the customer allows it. They do not just now.',
};
const TOO_MANY = `A session has at most ${SESSION_FILES_MAXIMUM} files.`;
const TOO_MANY_RECORDINGS = `A session has at most ${RECORDINGS_MAXIMUM} recordings.`;
const TOO_MANY_AT_ONCE = `${SESSION_FILES_AT_ONCE} files are on their way. Wait until they have arrived.`;
const NOT_AWAITED = 'This recording is not awaited any more: it was handed in, refused or given up.';
const NOT_CLEAN = 'This file is not clean, or not scanned yet, so nobody can open it.';
const NOTHING_KEPT = 'Nothing is kept of this file.';
const IS_GONE = 'This file is not kept any more.';

const KEPT: ReadonlySet<SessionFileStatus> = new Set(['recording', 'scanning', 'clean']);

function fileOf(
  { user_id: _user, sha256: _hash, arrived_at: _at, ...file }: FileRow,
  session: Pick<Row, 'ended_at'>,
): SessionFile {
  const { ended_at } = session;
  return { ...file, deleted_at: ended_at === null ? null : new Date(Date.parse(ended_at) + SESSION_FILE_LIFETIME).toISOString() };
}

export function createSessionFiles(parts: {
  database: Kysely<RemoteTables>;
  remote: Pick<Remote, 'find' | 'change'>;
  files: ScannedFiles;
  /** What is shown of a name that a stranger sent. */
  nameOf: (sent: string) => string;
  /** Told of both sides of a session in which a file is not as it was. */
  onChange: (user_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
}): SessionFiles {
  const { database, remote, files, nameOf, onChange, jobs, now } = parts;
  const at = (offset_ms = 0) => new Date(now() + offset_ms).toISOString();
  /** Uploads that this server receives just now, by session and side. */
  const arriving = new Map<string, number>();

  const rowOf = (id: string) => database.selectFrom('remote_files').selectAll().where('id', '=', id).executeTakeFirst();

  function tell({ user_id, agent_id }: Pick<Row, 'user_id' | 'agent_id'>): void {
    for (const id of new Set([user_id, agent_id])) if (id !== null) onChange(id);
  }

  /** Writes down what became of a file, in the session's record. */
  async function note(session_id: string, by: By, said: Note): Promise<void> {
    await remote
      .change(session_id, by, () => ({ set: {}, notes: [said] }))
      .catch((error: unknown) => {
        // Gone with its customer's account.
        if (!(error instanceof Problem)) throw error;
      });
  }

  const factsOf = ({ filename, kind, side }: Pick<FileRow, 'filename' | 'kind' | 'side'>) => ({
    filename,
    what: kind,
    from: side,
  });

  /** Allowed just now, and written down so. @throws Problem `conflict` */
  async function requireGrant(
    session_id: string,
    grant: GrantKind & ('files' | 'recording'),
    by: By,
    said?: Note,
  ): Promise<void> {
    await remote.change(session_id, by, (row) =>
      heldGrants(row).some((held) => held.grant === grant)
        ? { set: {}, notes: said === undefined ? [] : [said] }
        : { refused: NOT_ALLOWED[grant] },
    );
  }

  /** Of one session one at a time, so that no two are the last that there is room for. */
  async function insert(row: FileRow): Promise<void> {
    await database.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('remote_sessions')
        .set(({ ref }) => ({ last_seq: ref('last_seq') }))
        .where('id', '=', row.session_id)
        .execute();
      const rows = await transaction
        .selectFrom('remote_files')
        .select(['kind', 'side', 'status'])
        .where('session_id', '=', row.session_id)
        .execute();
      if (rows.length >= SESSION_FILES_MAXIMUM) throw new Problem('conflict', { detail: TOO_MANY });
      if (row.kind === 'recording' && rows.filter(({ kind }) => kind === 'recording').length >= RECORDINGS_MAXIMUM)
        throw new Problem('conflict', { detail: TOO_MANY_RECORDINGS });
      const onTheirWay = rows.filter(({ side, status }) => side === row.side && status === 'scanning').length;
      if (row.kind === 'file' && onTheirWay >= SESSION_FILES_AT_ONCE) throw new Problem('conflict', { detail: TOO_MANY_AT_ONCE });
      await transaction.insertInto('remote_files').values(row).execute();
    });
  }

  /** Moves a file that stands as `from`; undefined when it does not. */
  const move = (id: string, from: SessionFileStatus, set: Partial<FileRow>) =>
    database
      .updateTable('remote_files')
      .set(set)
      .where('id', '=', id)
      .where('status', '=', from)
      .returningAll()
      .executeTakeFirst();

  /** What comes of it is said to both sides, and why. */
  async function conclude(session: Row, id: string, verdict: FileVerdict): Promise<boolean> {
    const row = await move(id, 'scanning', verdict);
    if (row === undefined) return false;
    const { status, threat } = verdict;
    if (status !== 'clean')
      await note(row.session_id, null, { kind: 'remote_file_stopped', details: { ...factsOf(row), reason: status, threat } });
    tell(session);
    return true;
  }

  async function fail(session: Pick<Row, 'user_id' | 'agent_id'>, id: string, from: SessionFileStatus): Promise<void> {
    const row = await move(id, from, { status: 'failed' });
    if (row === undefined) return;
    await note(row.session_id, null, { kind: 'remote_file_stopped', details: { ...factsOf(row), reason: 'failed' } });
    tell(session);
  }

  async function scan(me: UserInfo, session: Row, id: string, arrived: ArrivedFile): Promise<SessionFile> {
    const scanned = files.scan(arrived, {
      user_id: me.id,
      conclude: (verdict) => conclude(session, id, verdict),
      fail: () => fail(session, id, 'scanning'),
    });
    tell(session);
    await Promise.race([scanned, pause(WAIT_MS, undefined, { ref: false })]);
    const row = await rowOf(id);
    if (row === undefined) throw new Problem('not_found');
    return fileOf(row, (await remote.find(session.id)) ?? session);
  }

  /** Receives an upload; of one side of a session some at a time. */
  async function receive(key: string, request: FastifyRequest, maximum: number): Promise<ArrivedFile> {
    const before = arriving.get(key) ?? 0;
    if (before >= SESSION_FILES_AT_ONCE) throw new Problem('conflict', { detail: TOO_MANY_AT_ONCE });
    arriving.set(key, before + 1);
    try {
      return await files.receive(request, maximum);
    } finally {
      const left = (arriving.get(key) ?? 1) - 1;
      if (left === 0) arriving.delete(key);
      else arriving.set(key, left);
    }
  }

  const sessionOf = (session_id: string) =>
    database.selectFrom('remote_sessions').select(['user_id', 'agent_id']).where('id', '=', session_id).executeTakeFirst();

  async function sweep(): Promise<void> {
    const lost = await database
      .selectFrom('remote_files')
      .innerJoin('remote_sessions', 'remote_sessions.id', 'remote_files.session_id')
      .select(['remote_files.id', 'remote_files.status', 'remote_files.session_id'])
      .where(({ or, and, eb }) =>
        or([
          and([eb('remote_files.status', '=', 'scanning'), eb('remote_files.arrived_at', '<', at(-LOST_AFTER_MS))]),
          and([eb('remote_files.status', '=', 'recording'), eb('remote_sessions.ended_at', '<', at(-RECORDING_PATIENCE))]),
        ]),
      )
      .limit(SWEPT_AT_ONCE)
      .execute();
    for (const { id, status, session_id } of lost) {
      const session = await sessionOf(session_id);
      if (session !== undefined) await fail(session, id, status);
    }
    const old = await database
      .selectFrom('remote_files')
      .innerJoin('remote_sessions', 'remote_sessions.id', 'remote_files.session_id')
      .select('remote_files.id')
      .where('remote_sessions.ended_at', '<', at(-SESSION_FILE_LIFETIME))
      .limit(SWEPT_AT_ONCE)
      .execute();
    for (const { id } of old) {
      const gone = await database.deleteFrom('remote_files').where('id', '=', id).returning('id').executeTakeFirst();
      if (gone !== undefined) await files.removeBytes([id]);
    }
  }
  jobs.handle(SWEEP, sweep);

  return {
    sweep,

    async list(session) {
      const rows = await database
        .selectFrom('remote_files')
        .selectAll()
        .where('session_id', '=', session.id)
        .orderBy('id')
        .limit(SESSION_FILES_MAXIMUM)
        .execute();
      return rows.map((row) => fileOf(row, session));
    },

    async find(id) {
      const file = await rowOf(id);
      const session = file && (await remote.find(file.session_id));
      if (file === undefined || session === undefined) return undefined;
      // What is to be deleted is gone, whether that has been done or not.
      const { deleted_at } = fileOf(file, session);
      return deleted_at !== null && deleted_at <= at() ? undefined : { file, session };
    },

    async send(me, session, by, request) {
      await requireGrant(session.id, 'files', by);
      const side: Side = session.user_id === me.id ? 'customer' : 'technician';
      const arrived = await receive(`${session.id}.${side}`, request, SESSION_FILE_BYTES_MAXIMUM);
      const { id, size, sha256 } = arrived;
      const row: FileRow = {
        ...{ id, session_id: session.id, user_id: session.user_id, kind: 'file', side, author: me.username },
        ...{ filename: nameOf(arrived.name), size, sha256, status: 'scanning', threat: null },
        ...{ sent_at: at(), arrived_at: at() },
      };
      try {
        // Once more: it may have been revoked, or the session have ended, while the file came.
        await requireGrant(session.id, 'files', by);
        await insert(row);
      } catch (error) {
        await files.discard(arrived);
        throw error;
      }
      await note(session.id, by, { kind: 'remote_file_sent', details: { ...factsOf(row), size } });
      return await scan(me, session, id, arrived);
    },

    async beginRecording(me, session, by) {
      const row: FileRow = {
        ...{ id: newId(), session_id: session.id, user_id: session.user_id, kind: 'recording', side: 'technician' },
        ...{ author: me.username, filename: `remote-session-${at().slice(0, 16).replaceAll(':', '')}.webm`, size: 0, sha256: '' },
        ...{ status: 'recording', threat: null, sent_at: at(), arrived_at: null },
      };
      await requireGrant(session.id, 'recording', by);
      // One page records at a time, so one that was begun before and has not come is lost: its page was loaded again.
      const before = await database
        .selectFrom('remote_files')
        .select('id')
        .where('session_id', '=', session.id)
        .where('status', '=', 'recording')
        .execute();
      for (const { id } of before) await fail(session, id, 'recording');
      await insert(row);
      try {
        await requireGrant(session.id, 'recording', by, { kind: 'remote_recording_started' });
      } catch (error) {
        await database.deleteFrom('remote_files').where('id', '=', row.id).execute();
        throw error;
      }
      tell(session);
      return fileOf(row, session);
    },

    async receiveRecording(me, { file, session }, request) {
      if (file.status !== 'recording') throw new Problem('conflict', { detail: NOT_AWAITED });
      const late = session.ended_at !== null && Date.parse(session.ended_at) + RECORDING_PATIENCE < now();
      if (late) throw new Problem('conflict', { detail: NOT_AWAITED });
      const arrived = await receive(`${session.id}.recording`, request, RECORDING_BYTES_MAXIMUM);
      // The bytes go by the name that the file has had from its beginning.
      const named = { ...arrived, id: file.id };
      const { size, sha256 } = arrived;
      const taken = await move(file.id, 'recording', { status: 'scanning', size, sha256, arrived_at: at() });
      if (taken === undefined) {
        await files.discard(arrived);
        throw new Problem('conflict', { detail: NOT_AWAITED });
      }
      return await scan(me, session, file.id, named);
    },

    async refuse({ file, session }, by) {
      if (!KEPT.has(file.status)) throw new Problem('conflict', { detail: NOTHING_KEPT });
      const row = await move(file.id, file.status, { status: 'refused' });
      if (row === undefined) throw new Problem('conflict');
      await files.removeBytes([file.id]);
      await note(session.id, by, { kind: 'remote_file_refused', details: factsOf(row) });
      tell(session);
      return fileOf(row, session);
    },

    async read({ file, session }, by) {
      if (file.status !== 'clean') throw new Problem('conflict', { detail: NOT_CLEAN });
      const bytes = await files.read(file).catch((error: unknown) => {
        if (error instanceof Problem && error.cause instanceof BlobNotFoundError)
          throw new Problem('conflict', { detail: IS_GONE, cause: error });
        throw error;
      });
      await note(session.id, by, { kind: 'remote_file_opened', details: factsOf(file) });
      return bytes;
    },

    async forgetPerson(transaction, user_id) {
      const gone = await transaction.deleteFrom('remote_files').where('user_id', '=', user_id).returning('id').execute();
      await transaction
        .updateTable('remote_files')
        .set({ author: FORMER_AGENT })
        .where('side', '=', 'technician' satisfies Side)
        .where('session_id', 'in', (eb) => eb.selectFrom('remote_sessions').select('id').where('agent_id', '=', user_id))
        .execute();
      return () => files.removeBytes(gone.map(({ id }) => id));
    },
  };
}
