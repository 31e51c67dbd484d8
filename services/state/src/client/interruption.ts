import { once } from 'node:events';
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Within this time it is the same one: what a terminal sends to a command, npm hands on to it once more. */
const SAME_MS = 1000;

/** Somebody ended the command before it was done; the message says what there is now. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** As the shell has it. */
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals, whatNow: string) {
    super(`interrupted: ${whatNow}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Does something that must not be left in the middle. Whoever ends the command once more does not wait for what is taken back.
 * @param work is told by the signal when to end, and takes back what it has done
 * @param whatNow says then what there is
 * @throws Interrupted
 */
export async function interruptible<T>(
  work: (signal: AbortSignal) => Promise<T>,
  whatNow: () => string,
): Promise<T> {
  const controller = new AbortController();
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  const forget = () => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    first ??= { signal, at: performance.now() };
    controller.abort();
    if (performance.now() - first.at < SAME_MS) return;
    forget();
    process.kill(process.pid, signal); // nobody listens to it any more
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    return await work(controller.signal);
  } catch (error) {
    throw first === undefined ? error : new Interrupted(first.signal, whatNow());
  } finally {
    forget();
  }
}

/** What is done elsewhere, as by the daemon, is not waited for any longer. @throws Interrupted */
export async function untilInterrupted<T>(work: () => Promise<T>, whatNow: string): Promise<T> {
  return await interruptible(
    (signal) => orAborted(signal, work),
    () => whatNow,
  );
}

/** What comes of some work, which is not begun when there is no time for it; or the signal's reason when that comes first. */
export async function orAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const aborted = once(signal, 'abort').then(() => signal.throwIfAborted());
  return (await Promise.race([work(), aborted])) as T;
}
