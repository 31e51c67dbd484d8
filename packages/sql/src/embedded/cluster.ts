import { existsSync } from 'node:fs';
import { chmod, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { randomToken, StartError } from '@croft/runtime';
import type { Binaries } from './binaries.ts';
import { startKept } from './keeper.ts';
import { explain, USE_YOUR_OWN } from './problems.ts';
import type { RunAs } from './run-as.ts';

/** Written once into `postgresql.conf`, where a person may change them: sized for a small machine. */
const INITIAL_SETTINGS = {
  max_connections: '100',
  shared_buffers: '48MB',
  jit: 'off',
  // Statements are many and short: by the time other processes had their part, they would be over.
  max_parallel_workers_per_gather: '0',
  io_method: 'sync', // no I/O workers: three processes fewer to start and to keep
  timezone: 'UTC',
  log_timezone: 'UTC',
};

/** initdb's own file also opens TCP and replication, which we do not serve. */
const ACCESS_RULES = '# The socket lies in a folder that only its owner may enter.\nlocal all all trust\n';

/** Built into the server, so an upgrade of the system's libraries cannot corrupt an index. */
const LOCALE = '--locale=C --locale-provider=builtin --builtin-locale=C.UTF-8';

const UNFINISHED = 'cluster.unfinished-';

/** The initdb of a killed start takes a moment to end, and writes until then. */
const LEFTOVER = { recursive: true, force: true, maxRetries: 30, retryDelay: 50 };

/**
 * Makes the cluster unless it is there. It is built under another name and renamed when it is complete and on
 * disk, so a cluster that exists is whole; what an interrupted start left is removed.
 * @throws StartError when the cluster was made by another major version
 */
export async function prepareCluster(
  cluster: string,
  binaries: Binaries,
  runAs: RunAs,
  sync: boolean,
): Promise<void> {
  const folder = dirname(cluster);
  for (const entry of await readdir(folder)) {
    if (entry.startsWith(UNFINISHED)) await rm(join(folder, entry), LEFTOVER);
  }
  if (existsSync(cluster)) {
    await checkVersion(cluster, binaries.majorVersion);
    // A copy or a restored backup often lost its mode, and PostgreSQL insists on it.
    return chmod(cluster, 0o700);
  }

  const unfinished = join(folder, UNFINISHED + randomToken(6));
  try {
    await initialise(unfinished, binaries, runAs, sync);
    await rename(unfinished, cluster);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  if (sync) await syncFolder(folder);
}

async function initialise(cluster: string, binaries: Binaries, runAs: RunAs, sync: boolean): Promise<void> {
  const printed: string[] = [];
  const options = `--username=croft --auth=trust --data-checksums --no-instructions --encoding=UTF8 ${LOCALE}`;
  const command = [
    binaries.initdb,
    `--pgdata=${cluster}`,
    ...options.split(' '),
    ...Object.entries(INITIAL_SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ...(sync ? [] : ['--no-sync']),
  ];
  const initdb = await startKept(command, runAs, binaries.environment, (line) => printed.push(line));
  const code = await initdb.ended;
  if (code !== 0) {
    const reason =
      explain(printed.join('\n'), dirname(cluster)) ??
      `PostgreSQL could not make its data folder (initdb ended with ${code}): ${printed.at(-1) ?? 'it printed nothing'}. Mend that, or ${USE_YOUR_OWN}.`;
    throw new StartError(reason);
  }
  await writeFile(join(cluster, 'pg_hba.conf'), ACCESS_RULES, { flush: true });
}

async function checkVersion(cluster: string, ours: string): Promise<void> {
  const written = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return 'an unknown version';
    },
  );
  const theirs = written.trim();
  if (theirs === ours) return;
  throw new StartError(
    `${cluster} was made by PostgreSQL ${theirs}, and this Croft has PostgreSQL ${ours}, which cannot read it. ` +
      `Dump it with the Croft that made it (docs/operations.md, "A database of your own") and load the dump here, or ${USE_YOUR_OWN}, or move the folder away to start empty.`,
  );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  await handle.sync();
  await handle.close();
}
