import { setTimeout as sleep } from 'node:timers/promises';
import { withShare } from '@croft/runtime';
import type { Context } from '../context.ts';
import * as mergeQueue from '../store/pulls/merge-queue.ts';
import { advanceQueue } from './advance-queue.ts';
import { Attempts } from './attempts.ts';

/** How often queues are looked at that nobody rang for: checks run out of time, and a step may have failed. */
const ROUND_MS = 10_000;

/**
 * Starts the worker of the merge queues, which goes on where a crash left off: all it knows is in tables. One of its
 * steps per repository is under way at a time.
 */
export function startMergeQueues(context: Context): { close(): Promise<void> } {
  const stop = new AbortController();
  const attempts = new Attempts();
  /** What is under way; true when it is to be done once more. */
  const running = new Map<number, { again: boolean; done: Promise<void> }>();

  function wake(repositoryId: number): void {
    if (stop.signal.aborted) return;
    const one = running.get(repositoryId);
    if (one !== undefined) one.again = true;
    else {
      const started = { again: false, done: Promise.resolve() };
      running.set(repositoryId, started);
      // Not from the share of whoever rang.
      started.done = withShare('merge queues', () => work(repositoryId, started));
    }
  }

  async function work(repositoryId: number, state: { again: boolean }): Promise<void> {
    do {
      state.again = false;
      await advanceAll(context, repositoryId, attempts, stop.signal);
    } while (state.again && !stop.signal.aborted);
    running.delete(repositoryId);
  }

  context.queues.bell.listen(wake);
  const rounds = goRound(context, stop.signal, wake);
  return {
    async close() {
      stop.abort();
      await Promise.all([rounds, ...[...running.values()].map(({ done }) => done)]);
    },
  };
}

async function goRound(
  context: Context,
  stop: AbortSignal,
  wake: (repositoryId: number) => void,
): Promise<void> {
  while (!stop.aborted) {
    try {
      const queues = await mergeQueue.listBranches(context.database.autocommit());
      for (const { repository_id: id } of queues) wake(id);
    } catch (error) {
      report(context, error);
    }
    await sleep(ROUND_MS, undefined, { signal: stop, ref: false }).catch(() => {});
  }
}

async function advanceAll(
  context: Context,
  repositoryId: number,
  attempts: Attempts,
  stop: AbortSignal,
): Promise<void> {
  try {
    const branches = await mergeQueue.listBranches(context.database.autocommit(), repositoryId);
    // What is wrong with one of them is no reason for the others to wait.
    for (const { base_branch: branch } of branches)
      await advanceQueue(context, { repositoryId, branch }, attempts, stop).catch((error: unknown) =>
        report(context, error, repositoryId),
      );
  } catch (error) {
    report(context, error, repositoryId);
  }
}

function report({ log }: Context, error: unknown, repository?: number): void {
  const reason = error instanceof Error ? error.stack : String(error);
  log.error({ repository, reason }, 'a merge queue did not get on; it is tried again');
}
