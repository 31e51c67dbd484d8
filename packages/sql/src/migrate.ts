import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Database, Tx } from './database.ts';
import { quoteIdentifier } from './statement.ts';

interface Migration {
  name: string;
  text: string;
  checksum: string;
}

/** What every schema has, whichever service owns it: the outbox. */
const SHARED = new URL('../migrations/', import.meta.url);

/**
 * Brings the schema up to date: every `NNNN_name.sql` not yet applied, in the order of names, all in one transaction
 * under an advisory lock, so processes that start together wait for one another and a failure leaves nothing behind.
 * @returns the names that were applied now
 */
export async function migrate(database: Database, folder: URL): Promise<string[]> {
  const migrations = [...(await readMigrations(SHARED)), ...(await readMigrations(folder))];
  return await database.transaction(async (tx) => {
    // Waiting for another process's migrations, or filling a column, may take its time.
    await tx.script('set local statement_timeout = 0');
    await tx.run`select pg_advisory_xact_lock(hashtext('croft migrations of ' || ${database.schema}))`;
    await prepareLedger(tx);
    const applied = new Map(
      (
        await tx.rows<{ name: string; checksum: string }>`select name, checksum from :schema.croft_migrations`
      ).map(({ name, checksum }) => [name, checksum]),
    );
    const pending = migrations.filter((migration) => !isApplied(migration, applied));
    for (const { name, text, checksum } of pending) {
      await tx.script(text.replaceAll(':schema', quoteIdentifier(database.schema)));
      await tx.run`insert into :schema.croft_migrations (name, checksum, applied_at) values (${name}, ${checksum}, ${tx.now})`;
    }
    return pending.map(({ name }) => name);
  });
}

async function prepareLedger(tx: Tx): Promise<void> {
  await tx.run`create schema if not exists :schema`;
  await tx.run`create table if not exists :schema.croft_migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null)`;
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

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(fileURLToPath(folder)))
    .filter((name) => /^\d{4}_[a-z0-9-]+\.sql$/.test(name))
    .sort();
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return {
        name: name.replace(/\.sql$/, ''),
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      };
    }),
  );
}
