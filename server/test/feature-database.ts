import type { Kysely } from 'kysely';
import type { AuthTables } from '#features/auth/auth.tables.ts';
import { usernameColumns } from '#features/auth/username.ts';
import { createAudit } from '#platform/audit.ts';
import { openDatabase } from '#platform/database.ts';
import { newId } from '#platform/id.ts';
import type { Job } from '#platform/jobs/job.ts';
import type { JobKind } from '#platform/jobs/job-kind.ts';
import type { Mail } from '#platform/mail.ts';
import { Problem } from '#platform/problem.ts';
import type { Tables } from '#platform/tables.ts';
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

type HeldLetter = Parameters<Mail['queue']>[1];

/** In place of the mail of the server: keeps the letters that were queued, the newest last. */
export function heldMail() {
  const letters: HeldLetter[] = [];
  return {
    letters,
    queue(_: unknown, letter: HeldLetter) {
      letters.push(letter);
      return Promise.resolve();
    },
    async queueAll(_: unknown, all: readonly HeldLetter[]) {
      letters.push(...all);
    },
    wake() {},
    /** The subjects of letters to one address. */
    to: (recipient: string) => letters.filter((letter) => letter.recipient === recipient).map(({ subject }) => subject),
  };
}

/** An audit log on a copied database, with a key of the tests. */
export const featureAudit = (now: () => number) => createAudit({ now, key: Buffer.alloc(32, 7) });

/** Kinds of the audit entries about a person, the oldest first. */
export async function auditKindsOf(database: Kysely<Tables>, user_id: string): Promise<string[]> {
  const rows = await database
    .selectFrom('audit_entries')
    .select('kind')
    .where('subject_id', '=', user_id)
    .orderBy('seq')
    .execute();
  return rows.map(({ kind }) => kind);
}

/** In place of the owner of the accounts: finds the people of the database. */
export function featureAccounts(database: Kysely<Tables>) {
  const people = database.selectFrom('users').select(['id', 'email', 'username', 'role', 'created_at', 'email_proven_at']);
  return {
    findUserByEmail: (email: string) => people.where('email', '=', email).executeTakeFirst(),
    findUsers: async (ids: readonly string[]) => (ids.length === 0 ? [] : await people.where('id', 'in', [...ids]).execute()),
  };
}

/** The origin of a call in tests. */
export const ORIGIN = {
  address: '203.0.113.5',
  source: '203.0.113.5',
  user_agent: undefined,
  client: 'Firefox on Linux',
} as const;

/** The statuses of several calls at once, sorted: `fulfilled`, or the code of the refusal. */
export async function outcomes(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const ends = await Promise.allSettled(calls);
  return ends.map((end) => (end.status === 'fulfilled' ? end.status : codeOf(end.reason))).sort();
}

function codeOf(error: unknown): string {
  if (error instanceof Problem) return error.code;
  throw error;
}

/** Gives a person a premium plan that does not end. */
export async function givePremium(database: Kysely<Tables>, user_id: string): Promise<void> {
  const plan = {
    plan_name: 'Family Shield',
    price_cents: 0,
    currency: 'USD',
    duration_months: 12,
    max_devices: 5,
    is_premium: 1,
  };
  const open = { expires_at: null, ended_as: null, ended_at: null };
  await database
    .insertInto('subscriptions')
    .values({ id: newId(), user_id, ...plan, features: '[]', starts_at: '2026-11-20T10:00:00.000Z', ...open })
    .execute();
}
