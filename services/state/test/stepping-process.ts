// Several daemons in one process, for tests that stop them at a step and kill the process.
import { flushCompileCache } from 'node:module';
import type { Log } from '@croft/runtime';
import { type Ending, interceptCalls, interceptSteps, unwatch, watch } from './steps.ts';

/** What the test asks the process to do. */
export type Order =
  | {
      readonly do: 'start';
      readonly name: string;
      readonly folder: string;
      readonly settings: Record<string, string>;
    }
  | { readonly do: 'stop'; readonly name: string }
  | {
      readonly do: 'watch';
      readonly name: string;
      readonly mode: Ending;
      readonly passing: readonly string[];
      /** A pattern of steps that are none here. */
      readonly beside: string | undefined;
    }
  | { readonly do: 'unwatch'; readonly name: string };

/** What it answers, and what it tells by itself. */
export type Report =
  | { readonly ready: true }
  | { readonly done: number; readonly address?: string; readonly error?: string }
  | { readonly ended: string; readonly before: string }
  | { readonly warned: string; readonly line: string };

const report = (one: Report) => process.send?.(one);
await interceptSteps((ended, before) => report({ ended, before }));
// Only now: what a module imports stays what it was when it was loaded.
const { silentLog } = await import('@croft/runtime');
const { readSettings } = await import('@croft/settings');
const { startState, stateSettings } = await import('../src/index.ts');
const { KernelCalls } = await import('../src/outside/storage/btrfs/kernel-calls.ts');
const failed = { ok: false, stderr: 'out of luck', why: 'out of luck' };
interceptCalls({ owner: KernelCalls.prototype, name: 'call', failed });

/** Tells the test what is worth a warning: why a start left something behind is said nowhere else. */
function warningsOf(name: string): Log {
  const tell = (fields: object, message: string) => {
    const { err } = fields as { err?: Error };
    report({ warned: name, line: [message, err?.stack].filter(Boolean).join(': ') });
  };
  return { ...silentLog, warn: tell, error: tell, child: () => warningsOf(name) };
}

const running = new Map<string, Awaited<ReturnType<typeof startState>>>();

/** Daemons that were watched before. */
const watched = new Set<string>();

async function obey(order: Order): Promise<string | undefined> {
  switch (order.do) {
    case 'start': {
      const settings = readSettings(stateSettings, order.settings);
      const service = await startState({
        settings,
        folder: order.folder,
        log: warningsOf(order.name),
        version: '0.0.0-test',
      });
      running.set(order.name, service);
      return service.address;
    }
    case 'stop':
      await running.get(order.name)?.close(1000);
      return undefined;
    case 'watch':
      // The next time it has done nearly all that it ever does, and none of that is compiled anew by those that come after it.
      if (watched.has(order.name)) flushCompileCache();
      watched.add(order.name);
      watch(
        order.name,
        order.mode,
        order.passing,
        order.beside === undefined ? undefined : new RegExp(order.beside),
      );
      return undefined;
    case 'unwatch':
      unwatch(order.name);
      return undefined;
  }
}

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  obey(order).then(
    (address) => report(address === undefined ? { done: id } : { done: id, address }),
    (error) => report({ done: id, error: (error as Error).stack ?? String(error) }),
  );
});
report({ ready: true });
