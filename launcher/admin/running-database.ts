import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '@croft/runtime';

/** A Croft that is just coming up gets so long to have its database ready. */
const PATIENCE_MS = 10_000;

/**
 * The embedded database that a running Croft has in the data folder; whoever may read the folder may use it.
 * @returns its connection string
 * @throws StartError when the Croft that has the folder runs none
 */
export async function findRunningDatabase(dataFolder: string): Promise<string> {
  const file = join(dataFolder, 'postgres/cluster/postmaster.pid');
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100)) {
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw new StartError(`${file} cannot be read: ${error.message}. Run this as the user that runs Croft.`);
    });
    // Its lines: process, folder, time of start, port, folder of the socket, addresses, shared memory, state.
    const [, , , port = '', socketFolder = '', , , state = ''] = text.split('\n');
    if (state.trim() === 'ready') {
      const host = encodeURIComponent(socketFolder);
      return `postgresql://croft@localhost:${port}/croft?host=${host}&sslmode=disable`;
    }
  }
  throw new StartError(
    `The Croft that has the data folder ${dataFolder} runs no database of its own. Stop it first, or choose another folder with CROFT_DATA.`,
  );
}
