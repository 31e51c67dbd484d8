import type { Git } from '../git.ts';

/** Programs for short questions that run at once; clients of clones and downloads have slots of their own. */
const AT_ONCE = 16;
/** Whoever asked has an answer by then, that it took too long. */
const PATIENCE_MS = 12_000;

interface Turns {
  running: number;
  waiting: Set<() => void>;
}

const turns = new WeakMap<Git, Turns>();

/** Runs something that starts a program when it is its turn, so that no crowd of requests becomes one of programs. */
export async function inTurn<T>(git: Git, work: () => Promise<T>): Promise<T> {
  const mine = turns.get(git) ?? { running: 0, waiting: new Set() };
  turns.set(git, mine);
  if (mine.running >= AT_ONCE) await untilNext(mine);
  else mine.running++;
  try {
    return await work();
  } finally {
    const next = mine.waiting.values().next().value;
    // The turn goes from hand to hand; nobody can slip in between.
    if (next === undefined) mine.running--;
    else next();
  }
}

function untilNext({ waiting }: Turns): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      waiting.delete(begin);
      reject(new Error('waited too long for a turn to ask git'));
    }, PATIENCE_MS);
    function begin(): void {
      clearTimeout(timer);
      waiting.delete(begin);
      resolve();
    }
    waiting.add(begin);
  });
}
