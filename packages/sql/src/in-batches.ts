import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Makes one call of many: those that come in one turn of the event loop, within `gatherMs`, or while one is under way,
 * go together as the next. A batch that fails is done again one by one, so that what cannot be done hurts
 * nobody else; whatever `work` does must therefore be all or nothing.
 * @param most how many go together
 * @param gatherMs how long the first waits for others
 * @param work answers each of its inputs, in their order
 */
export function inBatches<Input, Output>(
  { most, gatherMs = 0 }: { most: number; gatherMs?: number },
  work: (inputs: readonly Input[]) => Promise<readonly Output[]>,
): (input: Input) => Promise<Output> {
  interface Call {
    input: Input;
    answer: PromiseWithResolvers<Output>;
  }
  const waiting: Call[] = [];
  let isBusy = false;

  async function answer(calls: readonly Call[]): Promise<void> {
    try {
      const outputs = await work(calls.map(({ input }) => input));
      for (const [index, call] of calls.entries()) call.answer.resolve(outputs[index] as Output);
    } catch (error) {
      if (calls.length === 1) calls[0]?.answer.reject(error);
      else await Promise.all(calls.map((call) => answer([call])));
    }
  }
  async function workOff(): Promise<void> {
    while (waiting.length > 0) {
      await answer(waiting.splice(0, most));
      if (gatherMs > 0 && waiting.length < most) await sleep(gatherMs);
    }
    isBusy = false;
  }
  return (input) => {
    const call = { input, answer: Promise.withResolvers<Output>() };
    waiting.push(call);
    if (!isBusy) {
      isBusy = true;
      if (gatherMs === 0) setImmediate(() => void workOff());
      else setTimeout(() => void workOff(), gatherMs);
    }
    return call.answer.promise;
  };
}
