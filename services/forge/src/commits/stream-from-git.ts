import { Readable } from 'node:stream';
import { Failure } from '@croft/failure';
import { type Caller, shareOf } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import { outputOf, runForClient } from '../git-http/run-for-client.ts';
import type { RunningProgram } from '../outside/git/broker.ts';

/** What a program writes, of which the beginning is there already. */
export interface GitStream {
  start: Buffer;
  /** Everything, the beginning included. */
  body: Readable;
}

/**
 * Starts a git program for a client and waits for its first bytes, nothing of which is kept. What fails later breaks
 * off the answer, so that nobody takes a part for the whole.
 * @param timeoutMs after which it is ended, whether anything moves or not
 * @throws 422 when it fails before it has written anything, as over a damaged object; 503 when too many run, or it takes too long
 */
export async function streamFromGit(
  context: Context,
  viewer: Caller | undefined,
  start: () => Promise<RunningProgram>,
  timeoutMs = context.settings.GIT_DOWNLOAD_TIMEOUT,
): Promise<GitStream> {
  const program = await runForClient(context, shareOf(viewer), start);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    program.kill();
  }, timeoutMs);
  void program.exited.then(() => clearTimeout(timer));
  const output = outputOf(program);
  const first = await output.next();
  if (first.done)
    await checkEnd(() => (isLate ? tooLong() : unacceptable('what is asked for cannot be read')));
  const beginning = first.done ? Buffer.alloc(0) : first.value;
  const body = Readable.from(all(), { objectMode: false });
  // Ends the program where the reader left before it did, or was gone before anything was read.
  body.once('close', () => void output.return());
  return { start: beginning, body };

  async function* all() {
    if (beginning.length > 0) yield beginning;
    yield* output;
    await checkEnd(() => new Error('git failed in the middle of an answer'));
  }

  async function checkEnd(failure: () => Error): Promise<void> {
    const { code, stderr } = await program.exited;
    if (code === 0) return;
    context.log.warn({ code, stderr, isLate }, 'git could not read what a client asked for');
    throw failure();
  }
}

const tooLong = () =>
  new Failure('unavailable', 'reading_too_long', 'it took too long to read what is asked for');
