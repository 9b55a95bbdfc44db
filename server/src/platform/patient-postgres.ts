import { connect } from 'node:net';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type PostgresQueryResult,
  type QueryResult,
} from 'kysely';
import { Pool } from 'pg';
import { z } from 'zod';
import { DatabaseTrouble, isOutage, troubleOf, troubleOfConnection } from './database-errors.ts';
import { type DatabaseWatch, isBackground, type PoolState, withPatience } from './database-patience.ts';

const KEEP_ALIVE_MS = 10_000;
const CANCEL_BYTES = 16;
/** PostgreSQL's CancelRequest (postgresql.org/docs/current/protocol-message-formats.html). */
const CANCEL_CODE = 80_877_102;
/** Properties of pg's client that are missing in its types. */
const connectionSchema = z.object({ host: z.string(), port: z.number(), processID: z.number(), secretKey: z.number() });

/** Cancels a client's query on the server, so that it neither keeps a lock nor takes effect later. The server may be unreachable; the result is not awaited. */
function cancel(client: object, timeout_ms: number): void {
  const known = connectionSchema.safeParse(client).data;
  if (known === undefined) return;
  const { host, port, processID, secretKey } = known;
  const message = Buffer.alloc(CANCEL_BYTES);
  message.writeInt32BE(CANCEL_BYTES, 0);
  message.writeInt32BE(CANCEL_CODE, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.setTimeout(timeout_ms, () => socket.destroy());
  socket.once('error', () => socket.destroy());
  socket.once('connect', () => socket.end(message));
  socket.resume().unref();
}

/** Commands whose row count is reported. */
const COUNTED = new Set<string>(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

type Question = Pick<CompiledQuery, 'sql' | 'parameters'>;
type Ask = <R>(held: Held, question: Question) => Promise<PostgresQueryResult<R>>;

/** A connection in use. */
class Held implements DatabaseConnection {
  readonly client: PostgresPoolClient;
  /** No request waits for its queries. */
  readonly is_background: boolean;
  readonly #ask: Ask;
  /** It timed out, or has ended: it is discarded on release. */
  is_broken = false;

  constructor(client: PostgresPoolClient, is_background: boolean, ask: Ask) {
    this.client = client;
    this.is_background = is_background;
    this.#ask = ask;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { command, rowCount, rows } = await this.#ask<R>(this, query);
    return { rows, ...(COUNTED.has(command) ? { numAffectedRows: BigInt(rowCount) } : {}) };
  }

  streamQuery(): never {
    throw new Error('Rows are read in pages, not through a cursor.');
  }
}

interface PatientPostgresOptions {
  url: string;
  connections: number;
  /** A connection is closed after this many ms without use. */
  idle_ms: number;
  timeout_ms: number;
  watch: DatabaseWatch;
  onPool: (read: () => PoolState) => void;
}

const heldOf = (one: DatabaseConnection): Held => {
  if (one instanceof Held) return one;
  throw new Error('This connection is to another database.');
};

/**
 * PostgreSQL with a bounded wait for each caller (database-patience.ts). A connection that timed out is discarded and its query cancelled; connections that have been idle
 * since before then are dropped, so that a server that is back is used at once.
 */
export class PatientPostgres implements Dialect {
  private readonly timeout_ms: number;
  private readonly watch: DatabaseWatch;
  private readonly pool: PostgresPool;
  /** When each connection last answered, and when any of them last timed out. */
  private readonly answered = new WeakMap<object, number>();
  private silence_at = Number.NEGATIVE_INFINITY;
  // Background jobs wait longer, so they may use only some of the connections.
  private background_left: number;
  private readonly background_waiting: (() => void)[] = [];

  constructor(options: PatientPostgresOptions) {
    this.timeout_ms = options.timeout_ms;
    this.watch = options.watch;
    const clients = new Pool({
      connectionString: options.url,
      max: options.connections,
      connectionTimeoutMillis: this.timeout_ms,
      idleTimeoutMillis: options.idle_ms,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    this.pool = clients;
    // pg removes an idle connection that the server closed; without a listener the error would end the process.
    clients.on('error', () => {});
    clients.on('connect', (client) => {
      this.hears(client);
      client.on('error', () => {});
    });
    this.background_left = Math.max(1, Math.floor(options.connections / 2));
    options.onPool(() => ({
      used: clients.totalCount - clients.idleCount,
      waiting: clients.waitingCount + this.background_waiting.length,
      most: options.connections,
    }));
  }

  private hears(client: object) {
    return void this.answered.set(client, performance.now());
  }

  /** Converts an error of a connection to the one that callers get. */
  private told(error: unknown): unknown {
    const trouble = troubleOfConnection(error);
    if (trouble === undefined) return error;
    if (isOutage(trouble)) this.watch.failed(error);
    if (error instanceof DatabaseTrouble) return error;
    return new DatabaseTrouble(trouble, error instanceof Error ? error.message : String(error), error);
  }

  private async begin() {
    if (this.background_left === 0) await new Promise<void>((resolve) => this.background_waiting.push(resolve));
    else this.background_left -= 1;
  }

  private end() {
    const next = this.background_waiting.shift();
    if (next === undefined) this.background_left += 1;
    else next();
  }

  private async connection(is_background: boolean): Promise<PostgresPoolClient> {
    if (is_background) await this.begin();
    try {
      for (;;) {
        const client = await this.pool.connect();
        if ((this.answered.get(client) ?? 0) >= this.silence_at) return client;
        client.release(true);
      }
    } catch (error) {
      if (is_background) this.end();
      throw error;
    }
  }

  private readonly giveBack = ({ client, is_broken, is_background }: Held): void => {
    client.release(is_broken);
    if (is_background) this.end();
  };

  private readonly ask = async <R>(held: Held, { sql, parameters }: Question): Promise<PostgresQueryResult<R>> => {
    if (held.is_broken) throw new DatabaseTrouble('away', 'The database connection hasn’t answered yet.');
    const { client } = held;
    const asked_at = performance.now();
    const giveUp = () => {
      this.silence_at = performance.now();
      cancel(client, this.timeout_ms);
    };
    try {
      const result = await withPatience(this.timeout_ms, () => client.query<R>(sql, parameters), giveUp);
      this.hears(client);
      this.watch.answered(asked_at);
      return result;
    } catch (error) {
      const other = this.told(error);
      const trouble = troubleOf(other);
      if (trouble === 'away') held.is_broken = true;
      else this.hears(client);
      if (trouble === undefined || !isOutage(trouble)) this.watch.answered(asked_at);
      throw other;
    }
  };

  private async say(to: DatabaseConnection, sql: string): Promise<PostgresQueryResult<unknown>> {
    return await this.ask(heldOf(to), { sql, parameters: [] });
  }

  createAdapter(): PostgresAdapter {
    return new PostgresAdapter();
  }

  createIntrospector(database: Kysely<unknown>): PostgresIntrospector {
    return new PostgresIntrospector(database);
  }

  createQueryCompiler(): PostgresQueryCompiler {
    return new PostgresQueryCompiler();
  }

  createDriver(): Driver {
    return {
      init: () => Promise.resolve(),
      acquireConnection: async () => {
        const is_background = isBackground();
        const hold = async () => new Held(await this.connection(is_background), is_background, this.ask);
        try {
          return await withPatience(this.timeout_ms, hold, (late) => void late.then(this.giveBack, () => {}));
        } catch (error) {
          throw this.told(error);
        }
      },
      beginTransaction: async (to, { isolationLevel, accessMode }) => {
        const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
        await this.say(to, `begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`);
      },
      commitTransaction: async (to) => {
        // PostgreSQL answers ROLLBACK to a COMMIT after a failed statement.
        const { command } = await this.say(to, 'commit');
        if (command === 'ROLLBACK') throw new Error('The transaction was rolled back because a statement failed.');
      },
      rollbackTransaction: async (to) => {
        const held = heldOf(to);
        // The transaction ended when its connection was discarded.
        if (held.is_broken) return;
        try {
          await this.say(to, 'rollback');
        } catch {
          held.is_broken = true;
        }
      },
      releaseConnection: async (to) => {
        this.giveBack(heldOf(to));
      },
      destroy: () => this.pool.end(),
    };
  }
}

export function createPatientPostgres(options: PatientPostgresOptions): PatientPostgres {
  return new PatientPostgres(options);
}
