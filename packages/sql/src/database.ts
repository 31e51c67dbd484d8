import {
  assertInTime,
  assertOutsideTransaction,
  type Clock,
  insideTransaction,
  type Log,
  reasonOf,
  systemClock,
  type TimeLimit,
  timeLimit,
} from '@croft/runtime';
import pg from 'pg';
import { connectionTo } from './connection.ts';
import { fromDriver, isDatabaseUnavailable } from './errors.ts';
import { hold } from './hold.ts';
import { onceMore } from './lost-races.ts';
import { openSharedReads } from './shared-reads.ts';
import { statementCompiler } from './statement.ts';

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

/** Where statements run that change nothing. */
export type Reader = Pick<Tx, 'now' | 'row' | 'rows'>;

/** One schema of one PostgreSQL server, through a pool. */
export interface Database {
  /**
   * Runs `work` in a transaction that commits when it returns and rolls back when it throws. `work` touches nothing
   * but the database: after a lost race it runs once more.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** For units of work of a single statement: no `begin`, no `commit`, one round trip. */
  autocommit(): Tx;
  /**
   * For look-ups by key that many requests make: they share few connections, where none waits for another's answer to
   * be sent. What takes long, or waits for a lock, would hold up the others behind it.
   */
  reads(): Reader;
  readonly schema: string;
  readonly url: string;
  /** Round trips so far, `begin` and `commit` included; tests count with it. */
  readonly roundTrips: number;
  close(): Promise<void>;
}

/** What a transaction is besides short. */
export interface TransactionOptions {
  /** Whether its statements may take as long as they take, as one that fills a column may. */
  unlimited?: boolean;
}

/** How to reach the server and how to treat it. */
export interface DatabaseOptions {
  url: string;
  schema: string;
  log: Log;
  clock?: Clock;
  /** Connections at most, besides two that look-ups share. */
  poolSize?: number;
  /** Milliseconds a statement may take; what runs longer than any request waits only holds a connection. */
  statementTimeoutMs?: number;
  /** False behind pgbouncer in transaction mode, which loses named statements. */
  prepare?: boolean;
}

/** What a process takes when nobody says otherwise: two services leave room for others among 100 connections. */
export const DEFAULT_POOL_SIZE = 20;

const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;
/** So much longer than the server would take to end a statement is waited for its word. */
const SILENCE_MS = 5_000;

/** bigint as number: every id and count of ours is below 2^53. */
const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
};

/** Opens a pool; no connection is made before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const { schema, log, clock = systemClock, prepare = true } = options;
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS;
  const connection = {
    ...connectionTo(options.url, schema),
    types,
    // A pooler in transaction mode refuses settings of a session; it has time-outs of its own.
    ...(prepare ? { statement_timeout: statementTimeoutMs } : {}),
  };
  /** A server that is gone ends nothing: then a statement is given up, and its connection. */
  const patienceMs = prepare && statementTimeoutMs > 0 ? statementTimeoutMs + SILENCE_MS : 0;
  const patience = patienceMs > 0 ? { query_timeout: patienceMs } : {};
  const pool = new pg.Pool({
    ...connection,
    max: options.poolSize || DEFAULT_POOL_SIZE,
    idleTimeoutMillis: 60_000,
  });
  const shared = openSharedReads(connection);
  // A connection that breaks while idle is replaced at the next use; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ error: reasonOf(error) }, 'an idle database connection was lost'));
  const connections = countConnections(pool);
  const compile = statementCompiler(schema);
  let roundTrips = 0;

  /** Runs one command, on a connection that is held or on any of the pool. */
  type Run = (command: pg.QueryConfig) => Promise<pg.QueryResult>;

  /** With callbacks: a promise for each of its two steps would cost a tenth of a small statement. */
  function runOnAny(command: pg.QueryConfig, limit: TimeLimit | undefined): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      pool.connect((failed, client) => {
        if (client === undefined) return reject(fromDriver(failed ?? new Error('there is no connection')));
        const held = hold(client);
        try {
          // Not before: whoever waits for a connection may have been answered 504 meanwhile.
          assertInTime(limit);
        } catch (error) {
          held.release();
          return reject(error as Error);
        }
        roundTrips++;
        client.query(command, (error: Error | null, result) => {
          held.release(fromDriver(error));
          if (error) reject(error);
          else resolve(result);
        });
      });
    });
  }
  const runAlone: Run = async (command) => {
    const limit = timeLimit();
    try {
      return await onceMore(() => runOnAny({ ...command, ...patience }, limit));
    } catch (error) {
      // From the driver it has no trace of who asked.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
  };
  const runShared: Run = async (command) => {
    assertInTime();
    roundTrips++;
    return await shared.query({ ...command, ...patience });
  };
  async function runTransaction<T>(
    work: (tx: Tx) => Promise<T>,
    { unlimited = false }: TransactionOptions,
  ): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw fromDriver(error);
    });
    const held = hold(client, patienceMs);
    const send: Run = async (command) => {
      assertInTime();
      roundTrips++;
      return await held.query(command, unlimited);
    };
    let hasEnded = false;
    // Of several things begun at once one may fail, and others go on: on a connection that somebody else has by then.
    const run: Run = (command) => {
      if (hasEnded) throw new Error('the statement comes when its transaction has ended');
      return send(command);
    };
    try {
      assertInTime();
    } catch (error) {
      held.release();
      throw error;
    }
    try {
      roundTrips++;
      await held.query({ text: unlimited ? 'begin; set local statement_timeout = 0' : 'begin' });
      const result = await insideTransaction(() => work(on(run, clock.now())));
      hasEnded = true;
      // A statement that failed unnoticed makes PostgreSQL roll back here, and say so only in the tag of its answer.
      const { command: outcome } = await send({ text: 'commit' });
      if (outcome !== 'COMMIT')
        throw new Error('the transaction was rolled back: a statement in it had failed');
      return result;
    } catch (error) {
      hasEnded = true;
      // A server that is gone rolls back by itself, and answers this no more than what went before.
      if (isDatabaseUnavailable(error)) held.discard(error as Error);
      else {
        roundTrips++;
        await held.query({ text: 'rollback' }).catch(held.discard);
      }
      throw error;
    } finally {
      held.release();
    }
  }

  function on(run: Run, now: Date): Tx {
    const query = (strings: TemplateStringsArray, given: unknown[]): Promise<pg.QueryResult> => {
      const { statement, values } = compile(strings, given);
      return run(prepare ? { ...statement, values } : { text: statement.text, values });
    };
    return {
      now,
      row: async (strings, ...values) => (await query(strings, values)).rows[0],
      rows: async (strings, ...values) => (await query(strings, values)).rows,
      run: async (strings, ...values) => (await query(strings, values)).rowCount ?? 0,
      async script(text) {
        await run({ text });
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
      return on(runAlone, clock.now());
    },
    reads() {
      assertOutsideTransaction('a statement of another connection');
      return on(prepare ? runShared : runAlone, clock.now());
    },
    async transaction(work, options = {}) {
      assertOutsideTransaction('another transaction');
      return await onceMore(() => runTransaction(work, options));
    },
    async close() {
      await Promise.all([pool.end(), shared.end()]);
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
