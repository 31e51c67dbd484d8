import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '@croft/runtime';
import type { Context } from '../context.ts';
import { takeUpPushes } from '../git-http/record-push.ts';
import { noteContents } from '../languages/note-contents.ts';
import type { RunningProgram } from '../outside/git/broker.ts';
import { removeLeftovers } from '../outside/git/leftovers.ts';
import { measureStorage, type Storage, startUpkeep } from '../outside/git/upkeep.ts';
import * as issueLists from '../store/issues/issue-lists.ts';
import * as baseMoves from '../store/pulls/base-moves.ts';
import * as idempotencyKeys from '../store/upkeep/idempotency-keys.ts';
import * as maintenance from '../store/upkeep/maintenance.ts';
import { sweepAfterStart } from './sweep-after-start.ts';

/** Whoever pushed last in this time may be about to push again. */
const QUIET_MS = 30_000;
/** One repository is looked after at most this often. */
const WAIT_SECONDS = 600;
/** Fewer pieces than this cost nobody anything. */
const LOOSE_OBJECTS = 200;
const PACKS = 8;
const TOO_LONG_MS = 60 * 60_000;
/** Nobody holds a lock or writes a pack for as long. */
const LEFT_MS = 24 * 60 * 60_000;

/** Words of deleted texts that are looked through at once, and how often before others have their turn. */
const WORDS = 5000;
const SWEEPS = 10;

/** What tidies up in the background. */
export interface Maintenance {
  close(): Promise<void>;
}

/** Looks after repositories that were pushed to, one at a time, until it is closed; at first after what a crash left. */
export function startMaintenance(context: Context): Maintenance {
  const closing = new AbortController();
  const running = Promise.all([keepGoing(context, closing.signal), sweepAfterStart(context, closing.signal)]);
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

async function keepGoing(context: Context, closing: AbortSignal): Promise<void> {
  const pause = context.settings.GIT_MAINTENANCE_INTERVAL;
  const attempt = async (failed: string, work: () => Promise<unknown>): Promise<void> => {
    await work().catch((error: unknown) => {
      const reason = reasonOf(error);
      context.log.warn({ reason }, `${failed}; it is tried again`);
    });
  };
  let words = 0;
  let sweptAt = Number.NEGATIVE_INFINITY;
  while (!closing.aborted) {
    let hadWork = false;
    await attempt('looking for repositories to tidy up failed', async () => {
      hadWork = await maintainNext(context, closing);
    });
    // Also where there is always a repository that waits.
    if (hadWork && performance.now() - sweptAt < pause) continue;
    sweptAt = performance.now();
    await attempt('words of deleted texts were not removed', async () => {
      words = await sweepWords(context, words, closing);
    });
    await attempt('pushes that were left over were not looked for', () => takeUpPushes(context, closing));
    const tx = context.database.autocommit();
    await attempt('old idempotency keys were not removed', () => idempotencyKeys.sweep(tx));
    await attempt('old moves of branches were not removed', () => baseMoves.sweep(tx));
    if (!hadWork) await sleep(pause, undefined, { signal: closing, ref: false }).catch(() => {});
  }
}

/**
 * Removes words of deleted texts from what issues are found by, in a part of it.
 * @param after where the part before ended; 0 for the first one
 * @returns where the next one begins; 0 at the end of all
 */
export async function sweepWords(
  { database }: Pick<Context, 'database'>,
  after: number,
  closing: AbortSignal,
): Promise<number> {
  let place = after;
  for (let sweep = 0; sweep < SWEEPS && !closing.aborted; sweep++) {
    const next = await issueLists.sweepWords(database.autocommit(), place, WORDS);
    if (next === 0 || next === place) return next;
    place = next;
  }
  return place;
}

/**
 * Looks after the repository whose turn it is: measures it, notes what lists show of its contents, and tidies up when it
 * lies in many pieces.
 * @returns false when there was none
 */
export async function maintainNext(
  context: Pick<Context, 'database' | 'git' | 'clock' | 'log'>,
  closing: AbortSignal,
): Promise<boolean> {
  const { database, git, clock, log } = context;
  const quietSince = new Date(clock.now().getTime() - QUIET_MS);
  const turn = await maintenance.takeTurn(database.autocommit(), quietSince, WAIT_SECONDS);
  if (turn === undefined) return false;
  const { id } = turn;
  try {
    await noteContents(context, id);
    await removeLeftovers(git, id, { madeBefore: Date.now() - LEFT_MS });
    let storage = await measureStorage(git, id);
    if (turn.failures > 0 || storage.looseObjects > LOOSE_OBJECTS || storage.packs > PACKS) {
      await tidyUp(context, id, storage, closing);
      storage = await measureStorage(git, id);
    }
    await maintenance.endTurn(database.autocommit(), id, { failed: false, bytes: storage.bytes });
  } catch (error) {
    // Cut off by ourselves: its next turn is as good.
    await maintenance.endTurn(database.autocommit(), id, { failed: !closing.aborted, bytes: null });
    const reason = reasonOf(error);
    if (!closing.aborted) log.warn({ repository: id, reason }, 'git maintenance failed; it is tried again');
  }
  return true;
}

async function tidyUp(
  { git, log }: Pick<Context, 'git' | 'log'>,
  id: number,
  storage: Storage,
  closing: AbortSignal,
): Promise<void> {
  const program: RunningProgram = await startUpkeep(git, id, storage);
  const stop = () => program.kill();
  closing.addEventListener('abort', stop, { once: true });
  if (closing.aborted) stop();
  const timer = setTimeout(stop, TOO_LONG_MS);
  const [, { code, stderr }] = await Promise.all([buffer(program.stdout), program.exited]);
  clearTimeout(timer);
  closing.removeEventListener('abort', stop);
  if (code !== 0) throw new Error(stderr.trim() || `git maintenance ended with ${code}`);
  log.info({ repository: id }, 'tidied up in a repository');
}
