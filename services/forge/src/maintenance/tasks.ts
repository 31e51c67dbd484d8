import { join } from 'node:path';
import type { Database } from '@croft/sql';
import { backUp } from '../backup/back-up.ts';
import type { Manifest } from '../backup/manifest.ts';
import { restore } from '../backup/restore.ts';
import { type ForgeOptions, openForgeDatabase } from '../open-resources.ts';
import { Git } from '../outside/git/git.ts';
import { examine, type Finding } from './examine.ts';

/** What a person does to a forge without HTTP; beside a running one, except for `restore`. */
export interface ForgeTasks {
  /** Looks for what is not as it should be; `tell` is called for each finding. */
  examine(
    depth: 'everything' | 'connections',
    tell: (finding: Finding) => void,
  ): Promise<{ repositories: number }>;
  /** Copies database, repositories and attachments into a new folder, as one set. */
  backUp(folder: string): Promise<Manifest>;
  /** Brings such a set back, where nothing is. */
  restore(folder: string): Promise<Manifest>;
  close(): Promise<void>;
}

/** Opens what tasks need. */
export async function openForgeTasks(
  options: Pick<ForgeOptions, 'settings' | 'databaseUrl' | 'dataFolder' | 'log' | 'version'>,
): Promise<ForgeTasks> {
  const { settings, dataFolder, log, version } = options;
  const database: Database = openForgeDatabase(options);
  const git = await Git.open({
    folder: join(dataFolder, 'repositories'),
    command: settings.GIT_COMMAND,
    searchPath: settings.GIT_SEARCH_PATH,
    warmProcesses: 1,
    log,
  }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const attachments = join(dataFolder, 'attachments');
  return {
    examine: (depth, tell) => examine({ database, git }, depth, tell),
    backUp: (folder) => backUp({ database, git, attachments, version, log }, folder),
    restore: (folder) =>
      restore(
        { database, git, attachments, migrations: new URL('../../migrations/', import.meta.url) },
        folder,
      ),
    async close() {
      await git.close();
      await database.close();
    },
  };
}
