import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '@croft/runtime';
import type { Context } from '../context.ts';
import { removeLeftovers } from '../outside/git/leftovers.ts';

/** A git that outlived the process it belonged to has come to its end by then. */
const OUTLIVED_MS = 10_000;
/** File systems round times. */
const COARSE_MS = 2_000;

/**
 * Once after the start, when nothing of the process before goes on any more: removes what a crash or a power cut left in the
 * repositories, one after the other.
 */
export async function sweepAfterStart(
  { git, log }: Pick<Context, 'git' | 'log'>,
  closing: AbortSignal,
): Promise<void> {
  const [startedAt, started] = [Date.now(), performance.now()];
  await sleep(OUTLIVED_MS, undefined, { signal: closing, ref: false }).catch(() => {});
  if (closing.aborted) return;
  // Should the clock have been set back since, what is made now is not older than the start.
  const madeBefore = Math.min(startedAt, Date.now() - (performance.now() - started)) - COARSE_MS;
  const names = await readdir(git.folder).catch((error: Error) => {
    log.warn({ reason: error.message }, 'what a crash left was not looked for');
    return [];
  });
  for (const name of names) {
    const repository = Number(/^(\d+)\.git$/.exec(name)?.[1]);
    if (closing.aborted) return;
    if (Number.isNaN(repository)) continue;
    try {
      const removed = await removeLeftovers(git, repository, { madeBefore });
      if (removed > 0) log.warn({ repository, removed }, 'removed what a crash left');
    } catch (error) {
      const reason = reasonOf(error);
      log.warn({ repository, reason }, 'what a crash left was not looked for');
    }
  }
}
