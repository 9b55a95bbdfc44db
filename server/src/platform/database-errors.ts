import { refuse } from './platform.refusals.ts';
import type { Problem } from './problem.ts';

/**
 * Kinds of database trouble other than a faulty query: unreachable or too slow (`away`), accepting no connections (`busy`), a disk that is full or failing (`storage`), or a
 * conflict of two concurrent writes (`collision`).
 */
type Trouble = 'away' | 'busy' | 'storage' | 'collision';

/** Trouble by error code. The codes of the two databases and the operating system do not overlap. */
const OF_CODE = new Map<string, Trouble>([
  // SQLite (sqlite.org/rescode.html). The longer codes begin with the shorter ones.
  ['SQLITE_BUSY_SNAPSHOT', 'collision'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_PROTOCOL', 'busy'],
  ['SQLITE_NOMEM', 'busy'],
  ['SQLITE_CANTOPEN', 'away'],
  ['SQLITE_FULL', 'storage'],
  ['SQLITE_IOERR', 'storage'],
  ['SQLITE_READONLY', 'storage'],
  // PostgreSQL (postgresql.org/docs/current/errcodes-appendix.html).
  ['25006', 'away'], // read_only_sql_transaction: a standby
  ['57P01', 'away'], // admin_shutdown
  ['57P02', 'away'], // crash_shutdown
  ['57P03', 'away'], // cannot_connect_now
  ['57P04', 'away'], // database_dropped
  ['57P05', 'away'], // idle_session_timeout
  ['58P01', 'storage'], // undefined_file
  ['58030', 'storage'], // io_error
  ['53100', 'storage'], // disk_full
  ['53000', 'busy'], // insufficient_resources
  ['53200', 'busy'], // out_of_memory
  ['53300', 'busy'], // too_many_connections
  ['53400', 'busy'], // configuration_limit_exceeded
  ['25P03', 'busy'], // idle_in_transaction_session_timeout
  ['40001', 'collision'], // serialization_failure
  ['40P01', 'collision'], // deadlock_detected
  ['55P03', 'collision'], // lock_not_available
  ['57014', 'busy'], // query_canceled: statement_timeout
  // Disk full, as reported by the operating system, for the write-ahead log as for any other file.
  ['ENOSPC', 'storage'],
  ['EDQUOT', 'storage'],
]);
/** SQLSTATE class 08: the connection. */
const CONNECTION_CLASS = /^08[0-9A-Z]{3}$/;
/** Operating-system codes about connections. Many modules have connections, so such a code counts only when a database connection reports it. */
const OF_CONNECTION = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOENT',
]);
/** Messages of pg and its pool for errors without a code: a connection that ended, or was not available in time. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|Connection ended|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed)/;

/** Seconds after which it is worth trying again. */
const RETRY_AFTER_S = { away: 5, busy: 2, collision: 1, storage: 60 } as const;

/** An error of a database that is away, busy or without storage; `code` is that of its cause, which explains a failed start. */
export class DatabaseTrouble extends Error {
  override name = 'DatabaseTrouble';
  readonly trouble: Trouble;
  readonly code: string;

  constructor(trouble: Trouble, message: string, cause?: unknown) {
    super(message, { cause });
    this.trouble = trouble;
    this.code = codeOf(cause);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The database trouble behind an error; undefined for a fault of the query, and for errors of other origin. */
export function troubleOf(error: unknown): Trouble | undefined {
  if (error instanceof DatabaseTrouble) return error.trouble;
  const code = codeOf(error);
  const [sqlite = ''] = /^SQLITE_[A-Z]+/.exec(code) ?? [];
  return OF_CODE.get(code) ?? OF_CODE.get(sqlite) ?? (CONNECTION_CLASS.test(code) ? 'away' : undefined);
}

/** Like `troubleOf`, for an error from a database connection, where the operating system's codes count too. */
export function troubleOfConnection(error: unknown): Trouble | undefined {
  const known = troubleOf(error);
  if (known !== undefined) return known;
  if (error instanceof AggregateError) return error.errors.map(troubleOfConnection).find((trouble) => trouble !== undefined);
  if (OF_CONNECTION.has(codeOf(error))) return 'away';
  return error instanceof Error && CONNECTION_MESSAGES.test(error.message) ? 'away' : undefined;
}

/** Whether all callers must wait until the trouble is over; a collision is only retried. */
export function isOutage(trouble: Trouble): boolean {
  return trouble !== 'collision';
}

/** The answer to such an error: 503 with a sentence and a time to retry. Undefined for any other. */
export function databaseProblem(error: unknown): Problem | undefined {
  const trouble = troubleOf(error);
  if (trouble === undefined) return undefined;
  return refuse(`database.${trouble}`, {}, { retry_after: RETRY_AFTER_S[trouble], cause: error });
}
