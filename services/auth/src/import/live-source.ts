import { type Log, StartError } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import * as gotrueTables from '../store/gotrue-tables.ts';
import type { SourceRow } from './rows/fields.ts';
import { BATCH_ROWS, checkIdentities, type Source, type SourceTable } from './source.ts';

/** Before every id. */
const FIRST = { uuid: '00000000-0000-0000-0000-000000000000', bigint: '-1' };

/**
 * Reads a GoTrue database as it is, page by page. Nothing is written there and no transaction is held: what changes
 * meanwhile is read or not, and another run reads the rest.
 * @throws StartError when there is none, it is too old, or its rows cannot be seen
 */
export async function openLiveSource(url: string, schema: string, log: Log): Promise<Source> {
  const database = openDatabase({ url, schema, log, poolSize: 1 });
  try {
    const tables = await gotrueTables.list(database.autocommit(), schema).catch((error: unknown) => {
      throw new StartError(`The database to import from cannot be read: ${(error as Error).message}`, {
        cause: error,
      });
    });
    checkTables(tables, schema);
    const names = new Set(tables.map(({ name }) => name));
    return {
      name: `schema ${schema}`,
      has: (table) => names.has(table),
      // Early versions lack some.
      rows: (table) => rowsOf(names.has(table) ? table : undefined),
      close: () => database.close(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }

  async function* rowsOf(table: SourceTable | undefined): AsyncGenerator<readonly SourceRow[]> {
    if (table === undefined) return;
    let after = table === 'refresh_tokens' ? FIRST.bigint : FIRST.uuid;
    for (;;) {
      const page = await gotrueTables.pages[table](database.autocommit(), after, BATCH_ROWS);
      if (page.length > 0) yield page.map(({ row }) => row);
      if (page.length < BATCH_ROWS) return;
      after = String(page.at(-1)?.row['id']);
    }
  }
}

function checkTables(tables: readonly gotrueTables.Holdings[], schema: string): void {
  const names = tables.map(({ name }) => name);
  if (names.includes('croft_migrations')) {
    throw new StartError(
      `The schema "${schema}" of the source holds Croft's own tables, not GoTrue's. Name theirs with --schema.`,
    );
  }
  if (!['users', 'identities', 'sessions', 'refresh_tokens'].every((name) => names.includes(name))) {
    throw new StartError(`The schema "${schema}" of the source holds no tables of GoTrue.`);
  }
  checkIdentities(tables.find(({ name }) => name === 'identities')?.columns);
  const hidden = tables.filter(({ isHidden }) => isHidden).map(({ name }) => name);
  if (hidden.length > 0) {
    throw new StartError(
      `Row-level security hides rows of ${hidden.sort().join(', ')} from this user. Connect as the owner of the tables.`,
    );
  }
}
