import { Client, DatabaseError, escapeIdentifier } from 'pg';
import { PORT } from './socket-folder.ts';

/** The databases of one server. */
export class Databases {
  readonly #socketFolder: string;

  constructor(socketFolder: string) {
    this.#socketFolder = socketFolder;
  }

  /** Names everything that `pg` would otherwise take from PGPORT, PGSSLMODE and the like. */
  url(database: string): string {
    const host = encodeURIComponent(this.#socketFolder);
    return `postgresql://croft@localhost:${PORT}/${encodeURIComponent(database)}?host=${host}&sslmode=disable`;
  }

  /** Makes a database unless it is there; several callers may want the same one at once. */
  async create(name: string): Promise<void> {
    const client = new Client({ connectionString: this.url('postgres') });
    client.on('error', () => {}); // a lost connection fails the query below as well
    await client.connect();
    try {
      const found = await client.query('select from pg_database where datname = $1', [name]);
      // template0, because copying a template needs it to be unused and anybody may connect to template1
      if (found.rowCount === 0)
        await client.query(`create database ${escapeIdentifier(name)} template template0`);
    } catch (error) {
      if (!(error instanceof DatabaseError && ALREADY_THERE.has(error.code ?? ''))) throw error;
    } finally {
      await client.end();
    }
  }
}

/** duplicate_database, and unique_violation of the catalogue when two are made in the same moment */
const ALREADY_THERE = new Set(['42P04', '23505']);
