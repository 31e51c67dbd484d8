import { SourceMap, type SourceMapPayload } from 'node:module';
import { resolve } from 'node:path';
import type { Page } from 'playwright-core';
import type { Browsing } from './browsing.ts';
import type { Application } from './chromium.ts';
import type { Outcome } from './chromium-cases.ts';
import type { Circumstances } from './here.ts';
import type { Outside } from './outside.ts';
import type { surfaces } from './surface.ts';

/** A tab in which tests of `cases.ts` run, and another one in which they open addresses. */
export interface Runner extends AsyncDisposable {
  /** What `surfaces` finds in the browser's builds of the libraries. */
  surfaces(hidden: readonly string[]): Promise<ReturnType<typeof surfaces>>;
  /** What opens addresses for `outside`. */
  browsing: Browsing;
  /** Runs the test at that place in `tested` and returns which methods it called. */
  run(index: number, circumstances: Circumstances, outside: Outside): Promise<string[]>;
}

/** Opens both in the browser of one person; no test finds cookies or a storage of the one before. */
export async function openRunner(app: Application): Promise<Runner> {
  const context = await app.person();
  let current: Outside | undefined;
  await context.exposeFunction('askOutside', async (what: keyof Outside, ...all: never[]) => {
    const answer = current?.[what] as ((...all: never[]) => Promise<unknown>) | undefined;
    return await answer?.(...all);
  });
  const page = await context.newPage();
  await page.goto(`${app.origin}/cases`);
  return {
    surfaces: (hidden) => page.evaluate((names) => globalThis.cases.surfaces(names), hidden),
    browsing: browseIn(await context.newPage()),
    async run(index, circumstances, outside) {
      current = outside;
      await context.clearCookies();
      const { called, failure } = await page.evaluate(([at, all]) => globalThis.cases.run(at, all), [
        index,
        circumstances,
      ] as const);
      if (failure !== undefined) throw failed(failure, app.casesMap);
      return called;
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

function browseIn(page: Page): Browsing {
  return {
    async visit(url) {
      const answer = await page.goto(url, { waitUntil: 'commit' });
      const target = new URL(page.url());
      if (target.origin !== new URL(url).origin) return target;
      throw new Error(`${answer?.status()} ${await answer?.text()}`);
    },
    async consent(url) {
      const { origin } = new URL(url);
      await page.goto(url);
      await page.getByRole('button').click();
      await page.waitForURL((now) => now.origin !== origin, { waitUntil: 'commit' });
      return new URL(page.url());
    },
  };
}

/** The failure as if it had happened here, at the line that was written and not at that of the bundle. */
function failed(failure: NonNullable<Outcome['failure']>, map: SourceMapPayload): Error {
  const sources = new SourceMap(map);
  const place = /http:\S+chromium-cases\.js:(\d+):(\d+)/g;
  const stack = failure.stack.replaceAll(place, (bundled, line: string, column: string) => {
    const origin = sources.findOrigin(Number(line), Number(column));
    if (!('fileName' in origin)) return bundled;
    return `${resolve('/', origin.fileName)}:${origin.lineNumber}:${origin.columnNumber}`;
  });
  return Object.assign(new Error(failure.message), failure, { stack });
}
