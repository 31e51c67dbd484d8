import { join } from 'node:path';
import { type Log, reasonOf, StartError } from '@croft/runtime';
import { openDatabase } from '@croft/sql';
import type { EmbeddedPostgres } from '@croft/sql/embedded';

const OLDEST = 15;

/** Starts the server in the data folder; `whileStarting` is called when that needs nothing of this process but patience. */
export async function startDatabase(
  dataFolder: string,
  log: Log,
  whileStarting: () => void,
): Promise<EmbeddedPostgres> {
  const { startEmbeddedPostgres } = await import('@croft/sql/embedded');
  return startEmbeddedPostgres({ folder: join(dataFolder, 'postgres'), log, whileStarting });
}

/**
 * Asks a server of the person's own for its version.
 * @param variable the setting that names it
 * @throws StartError when it is no PostgreSQL that we can use, without the password
 */
export async function checkOwnDatabase(url: string, variable: string, log: Log): Promise<void> {
  const parsed = URL.parse(url);
  if (parsed === null || !/^postgres(?:ql)?:$/.test(parsed.protocol)) {
    throw new StartError(
      `${variable} is no address such as postgresql://user:password@host:5432/database, or postgresql:///database?host=/run/postgresql&user=user through a socket. In the password, / ? # @ and % are written %2F %3F %23 %40 and %25.`,
    );
  }
  const where = `${parsed.searchParams.get('host') ?? parsed.host}${parsed.pathname}`;
  const database = openDatabase({ url, schema: 'public', log, poolSize: 1, prepare: false });
  try {
    const found = await database.autocommit().row<{ version: number; encoding: string }>`
      select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`;
    const major = Math.floor((found?.version ?? 0) / 10_000);
    if (major < OLDEST) {
      throw new StartError(
        `The database server at ${where} is PostgreSQL ${major}, and Croft needs ${OLDEST} or later.`,
      );
    }
    if (found?.encoding !== 'UTF8') {
      throw new StartError(
        `The database at ${where} has the encoding ${found?.encoding}, and Croft needs UTF8: create database croft encoding 'UTF8' template template0.`,
      );
    }
  } catch (error) {
    if (error instanceof StartError) throw error;
    const explained = explain(error as Error);
    throw new StartError(
      `The database at ${where} cannot be used: ${explained?.reason ?? reasonOf(error)}. ${explained?.wayOut ?? `Check ${variable}, or leave it out to use the embedded server.`}`,
      { cause: error },
    );
  } finally {
    await database.close();
  }
}

/** What the driver says in words of its own, and what to do about it. */
function explain(error: Error): { reason: string; wayOut: string } | undefined {
  if (error.message.includes('client password must be a string')) {
    return {
      reason: 'it wants a password',
      wayOut: 'Write it into the address: postgresql://user:password@host/database.',
    };
  }
  if (/certificate|altnames/i.test(error.message)) {
    return {
      reason: error.message.replace(/;.*/s, ''),
      wayOut:
        'Name the authority that signed it with sslrootcert=<file> in the address (docs/operations.md, "A database of your own").',
    };
  }
  return undefined;
}
