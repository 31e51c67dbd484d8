import { StartError } from '@croft/runtime';
import type { Database, Tx } from './database.ts';
import { type Migration, readMigrations } from './migration-files.ts';
import { quoteIdentifier } from './statement.ts';

/** What migrations of a service may depend on, and when they may be applied. */
export interface MigrateOptions {
  /** What the settings say, for migrations of rows: they read `current_setting('croft.<name>', true)`. */
  values?: Readonly<Record<string, string>>;
  /** For tasks beside a service that may be running: its tables are left as its own version knows them. */
  unlessRunning?: boolean;
  /** What to do where the schema is another program's, after a sentence that says so. */
  ifTaken?: string;
}

/**
 * Brings the schema up to date: every `NNNN_name.sql` not yet applied, in the order of names, all in one transaction
 * under an advisory lock, so processes that start together wait for one another and a failure leaves nothing behind.
 * @returns the names that were applied now
 * @throws StartError when a later version made the tables, or, with `unlessRunning`, when something is to be applied
 *   while a service works with them, or when the schema has tables of another program
 */
export async function migrate(
  database: Database,
  folder: URL,
  options: MigrateOptions = {},
): Promise<string[]> {
  const { values = {}, unlessRunning = false, ifTaken = 'Give Croft a schema of its own.' } = options;
  const { schema } = database;
  const migrations = await readMigrations(folder);
  const apply = async (tx: Tx): Promise<string[]> => {
    await tx.run`select pg_advisory_xact_lock(hashtext('croft migrations of ' || ${schema}))`;
    await prepareLedger(tx, schema);
    const applied = await readLedger(tx);
    checkKnown(schema, applied, migrations);
    const pending = migrations.filter((migration) => !isApplied(migration, applied));
    if (unlessRunning && applied.size > 0 && pending.length > 0) await checkIdle(tx, schema);
    for (const [name, value] of Object.entries(values)) {
      await tx.run`select set_config('croft.' || ${name}, ${value}, true)`;
    }
    for (const { name, text, checksum } of pending) {
      const script = tx.script(text.replaceAll(':schema', quoteIdentifier(schema)));
      await (applied.size === 0 ? script.catch(explainTaken(schema, ifTaken)) : script);
      await tx.run`insert into :schema.croft_migrations (name, checksum, applied_at) values (${name}, ${checksum}, ${tx.now})`;
    }
    return pending.map(({ name }) => name);
  };
  // Waiting for another process's migrations, or filling a column, may take its time.
  return await database.transaction(apply, { unlimited: true });
}

/**
 * For tasks that use tables and change none of them.
 * @throws StartError when there are none, or a later version made them
 */
export async function checkMigrations(database: Database, folder: URL): Promise<void> {
  const { schema } = database;
  const tx = database.autocommit();
  const ledger = await tx.row`
    select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relname = 'croft_migrations'`;
  const applied = ledger === undefined ? new Map() : await readLedger(tx);
  if (applied.size === 0) {
    throw new StartError(
      `There are no tables of Croft in the schema "${schema}". Start the service once, which makes them, or check the names of database and schema.`,
    );
  }
  checkKnown(schema, applied, await readMigrations(folder));
}

async function prepareLedger(tx: Tx, schema: string): Promise<void> {
  // Asked for first: whoever may not make schemas may not say `if not exists` either.
  const there = await tx.row`select from pg_namespace where nspname = ${schema}`;
  if (there === undefined) await tx.run`create schema :schema`.catch(explainForbidden(schema));
  await tx.run`create table if not exists :schema.croft_migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null)`.catch(
    explainForbidden(schema),
  );
}

const FORBIDDEN = '42501';

/** The first try with a database of one's own: its user may sign in, and nothing else. */
function explainForbidden(schema: string) {
  return (error: Error & { code?: string }): never => {
    if (error.code !== FORBIDDEN) throw error;
    const name = quoteIdentifier(schema);
    throw new StartError(
      `The user that Croft signs in to the database as may not make the schema ${name} or tables in it. As an administrator of the server run: grant create on database <name> to <user>; or, for this schema alone: create schema if not exists ${name}; alter schema ${name} owner to <user>;`,
      { cause: error },
    );
  };
}

/** SQLSTATEs of a table, a type and a function that are there already. */
const TAKEN = ['42P07', '42710', '42723'];

/** The first try of whoever moves here from another program: on its own database, in the schema that it has. */
function explainTaken(schema: string, advice: string) {
  return (error: Error & { code?: string }): never => {
    if (error.code === undefined || !TAKEN.includes(error.code)) throw error;
    throw new StartError(
      `The schema "${schema}" is in use by another program: ${error.message}. Nothing in it was changed. ${advice}`,
      { cause: error },
    );
  };
}

/** Checksums of the migrations that were applied, by their names. */
async function readLedger(tx: Tx): Promise<Map<string, string>> {
  const rows = await tx.rows<{ name: string; checksum: string }>`
    select name, checksum from :schema.croft_migrations`;
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** Code that is older than its tables would write rows that the later version does not expect. */
function checkKnown(
  schema: string,
  applied: ReadonlyMap<string, string>,
  migrations: readonly Migration[],
): void {
  const unknown = [...applied.keys()].filter((name) => !migrations.some((known) => known.name === name));
  if (unknown.length === 0) return;
  throw new StartError(
    `The tables of the schema "${schema}" are of a later version of Croft: this one does not know the migration ${unknown.sort().join(', ')}. Start that version or a later one, or restore the backup from before the upgrade.`,
  );
}

function isApplied(migration: Migration, applied: ReadonlyMap<string, string>): boolean {
  const checksum = applied.get(migration.name);
  if (checksum !== undefined && checksum !== migration.checksum) {
    throw new Error(
      `Migration ${migration.name} was changed after it had been applied here. Restore its text and put the change into a new file.`,
    );
  }
  return checksum !== undefined;
}

/**
 * Whether a service runs shows in the connection that listens for its outbox: it holds it all the time, and tasks
 * have none. Its name is visible to every user of the server.
 */
async function checkIdle(tx: Tx, schema: string): Promise<void> {
  const listener = await tx.row`
    select 1 from pg_stat_activity
    where datname = current_database() and application_name = left('croft ' || ${schema} || ' outbox', 63) limit 1`;
  if (listener === undefined) return;
  throw new StartError(
    `A service of an older version of Croft is running on the schema "${schema}", and this version would change its tables. Stop it and start this version first, or use the command line of the version that runs.`,
  );
}
