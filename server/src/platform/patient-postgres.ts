import { connect } from 'node:net';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
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
/** What a client of pg knows of its connection, as far as its types do not say. */
const connectionSchema = z.object({ host: z.string(), port: z.number(), processID: z.number(), secretKey: z.number() });

/** Has the server end what it does for a client, so that it neither keeps a lock nor happens after all. It may be away; nobody waits for this. */
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

/** Commands whose count of rows is told. */
const COUNTED = new Set<string>(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

type Question = Pick<CompiledQuery, 'sql' | 'parameters'>;
type Ask = <R>(held: Held, question: Question) => Promise<PostgresQueryResult<R>>;

/** A connection while somebody has it. */
class Held implements DatabaseConnection {
  readonly client: PostgresPoolClient;
  /** No request waits for what is asked over it. */
  readonly is_background: boolean;
  readonly #ask: Ask;
  /** It did not answer, or has ended: it is thrown away when it is given back. */
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
    throw new Error('Rows are read page by page, not through a cursor.');
  }
}

/**
 * PostgreSQL for which nobody waits longer than they may (database-patience.ts). A connection that did not answer is thrown away and what it was doing is
 * cancelled; those that lay idle since before then are not believed any more, so that a server that is back is used at once.
 */
export function createPatientPostgres(options: {
  url: string;
  connections: number;
  /** A connection that nobody has needed for so long is given up, in ms. */
  idle_ms: number;
  timeout_ms: number;
  watch: DatabaseWatch;
  onPool: (read: () => PoolState) => void;
}): Dialect {
  const { url, connections, idle_ms, timeout_ms, watch, onPool } = options;
  const clients = new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: timeout_ms,
    idleTimeoutMillis: idle_ms,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  const pool: PostgresPool = clients;
  /** When each connection answered last, and when one of them last did not. */
  const answered = new WeakMap<object, number>();
  let silence_at = Number.NEGATIVE_INFINITY;
  const hears = (client: object) => void answered.set(client, performance.now());
  // A connection that the server ends while nobody uses it leaves the pool by itself; without a listener it would end the process.
  clients.on('error', () => {});
  clients.on('connect', (client) => {
    hears(client);
    client.on('error', () => {});
  });

  /** What an error of a connection is to those who asked. */
  function told(error: unknown): unknown {
    const trouble = troubleOfConnection(error);
    if (trouble === undefined) return error;
    if (isOutage(trouble)) watch.failed(error);
    if (error instanceof DatabaseTrouble) return error;
    return new DatabaseTrouble(trouble, error instanceof Error ? error.message : String(error), error);
  }

  // Jobs in the background wait longer, so that some of the connections are not theirs to wait with.
  let background_left = Math.max(1, Math.floor(connections / 2));
  const background_waiting: (() => void)[] = [];
  onPool(() => ({
    used: clients.totalCount - clients.idleCount,
    waiting: clients.waitingCount + background_waiting.length,
    most: connections,
  }));
  const begin = async () => {
    if (background_left === 0) await new Promise<void>((resolve) => background_waiting.push(resolve));
    else background_left -= 1;
  };
  const end = () => {
    const next = background_waiting.shift();
    if (next === undefined) background_left += 1;
    else next();
  };

  async function connection(is_background: boolean): Promise<PostgresPoolClient> {
    if (is_background) await begin();
    try {
      for (;;) {
        const client = await pool.connect();
        if ((answered.get(client) ?? 0) >= silence_at) return client;
        client.release(true);
      }
    } catch (error) {
      if (is_background) end();
      throw error;
    }
  }

  function giveBack({ client, is_broken, is_background }: Held): void {
    client.release(is_broken);
    if (is_background) end();
  }

  async function ask<R>(held: Held, { sql, parameters }: Question): Promise<PostgresQueryResult<R>> {
    if (held.is_broken) throw new DatabaseTrouble('away', 'The connection to the database has not answered before.');
    const { client } = held;
    const asked_at = performance.now();
    const giveUp = () => {
      silence_at = performance.now();
      cancel(client, timeout_ms);
    };
    try {
      const result = await withPatience(timeout_ms, () => client.query<R>(sql, parameters), giveUp);
      hears(client);
      watch.answered(asked_at);
      return result;
    } catch (error) {
      const other = told(error);
      const trouble = troubleOf(other);
      if (trouble === 'away') held.is_broken = true;
      else hears(client);
      if (trouble === undefined || !isOutage(trouble)) watch.answered(asked_at);
      throw other;
    }
  }

  const heldOf = (one: DatabaseConnection): Held => {
    if (one instanceof Held) return one;
    throw new Error('This connection is of another database.');
  };
  const say = async (to: DatabaseConnection, sql: string) => await ask(heldOf(to), { sql, parameters: [] });

  return {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createDriver: () => ({
      init: () => Promise.resolve(),
      async acquireConnection() {
        const is_background = isBackground();
        const hold = async () => new Held(await connection(is_background), is_background, ask);
        try {
          return await withPatience(timeout_ms, hold, (late) => void late.then(giveBack, () => {}));
        } catch (error) {
          throw told(error);
        }
      },
      async beginTransaction(to, { isolationLevel, accessMode }) {
        const level = isolationLevel === undefined ? '' : ` isolation level ${isolationLevel}`;
        await say(to, `begin${level}${accessMode === undefined ? '' : ` ${accessMode}`}`);
      },
      async commitTransaction(to) {
        // COMMIT of a transaction in which a statement has failed is answered as ROLLBACK.
        const { command } = await say(to, 'commit');
        if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: one of its statements had failed.');
      },
      async rollbackTransaction(to) {
        const held = heldOf(to);
        // Thrown away with its connection.
        if (held.is_broken) return;
        try {
          await say(to, 'rollback');
        } catch {
          held.is_broken = true;
        }
      },
      async releaseConnection(to) {
        giveBack(heldOf(to));
      },
      destroy: () => pool.end(),
    }),
  };
}
