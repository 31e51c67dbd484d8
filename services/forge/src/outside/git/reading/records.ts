import { assertOutsideTransaction } from '@croft/runtime';
import { gitOptions } from '../environment.ts';
import type { Git } from '../git.ts';
import { GitFailed } from '../git-failed.ts';
import { inTurn } from './turns.ts';

/** What a command that reads may cost. */
export interface ReadingLimits {
  /** Milliseconds after which it is ended. */
  timeoutMs?: number;
  input?: string;
  /** Lets it read what is not in the repository. */
  environment?: Readonly<Record<string, string>>;
  /** Whether what came before git failed would be taken for all there is: then it throws, unless it was for damage. */
  isAnswer?: boolean;
}

/** A record longer than this is not a path, and not ours to keep. */
const MAX_RECORD_BYTES = 1024 * 1024;
const TIMEOUT_MS = 9_000;

/**
 * Runs a command whose output is records that end with NUL and hands over one after the other, so that nothing is kept
 * of a long output. Returning `false` ends it early. Paths given to it are taken literally.
 * @returns `failed` when git refused or was ended for taking too long
 */
export async function readRecords(
  git: Git,
  repositoryId: number,
  args: readonly string[],
  take: (record: Buffer) => unknown,
  limits: ReadingLimits = {},
): Promise<'done' | 'failed'> {
  assertOutsideTransaction(`git ${args[0]}`);
  return await inTurn(git, () => read(git, repositoryId, args, take, limits));
}

async function read(
  git: Git,
  repositoryId: number,
  args: readonly string[],
  take: (record: Buffer) => unknown,
  { timeoutMs = TIMEOUT_MS, input, environment, isAnswer = false }: ReadingLimits,
): Promise<'done' | 'failed'> {
  const options = gitOptions(git.folderOf(repositoryId));
  const program = await git.start([...options, ...args], input !== undefined, {
    ...environment,
    GIT_LITERAL_PATHSPECS: '1',
  });
  const timer = setTimeout(() => program.kill(), timeoutMs);
  if (input !== undefined) program.stdin?.end(input);
  try {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of program.stdout as AsyncIterable<Buffer>) {
      const received = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = received.indexOf(0); end !== -1; end = received.indexOf(0, start)) {
        if (take(received.subarray(start, end)) === false) {
          program.kill();
          return 'done';
        }
        start = end + 1;
      }
      rest = received.subarray(start);
      if (rest.length > MAX_RECORD_BYTES) {
        program.kill();
        return 'failed';
      }
    }
    const exit = await program.exited;
    if (exit.code === 0) return 'done';
    const failure = new GitFailed(repositoryId, args, exit);
    if (isAnswer && !failure.isForDamage) throw failure;
    return 'failed';
  } finally {
    clearTimeout(timer);
  }
}
