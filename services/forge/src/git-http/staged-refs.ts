import type { Git } from '../outside/git/git.ts';

/** Where branches wait whose move depends on what their commits hold; clients can neither see nor push here. */
export const STAGED = 'refs/staged/';

/** Removes what was left there. */
export async function removeStaged(git: Git, repositoryId: number, folder = STAGED): Promise<void> {
  const listed = await git.run(repositoryId, ['for-each-ref', '--format=delete %(refname)', '--', folder]);
  const commands = listed.stdout.toString();
  if (listed.code === 0 && commands !== '') await git.run(repositoryId, ['update-ref', '--stdin'], commands);
}
