import {
  assertInTime,
  assertOutsideTransaction,
  type Clock,
  insideTransaction,
  type Log,
  systemClock,
} from '@croft/runtime';
import pg from 'pg';
import { type Statement, statementCompiler } from './statement.ts';

type Template<Result> = (strings: TemplateStringsArray, ...values: unknown[]) => Promise<Result>;

/**
 * Where statements run: one transaction, or single statements that commit by themselves. Statements are tagged
 * templates, so a value can never become SQL, and each is prepared once a connection.
 */
export interface Tx {
  /** The one timestamp of the unit of work. */
  readonly now: Date;
  /** The first row, or undefined. */
  row<Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row | undefined>;
  /** All rows. */
  rows<Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>;
  /** How many rows the statement changed. */
  run: Template<number>;
  /** Runs a whole script, several statements without values: migrations. */
  script(text: string): Promise<void>;
}

/** One schema of one PostgreSQL server, through a pool. */
export interface Database {
  /**
   * Runs `work` in a transaction that commits when it returns and rolls back when it throws. `work` touches nothing
   * but the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** For units of work of a single statement: no `begin`, no `commit`, one round trip. */
  autocommit(): Tx;
  readonly schema: string;
  readonly url: string;
  /** Round trips so far, `begin` and `commit` included; tests count with it. */
  readonly roundTrips: number;
  close(): Promise<void>;
}

/** How to reach the server and how to treat it. */
export interface DatabaseOptions {
  url: string;
  schema: string;
  log: Log;
  clock?: Clock;
  /** Connections at most. */
  poolSize?: number;
  /** Milliseconds a statement may take; what runs longer than any request waits only holds a connection. */
  statementTimeoutMs?: number;
  /** False behind pgbouncer in transaction mode, which loses named statements. */
  prepare?: boolean;
}

/** What a process takes when nobody says otherwise: two services leave room for others among 100 connections. */
export const DEFAULT_POOL_SIZE = 20;

const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;

/** bigint as number: every id and count of ours is below 2^53. */
const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/** Opens a pool; no connection is made before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const { schema, log, clock = systemClock, prepare = true } = options;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize || DEFAULT_POOL_SIZE,
    types,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    // A pooler in transaction mode refuses settings of a session; it has time-outs of its own.
    ...(prepare ? { statement_timeout: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS } : {}),
    application_name: `croft ${schema}`,
  });
  // A connection that breaks while idle is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ error: error.message }, 'an idle database connection was lost'));
  const connections = countConnections(pool);
  const compile = statementCompiler(schema);
  let roundTrips = 0;

  async function query(
    client: pg.Pool | pg.ClientBase,
    statement: Statement,
    values: unknown[],
  ): Promise<pg.QueryResult> {
    assertInTime();
    roundTrips++;
    return client.query(prepare ? { ...statement, values } : { text: statement.text, values });
  }
  function command(client: pg.ClientBase, text: string): Promise<pg.QueryResult> {
    roundTrips++;
    return client.query(text);
  }
  function on(client: pg.Pool | pg.ClientBase, now: Date): Tx {
    return {
      now,
      row: async (strings, ...values) => (await query(client, compile(strings), values)).rows[0],
      rows: async (strings, ...values) => (await query(client, compile(strings), values)).rows,
      run: async (strings, ...values) => (await query(client, compile(strings), values)).rowCount ?? 0,
      async script(text) {
        roundTrips++;
        await client.query(text);
      },
    };
  }

  return {
    schema,
    url: options.url,
    get roundTrips() {
      return roundTrips;
    },
    autocommit() {
      assertOutsideTransaction('a statement of another connection');
      return on(pool, clock.now());
    },
    async transaction(work) {
      assertOutsideTransaction('another transaction');
      const client = await pool.connect();
      let broken: Error | undefined;
      // The statement under way rejects; the event says the same again and, unheard, would end the process.
      const onLost = (error: Error): void => {
        broken = error;
      };
      client.on('error', onLost);
      try {
        await command(client, 'begin');
        const result = await insideTransaction(() => work(on(client, clock.now())));
        // A statement that failed unnoticed makes PostgreSQL roll back here, and say so only in the tag of its answer.
        assertInTime();
        const { command: outcome } = await command(client, 'commit');
        if (outcome !== 'COMMIT')
          throw new Error('the transaction was rolled back: a statement in it had failed');
        return result;
      } catch (error) {
        await command(client, 'rollback').catch((reason: Error) => {
          broken = reason;
        });
        throw error;
      } finally {
        client.off('error', onLost);
        client.release(broken);
      }
    },
    async close() {
      await pool.end();
      await connections.gone();
    },
  };
}

/**
 * `pool.end()` resolves when it has asked its connections to end. The caller may stop the server next, which would
 * break those that are still saying goodbye, so we wait for them.
 */
function countConnections(pool: pg.Pool): { gone(): Promise<void> } {
  let open = 0;
  const none = Promise.withResolvers<void>();
  pool.on('connect', () => open++);
  pool.on('remove', () => {
    open--;
    if (open === 0 && pool.ended) none.resolve();
  });
  return { gone: () => (open === 0 ? Promise.resolve() : none.promise) };
}
