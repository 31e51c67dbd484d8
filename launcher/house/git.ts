import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { StartError } from '@croft/runtime';

const NEEDED = '2.38'; // the first with `merge-tree --write-tree`

/** A program, and the folders in which it is looked for. */
export interface GitProgram {
  readonly command: string;
  readonly searchPath: string;
}

/**
 * Looks whether git is there and young enough.
 * @throws StartError when it is not
 */
export async function checkGit({ command, searchPath }: GitProgram): Promise<void> {
  const wayOut =
    'Install a newer one, name one with FORGE_GIT_COMMAND or its folder with FORGE_GIT_SEARCH_PATH, or start the other services alone: npm start -- auth state';
  const env = { PATH: searchPath };
  const { stdout } = await promisify(execFile)(command, ['--version'], { env }).catch(
    (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? `there is none in ${searchPath}` : `"${command} --version" fails`;
      throw new StartError(`forge needs git ${NEEDED} or later, and ${why}. ${wayOut}`);
    },
  );
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(stdout) ?? [];
  const [neededMajor, neededMinor] = NEEDED.split('.').map(Number) as [number, number];
  if (Number(major) > neededMajor || (Number(major) === neededMajor && Number(minor) >= neededMinor)) return;
  throw new StartError(`forge needs git ${NEEDED} or later, and this is ${stdout.trim()}. ${wayOut}`);
}
