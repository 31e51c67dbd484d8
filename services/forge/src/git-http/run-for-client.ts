import type { Context } from '../context.ts';
import type { RunningProgram } from '../outside/git/broker.ts';

/** How often it is looked at whether anything moved, within one idle time. */
const LOOKS = 4;

/**
 * Starts a git program for a client, in one of the slots, which it holds until it has ended. When no byte moves for
 * the idle time it is ended.
 * @param share whose share of the slots it takes from
 * @param held gives back a slot that the client has already
 * @throws 503 when too many clients wait for a slot, or it did for too long
 */
export async function runForClient<Output extends { readonly bytesRead: number }>(
  { queues, settings, log }: Context,
  share: string,
  start: () => Promise<RunningProgram<Output>>,
  held?: () => void,
): Promise<RunningProgram<Output>> {
  const giveBack = held ?? (await queues.clients.take(share));
  try {
    const program = await start();
    const moved = () => program.stdout.bytesRead + (program.stdin?.bytesWritten ?? 0);
    let before = -1;
    let still = 0;
    const watch = setInterval(() => {
      still = moved() === before ? still + 1 : 0;
      before = moved();
      if (still < LOOKS) return;
      log.warn({ bytes: before }, 'ended a git program in which nothing moved');
      program.kill();
    }, settings.GIT_IDLE_TIMEOUT / LOOKS);
    void program.exited.then(() => {
      clearInterval(watch);
      giveBack();
    });
    return program;
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** What a program writes; leaving early, because the reader is gone, ends the program. */
export async function* outputOf(program: RunningProgram): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of program.stdout) yield chunk as Buffer;
  } finally {
    program.kill();
    program.stdin?.destroy();
    program.stdout.destroy();
  }
}
