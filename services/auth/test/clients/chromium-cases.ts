import { tested } from './cases.ts';
import { type Circumstances, makeHere } from './here.ts';
import type { Outside } from './outside.ts';
import { surfaces } from './surface.ts';

// What runs in the browser: the tests of `cases.ts` with the library they test and what they say by `expect`.

/** How a test went. */
export interface Outcome {
  /** The methods it called. */
  called: string[];
  failure?: { message: string; stack: string; actual: string; expected: string };
}

/** Names the test calls from outside. */
interface CasesPage {
  surfaces(this: void, hidden: readonly string[]): ReturnType<typeof surfaces>;
  /** Runs the test at that place in `tested`. */
  run(this: void, index: number, circumstances: Circumstances): Promise<Outcome>;
}

declare global {
  // oxlint-disable-next-line no-var -- what a script puts on the page
  var cases: CasesPage;
  /** Asks the process that started the browser. */
  // oxlint-disable-next-line no-var -- as above
  var askOutside: (what: string, ...all: unknown[]) => Promise<unknown>;
}

const outside = new Proxy({} as Outside, {
  get:
    (_, what) =>
    (...all: unknown[]) =>
      globalThis.askOutside(String(what), ...all),
});

globalThis.cases = {
  surfaces,
  async run(index, circumstances) {
    localStorage.clear();
    const called = new Set<string>();
    try {
      await tested[index]?.[1](makeHere(circumstances, outside, called));
      return { called: [...called] };
    } catch (thrown) {
      const { message, stack = '' } = thrown instanceof Error ? thrown : new Error(String(thrown));
      const { actual, expected } = thrown as { actual?: unknown; expected?: unknown };
      const [is, should] = [actual, expected].map((one) => JSON.stringify(one, null, 2) ?? String(one));
      const failure = { message, stack, actual: is ?? '', expected: should ?? '' };
      return { called: [...called], failure };
    }
  },
};
