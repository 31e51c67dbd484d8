import { gitOptions } from '../environment.ts';
import type { Git } from '../git.ts';
import { inTurn } from './turns.ts';

/** Whoever comments on a line of a longer one does not look at it here. */
const MAX_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 9_000;
const OPTIONS = ['-r', '-z', '--patch-with-raw', '--no-renames', '--no-ext-diff', '--no-textconv'] as const;

/**
 * How a file differs between two commits, as a unified diff.
 * @param path taken literally; of a folder there is no diff
 * @returns undefined when it does not differ, cannot be read, or differs in more than 4 MiB
 */
export async function readFileDiff(
  git: Git,
  repositoryId: number,
  range: { from: string; to: string },
  path: string,
): Promise<string | undefined> {
  const args = ['diff-tree', ...OPTIONS, '--end-of-options', range.from, range.to, '--', path];
  return await inTurn(git, async () => {
    const options = gitOptions(git.folderOf(repositoryId));
    const program = await git.start([...options, ...args], false, { GIT_LITERAL_PATHSPECS: '1' });
    const timer = setTimeout(() => program.kill(), TIMEOUT_MS);
    const chunks: Buffer[] = [];
    let length = 0;
    try {
      for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MAX_BYTES) {
          program.kill();
          return undefined;
        }
      }
      const { code } = await program.exited;
      return code === 0 ? patchOf(Buffer.concat(chunks), path) : undefined;
    } finally {
      clearTimeout(timer);
    }
  });
}

/** `:<modes> <ids> <status>`, the path and the patch, with NUL between them: the path may be one of a folder's files. */
function patchOf(output: Buffer, path: string): string | undefined {
  const start = output.indexOf(0) + 1;
  const end = output.indexOf(0, start);
  if (start === 0 || end === -1 || output.toString('utf8', start, end) !== path) return undefined;
  return output.toString('utf8', end + 1).replaceAll('\0', '');
}
