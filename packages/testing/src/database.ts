import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { silentLog } from '@croft/runtime';
import { migrate, openDatabase } from '@croft/sql';
import pg from 'pg';
import { inject } from 'vitest';

/** A database of the caller's own: migrated, empty, dropped when disposed. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** The service whose schema a test wants. */
export interface SchemaOf {
  schema: string;
  /** Its folder of migrations. */
  migrations: URL;
}

/**
 * Clones a database from a template that holds the given schemas, migrated. The template is made by whichever test
 * file comes first; a clone takes about 100 ms where migrating would take longer with every migration.
 */
export async function testDatabase(...services: SchemaOf[]): Promise<TestDatabase> {
  const template = await templateOf(services);
  const name = `croft_test_${randomUUID().replaceAll('-', '')}`;
  await administer((client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  );
  return {
    url: addressOf(name),
    [Symbol.asyncDispose]: () => administer((client) => client.query(`drop database ${name} with (force)`)),
  };
}

async function templateOf(services: SchemaOf[]): Promise<string> {
  const hash = createHash('sha256');
  const shared = { schema: '', migrations: new URL('../../sql/migrations/', import.meta.url) };
  for (const { schema, migrations } of [shared, ...services]) {
    hash.update(schema);
    for (const file of readdirSync(migrations).sort()) hash.update(readFileSync(new URL(file, migrations)));
  }
  const name = `croft_template_${hash.digest('hex').slice(0, 16)}`;
  await administer(async (client) => {
    await client.query(`select pg_advisory_lock(hashtext('croft test templates'))`);
    const { rowCount } = await client.query(
      'select 1 from pg_database where datname = $1 and datallowconn = false',
      [name],
    );
    if (rowCount === 1) return;
    await client.query(`drop database if exists ${name} with (force)`);
    await client.query(`create database ${name}`);
    for (const { schema, migrations } of services) {
      const database = openDatabase({ url: addressOf(name), schema, log: silentLog });
      await migrate(database, migrations);
      await database.close();
    }
    // Nobody may connect: a connection to a template makes cloning it fail. It also marks the template as complete.
    await client.query(`alter database ${name} with allow_connections false`);
  });
  return name;
}

function addressOf(database: string): string {
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${database}`;
  return url.href;
}

async function administer(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
