import pg from 'pg';
import { fromDriver, isDatabaseUnavailable, isReadOnly } from './errors.ts';

/** Connections that many statements share at a time: they are sent one behind the other, without waiting for answers. */
export interface SharedReads {
  query(command: pg.QueryConfig): Promise<pg.QueryResult>;
  end(): Promise<void>;
}

/** One would leave PostgreSQL a single core for them; more than two were no faster. */
const LANES = 2;

/**
 * Nothing changes here, and nothing is planned anew for other values: for an array of one key PostgreSQL else finds that a plan
 * of its own is the cheaper one and makes it every time, which takes longer than the look-up (0.94 ms of 1.03 for an issue).
 */
const SESSION = '-c default_transaction_read_only=on -c plan_cache_mode=force_generic_plan';

/**
 * Opens the connections when they are needed first, and again when they broke. PostgreSQL refuses statements on them
 * that change anything: one that holds a lock or takes long would hold up everybody else's behind it.
 */
export function openSharedReads(config: pg.ClientConfig): SharedReads {
  const lanes = Array.from({ length: LANES }, () => openLane(config));
  return {
    async query(command) {
      // The emptier one: a statement waits for those before it.
      const lane = lanes.reduce((best, other) => (other.underWay() < best.underWay() ? other : best));
      return await lane.query(command);
    },
    async end() {
      await Promise.all(lanes.map((lane) => lane.end()));
    },
  };
}

interface Lane extends SharedReads {
  underWay(): number;
}

function openLane(config: pg.ClientConfig): Lane {
  let connected: Promise<pg.Client> | undefined;
  let count = 0;

  function connect(): Promise<pg.Client> {
    const client = new pg.Client({
      ...config,
      pipeline: true,
      options: [config.options, SESSION].filter((option) => option !== undefined).join(' '),
    });
    const connecting = client.connect().then(() => client);
    connecting.catch(() => forget(connecting));
    // Statements under way reject with the reason; unheard, the event would end the process.
    client.on('error', () => forget(connecting));
    client.on('end', () => forget(connecting));
    return connecting;
  }
  function forget(lost: Promise<pg.Client>): void {
    if (connected === lost) connected = undefined;
  }

  return {
    underWay: () => count,
    async query(command) {
      count++;
      connected ??= connect();
      const mine = connected;
      try {
        return await (await mine).query(command);
      } catch (error) {
        // A server that says goodbye is about to hang up; who wanted to change something here was refused by us.
        if (isDatabaseUnavailable(fromDriver(error)) && !isReadOnly(error)) forget(mine);
        throw error;
      } finally {
        count--;
      }
    },
    async end() {
      const client = await connected?.catch(() => undefined);
      connected = undefined;
      await client?.end();
    },
  };
}
