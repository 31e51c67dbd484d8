import { silentLog } from '@croft/runtime';
import { Git, type GitOptions } from '../src/outside/git/git.ts';

/** Git on repositories of a test, beside those of a forge or without one; it ends with the stack. */
export async function ownGit(
  stack: AsyncDisposableStack,
  folder: string,
  options: Partial<GitOptions> = {},
): Promise<Git> {
  const searchPath = process.env['PATH'] ?? '';
  const git = await Git.open({
    folder,
    command: 'git',
    searchPath,
    warmProcesses: 4,
    log: silentLog,
    ...options,
  });
  stack.defer(() => git.close());
  return git;
}
