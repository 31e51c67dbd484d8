import { access, constants, mkdir, realpath, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Log, lockFolder } from '@croft/runtime';
import { findBinaries } from './binaries.ts';
import { prepareCluster } from './cluster.ts';
import { Databases } from './databases.ts';
import { stopOrphan } from './orphan.ts';
import { explained } from './problems.ts';
import { chooseIdentity } from './run-as.ts';
import { launch } from './server.ts';
import { LOG_SETTINGS } from './server-log.ts';
import { makeSocketFolder, PORT } from './socket-folder.ts';

/** What the embedded server needs. */
export interface EmbeddedPostgresOptions {
  /** Made when missing; everything of the server is in it: `cluster/`, `run/` with the socket, a lock. */
  folder: string;
  log: Log;
  /** `test` gives up durability for speed: a crash may lose everything. */
  tuning?: 'durable' | 'test';
  /** Called when the server's process is there and has yet to come up: time for work that blocks. Twice if it is started twice. */
  whileStarting?: () => void;
}

/** A PostgreSQL of our own that answers queries; it ends with us, however we end. */
export interface EmbeddedPostgres {
  /** Process number of the server. */
  readonly pid: number;
  /** Settles only when the server ends without having been asked to, with the reason in words. */
  readonly exited: Promise<string>;
  /** Connection string for `pg`. */
  url(database: string): string;
  /** Makes a database unless it is there. */
  createDatabase(name: string): Promise<void>;
  /** Ends it within moments, breaking connections; safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on a folder, making the cluster and the database `croft` when they are missing. Takes a
 * folder that a killed process left in whatever state.
 * @throws StartError when this machine or this folder cannot serve, with a way out
 * @throws FolderInUse when another process has the folder
 */
export function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return explained(options.folder, async () => {
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    await access(options.folder, constants.W_OK);
    const folder = await realpath(options.folder);
    const lock = lockFolder(folder, 'The PostgreSQL folder');
    try {
      return await startLocked(folder, lock, options);
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  });
}

async function startLocked(
  folder: string,
  lock: Disposable,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const durable = options.tuning !== 'test';
  const cluster = join(folder, 'cluster');
  const binaries = await findBinaries(join(folder, 'lib'));
  const runAs = await chooseIdentity(folder, binaries.postgres);
  const { uid, gid } = await stat(folder); // the server's own, now that its identity is chosen
  const socketFolder = await makeSocketFolder(folder, uid, gid);
  await prepareCluster(cluster, binaries, runAs, durable);
  const recycled = await stopOrphan(cluster, options.log);

  const command = [binaries.postgres, '-D', cluster, ...settings(socketFolder, durable)];
  const environment = {
    ...binaries.environment,
    // Names a process that is certainly no server, whatever a stale `postmaster.pid` says.
    ...(recycled === undefined ? {} : { PG_GRANDPARENT_PID: String(recycled) }),
  };
  const { log, whileStarting } = options;
  const server = await launch({ command, runAs, environment, log, folder, whileStarting });
  const databases = new Databases(socketFolder);
  try {
    await databases.create('croft'); // also the proof that it answers queries
  } catch (error) {
    await server.stop();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    await server.stop();
    if (dirname(socketFolder) !== folder) await rmdir(socketFolder).catch(() => {});
    lock[Symbol.dispose]();
  };
  return {
    pid: server.pid,
    exited: server.exited,
    url: (database) => databases.url(database),
    createDatabase: (name) => databases.create(name),
    stop: () => (stopped ??= stop()),
  };
}

/** On the command line, because nothing in `postgresql.conf` may undo them. */
function settings(socketFolder: string, durable: boolean): string[] {
  const safety = durable ? 'on' : 'off';
  const all = {
    listen_addresses: '',
    port: String(PORT),
    unix_socket_directories: `"${socketFolder.replaceAll('"', '""')}"`, // a list: commas separate
    unix_socket_permissions: '0700',
    fsync: safety,
    synchronous_commit: safety,
    full_page_writes: safety,
    ...LOG_SETTINGS,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
