import type { Kysely } from 'kysely';
import type { AuthTables } from '#features/auth/auth.tables.ts';
import { usernameColumns } from '#features/auth/username.ts';
import { openDatabase } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import type { Job } from '#platform/jobs/job.ts';
import type { JobKind } from '#platform/jobs/job-kind.ts';
import type { Tables } from '#server/app/tables.ts';
import { afterFile } from './after-file.ts';
import { freshDatabase } from './harness.ts';

/** A copy of the migrated database for plain calls of a feature's functions, without the application. It is closed after the test file. */
export async function featureDatabase(): Promise<Kysely<Tables>> {
  const { location, dispose } = await freshDatabase({ migrated: true });
  const database = openDatabase<Tables>(location);
  afterFile(async () => {
    await database.destroy();
    await dispose();
  });
  return database;
}

/** Inserts a customer without a usable password, or what `columns` say. @returns the id */
export async function addPerson(
  database: Kysely<Tables>,
  { username, ...columns }: Partial<Omit<AuthTables['users'], 'username_key' | 'username_skeleton'>> = {},
): Promise<string> {
  const id = columns.id ?? newId();
  await database
    .insertInto('users')
    .values({
      ...{ email: `${id}@example.com`, ...usernameColumns(username ?? `person-${id}`), password_hash: '', common_password: 0 },
      ...{ role: 'customer', created_at: '2026-11-20T10:00:00.000Z' },
      ...columns,
      id,
    })
    .execute();
  return id;
}

/** Takes the handlers of jobs, which the test then calls in place of the queue. */
export function heldJobs() {
  const handlers = new Map<string, (payload: unknown) => Promise<void>>();
  const none = () => Promise.resolve();
  const rest = {
    id: 'job',
    attempts: 1,
    signal: new AbortController().signal,
    conclude: none,
    confirm: none,
    countAttempt: none,
  };
  return {
    handle<Payload>(kind: JobKind<Payload>, work: (job: Job<Payload>) => Promise<void>): void {
      handlers.set(kind.name, (payload) => work({ ...rest, payload: kind.payload.parse(payload) }));
    },
    /** Does one job of this kind. */
    async run(name: string, payload: unknown = {}): Promise<void> {
      const work = handlers.get(name);
      if (work === undefined) throw new Error(`no handler of jobs ${name}`);
      await work(payload);
    },
  };
}
