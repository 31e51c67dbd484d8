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
      `${variable} is no address such as postgresql://user:password@host:5432/database, or postgresql:///database?host=/run/postgresql&user=user through a socket.`,
    );
  }
  const where = `${parsed.searchParams.get('host') ?? parsed.host}${parsed.pathname}`;
  const database = openDatabase({ url, schema: 'public', log, poolSize: 1, prepare: false });
  try {
    const found = await database.autocommit().row<{ version: number }>`
      select current_setting('server_version_num')::int as version`;
    const major = Math.floor((found?.version ?? 0) / 10_000);
    if (major >= OLDEST) return;
    throw new StartError(
      `The database server at ${where} is PostgreSQL ${major}, and Croft needs ${OLDEST} or later.`,
    );
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `The database at ${where} cannot be used: ${reasonOf(error)}. Check ${variable}, or leave it out to use the embedded server.`,
      { cause: error },
    );
  } finally {
    await database.close();
  }
}
