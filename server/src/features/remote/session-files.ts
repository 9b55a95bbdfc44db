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
import { inTransaction } from '#platform/in-transaction.ts';
import { jobKind } from '#platform/jobs/job-kind.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import { Problem } from '#platform/problem.ts';
import type { ArrivedFile, FileVerdict, ScannedFiles } from '#platform/scanned-files.ts';
import { refuse } from './remote.refusals.ts';
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

const MINUTE_MS = 60_000;
/** Wait of the upload for a verdict, in ms: a small file has one by then; for a larger one the pages get it later. */
const WAIT_MS = 1_000;
/** A scan without an end after this many ms was lost with its server. */
const LOST_AFTER_MS = 15 * MINUTE_MS;
const SWEPT_AT_ONCE = 200;
const FORMER_AGENT = 'A former technician';

const SWEEP = jobKind({ name: 'remote_files', payload: z.object({}), every_ms: 5 * MINUTE_MS });

const KEPT: ReadonlySet<SessionFileStatus> = new Set(['recording', 'scanning', 'clean']);

function fileOf(
  { user_id: _user, sha256: _hash, arrived_at: _at, ...file }: FileRow,
  session: Pick<Row, 'ended_at'>,
): SessionFile {
  const { ended_at } = session;
  return { ...file, deleted_at: ended_at === null ? null : new Date(Date.parse(ended_at) + SESSION_FILE_LIFETIME).toISOString() };
}

interface SessionFilesOptions {
  database: Kysely<RemoteTables>;
  remote: Pick<Remote, 'find' | 'change'>;
  files: ScannedFiles;
  /** The shown form of a stranger's filename. */
  nameOf: (sent: string) => string;
  /** Called with both people of a session in which a file has changed. */
  onChange: (user_id: string) => void;
  jobs: Pick<Jobs, 'handle'>;
  now: () => number;
}

const at = (now: () => number, offset_ms = 0) => new Date(now() + offset_ms).toISOString();

const rowOf = (database: Kysely<RemoteTables>, id: string) =>
  database.selectFrom('remote_files').selectAll().where('id', '=', id).executeTakeFirst();

const factsOf = ({ filename, kind, side }: Pick<FileRow, 'filename' | 'kind' | 'side'>) => ({
  filename,
  what: kind,
  from: side,
});

/** Files of one session are inserted one at a time, so that two cannot both take the last slot. */
async function insert(database: Kysely<RemoteTables>, row: FileRow): Promise<void> {
  await inTransaction(database, async (transaction) => {
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
    if (rows.length >= SESSION_FILES_MAXIMUM) throw refuse('remote_file.too_many', { maximum: SESSION_FILES_MAXIMUM });
    if (row.kind === 'recording' && rows.filter(({ kind }) => kind === 'recording').length >= RECORDINGS_MAXIMUM)
      throw refuse('recording.too_many', { maximum: RECORDINGS_MAXIMUM });
    const onTheirWay = rows.filter(({ side, status }) => side === row.side && status === 'scanning').length;
    if (row.kind === 'file' && onTheirWay >= SESSION_FILES_AT_ONCE)
      throw refuse('remote_file.too_many_at_once', { maximum: SESSION_FILES_AT_ONCE });
    await transaction.insertInto('remote_files').values(row).execute();
  });
}

/** Changes the status of a file that has status `from`; undefined if it does not. */
const move = (database: Kysely<RemoteTables>, id: string, from: SessionFileStatus, set: Partial<FileRow>) =>
  database.updateTable('remote_files').set(set).where('id', '=', id).where('status', '=', from).returningAll().executeTakeFirst();

const sessionOf = (database: Kysely<RemoteTables>, session_id: string) =>
  database.selectFrom('remote_sessions').select(['user_id', 'agent_id']).where('id', '=', session_id).executeTakeFirst();

/** Files that the sides of a session send to each other. Each file is scanned first; unclean and unwanted ones are removed. */
export class SessionFiles {
  private readonly database: Kysely<RemoteTables>;
  private readonly remote: Pick<Remote, 'find' | 'change'>;
  private readonly files: ScannedFiles;
  private readonly nameOf: (sent: string) => string;
  private readonly onChange: (user_id: string) => void;
  private readonly now: () => number;
  /** Uploads that this server receives just now, by session and side. */
  private readonly arriving = new Map<string, number>();

  constructor(options: SessionFilesOptions) {
    this.database = options.database;
    this.remote = options.remote;
    this.files = options.files;
    this.nameOf = options.nameOf;
    this.onChange = options.onChange;
    this.now = options.now;
    options.jobs.handle(SWEEP, this.sweep);
  }

  private tell({ user_id, agent_id }: Pick<Row, 'user_id' | 'agent_id'>): void {
    for (const id of new Set([user_id, agent_id])) if (id !== null) this.onChange(id);
  }

  /** Records the outcome of a file in the session's audit log. */
  private async note(session_id: string, by: By, said: Note): Promise<void> {
    await this.remote
      .change(session_id, by, () => ({ set: {}, notes: [said] }))
      .catch((error: unknown) => {
        // Gone with its customer's account.
        if (!(error instanceof Problem)) throw error;
      });
  }

  /** Checks that it is allowed now, and logs it. @throws Problem `conflict` */
  private async requireGrant(session_id: string, grant: GrantKind & ('files' | 'recording'), by: By, said?: Note): Promise<void> {
    await this.remote.change(session_id, by, (row) =>
      heldGrants(row).some((held) => held.grant === grant)
        ? { set: {}, notes: said === undefined ? [] : [said] }
        : { refused: grant === 'files' ? 'remote_file.not_allowed' : 'recording.not_allowed' },
    );
  }

  /** Stores the verdict and reports it to both sides. */
  private async conclude(session: Row, id: string, verdict: FileVerdict): Promise<boolean> {
    const row = await move(this.database, id, 'scanning', verdict);
    if (row === undefined) return false;
    const { status, threat } = verdict;
    if (status !== 'clean')
      await this.note(row.session_id, null, {
        kind: 'remote_file_stopped',
        details: { ...factsOf(row), reason: status, threat },
      });
    this.tell(session);
    return true;
  }

  private async fail(session: Pick<Row, 'user_id' | 'agent_id'>, id: string, from: SessionFileStatus): Promise<void> {
    const row = await move(this.database, id, from, { status: 'failed' });
    if (row === undefined) return;
    await this.note(row.session_id, null, { kind: 'remote_file_stopped', details: { ...factsOf(row), reason: 'failed' } });
    this.tell(session);
  }

  private async scan(me: UserInfo, session: Row, id: string, arrived: ArrivedFile): Promise<SessionFile> {
    const scanned = this.files.scan(arrived, {
      user_id: me.id,
      conclude: (verdict) => this.conclude(session, id, verdict),
      fail: () => this.fail(session, id, 'scanning'),
    });
    this.tell(session);
    await Promise.race([scanned, pause(WAIT_MS, undefined, { ref: false })]);
    const row = await rowOf(this.database, id);
    if (row === undefined) throw new Problem('not_found');
    return fileOf(row, (await this.remote.find(session.id)) ?? session);
  }

  /** Receives an upload; limits concurrent ones per side of a session. */
  private async receive(key: string, request: FastifyRequest, maximum: number): Promise<ArrivedFile> {
    const before = this.arriving.get(key) ?? 0;
    if (before >= SESSION_FILES_AT_ONCE) throw refuse('remote_file.too_many_at_once', { maximum: SESSION_FILES_AT_ONCE });
    this.arriving.set(key, before + 1);
    try {
      return await this.files.receive(request, maximum);
    } finally {
      const left = (this.arriving.get(key) ?? 1) - 1;
      if (left === 0) this.arriving.delete(key);
      else this.arriving.set(key, left);
    }
  }

  /** Deletes expired files, and gives up those that will not arrive any more. */
  readonly sweep = async (): Promise<void> => {
    const lost = await this.database
      .selectFrom('remote_files')
      .innerJoin('remote_sessions', 'remote_sessions.id', 'remote_files.session_id')
      .select(['remote_files.id', 'remote_files.status', 'remote_files.session_id'])
      .where(({ or, and, eb }) =>
        or([
          and([eb('remote_files.status', '=', 'scanning'), eb('remote_files.arrived_at', '<', at(this.now, -LOST_AFTER_MS))]),
          and([
            eb('remote_files.status', '=', 'recording'),
            eb('remote_sessions.ended_at', '<', at(this.now, -RECORDING_PATIENCE)),
          ]),
        ]),
      )
      .limit(SWEPT_AT_ONCE)
      .execute();
    for (const { id, status, session_id } of lost) {
      const session = await sessionOf(this.database, session_id);
      if (session !== undefined) await this.fail(session, id, status);
    }
    const old = await this.database
      .selectFrom('remote_files')
      .innerJoin('remote_sessions', 'remote_sessions.id', 'remote_files.session_id')
      .select('remote_files.id')
      .where('remote_sessions.ended_at', '<', at(this.now, -SESSION_FILE_LIFETIME))
      .limit(SWEPT_AT_ONCE)
      .execute();
    for (const { id } of old) {
      const gone = await this.database.deleteFrom('remote_files').where('id', '=', id).returning('id').executeTakeFirst();
      if (gone !== undefined) await this.files.removeBytes([id]);
    }
  };

  async list(session: Row): Promise<SessionFile[]> {
    const rows = await this.database
      .selectFrom('remote_files')
      .selectAll()
      .where('session_id', '=', session.id)
      .orderBy('id')
      .limit(SESSION_FILES_MAXIMUM)
      .execute();
    return rows.map((row) => fileOf(row, session));
  }

  async find(id: string): Promise<FoundFile | undefined> {
    const file = await rowOf(this.database, id);
    const session = file && (await this.remote.find(file.session_id));
    if (file === undefined || session === undefined) return undefined;
    // A file past its time counts as deleted, whether it has been removed or not.
    const { deleted_at } = fileOf(file, session);
    return deleted_at !== null && deleted_at <= at(this.now) ? undefined : { file, session };
  }

  /** @throws Problem `conflict` when files are not allowed just now, or there are too many; and the refusals of an upload. */
  async send(me: UserInfo, session: Row, by: By, request: FastifyRequest): Promise<SessionFile> {
    await this.requireGrant(session.id, 'files', by);
    const side: Side = session.user_id === me.id ? 'customer' : 'technician';
    const arrived = await this.receive(`${session.id}.${side}`, request, SESSION_FILE_BYTES_MAXIMUM);
    const { id, size, sha256 } = arrived;
    const row: FileRow = {
      id,
      session_id: session.id,
      user_id: session.user_id,
      kind: 'file',
      side,
      author: me.username,
      filename: this.nameOf(arrived.name),
      size,
      sha256,
      status: 'scanning',
      threat: null,
      sent_at: at(this.now),
      arrived_at: at(this.now),
    };
    try {
      // Check again: the grant or the session may have ended during the upload.
      await this.requireGrant(session.id, 'files', by);
      await insert(this.database, row);
    } catch (error) {
      await this.files.discard(arrived);
      throw error;
    }
    await this.note(session.id, by, { kind: 'remote_file_sent', details: { ...factsOf(row), size } });
    return await this.scan(me, session, id, arrived);
  }

  /** @throws Problem `conflict` when recording is not allowed just now, or there are too many. */
  async beginRecording(me: UserInfo, session: Row, by: By): Promise<SessionFile> {
    const row: FileRow = {
      id: newId(),
      session_id: session.id,
      user_id: session.user_id,
      kind: 'recording',
      side: 'technician',
      author: me.username,
      filename: `remote-session-${at(this.now).slice(0, 16).replaceAll(':', '')}.webm`,
      size: 0,
      sha256: '',
      status: 'recording',
      threat: null,
      sent_at: at(this.now),
      arrived_at: null,
    };
    await this.requireGrant(session.id, 'recording', by);
    // One page records at a time, so an earlier recording that never arrived is lost: its page was reloaded.
    const before = await this.database
      .selectFrom('remote_files')
      .select('id')
      .where('session_id', '=', session.id)
      .where('status', '=', 'recording')
      .execute();
    for (const { id } of before) await this.fail(session, id, 'recording');
    await insert(this.database, row);
    try {
      await this.requireGrant(session.id, 'recording', by, { kind: 'remote_recording_started' });
    } catch (error) {
      await this.database.deleteFrom('remote_files').where('id', '=', row.id).execute();
      throw error;
    }
    this.tell(session);
    return fileOf(row, session);
  }

  /** @throws Problem `conflict` for one that was handed in, is lost, or was refused. */
  async receiveRecording(me: UserInfo, { file, session }: FoundFile, request: FastifyRequest): Promise<SessionFile> {
    if (file.status !== 'recording') throw refuse('recording.not_awaited');
    const late = session.ended_at !== null && Date.parse(session.ended_at) + RECORDING_PATIENCE < this.now();
    if (late) throw refuse('recording.not_awaited');
    const arrived = await this.receive(`${session.id}.recording`, request, RECORDING_BYTES_MAXIMUM);
    // The bytes are stored under the id that the file got at its start.
    const named = { ...arrived, id: file.id };
    const { size, sha256 } = arrived;
    const taken = await move(this.database, file.id, 'recording', { status: 'scanning', size, sha256, arrived_at: at(this.now) });
    if (taken === undefined) {
      await this.files.discard(arrived);
      throw refuse('recording.not_awaited');
    }
    return await this.scan(me, session, file.id, named);
  }

  /** @throws Problem `conflict` for one without kept bytes. */
  async refuse({ file, session }: FoundFile, by: By): Promise<SessionFile> {
    if (!KEPT.has(file.status)) throw refuse('remote_file.not_kept');
    const row = await move(this.database, file.id, file.status, { status: 'refused' });
    if (row === undefined) throw new Problem('conflict');
    await this.files.removeBytes([file.id]);
    await this.note(session.id, by, { kind: 'remote_file_refused', details: factsOf(row) });
    this.tell(session);
    return fileOf(row, session);
  }

  /** @throws Problem `conflict` when it is not clean. */
  async read({ file, session }: FoundFile, by: By): Promise<Readable> {
    if (file.status !== 'clean') throw refuse('remote_file.not_clean');
    const bytes = await this.files.read(file).catch((error: unknown) => {
      if (error instanceof Problem && error.cause instanceof BlobNotFoundError)
        throw refuse('remote_file.gone', {}, { cause: error });
      throw error;
    });
    await this.note(session.id, by, { kind: 'remote_file_opened', details: factsOf(file) });
    return bytes;
  }

  /** Removes the files of a person's sessions, as part of `database`'s transaction, and takes their name off others. Answers what removes the bytes. */
  async forgetPerson(transaction: Kysely<RemoteTables>, user_id: string): Promise<() => Promise<void>> {
    const gone = await transaction.deleteFrom('remote_files').where('user_id', '=', user_id).returning('id').execute();
    await transaction
      .updateTable('remote_files')
      .set({ author: FORMER_AGENT })
      .where('side', '=', 'technician' satisfies Side)
      .where('session_id', 'in', (eb) => eb.selectFrom('remote_sessions').select('id').where('agent_id', '=', user_id))
      .execute();
    return () => this.files.removeBytes(gone.map(({ id }) => id));
  }
}

export function createSessionFiles(options: SessionFilesOptions): SessionFiles {
  return new SessionFiles(options);
}
