import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { environment, type Place, root } from './croft.ts';

/** How a command line is run. */
export interface Options {
  /** Words before the command. */
  through?: string[];
}

/** One command line of Croft in a folder without `.env`, on the Node of the tests. */
export function croft(place: Place, words: string[], { through = [] }: Options = {}): ChildProcess {
  const command = [
    ...through,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(root, 'main.ts'),
    ...words,
  ];
  return spawn(command[0] as string, command.slice(1), {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...environment(place), NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') },
  });
}

/** Runs `croft state …` to its end, started through the bootstrap as a person has it. */
export function croftState(place: Place, words: string[]) {
  const child = spawn(process.execPath, ['bootstrap.js', 'main.ts', 'state', ...words], {
    cwd: root,
    env: environment(place),
  });
  return finish(child);
}

/** What it printed and how it ended. */
export async function finish(child: ChildProcess) {
  const [out, errors, [code]] = await Promise.all([
    text(child.stdout as NonNullable<typeof child.stdout>),
    text(child.stderr as NonNullable<typeof child.stderr>),
    once(child, 'exit'),
  ]);
  return { code: code as number | null, out, errors };
}

/** Waits for the greeting; what comes after it is still to be read. */
export async function ready(child: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of (child.stdout as NonNullable<typeof child.stdout>).iterator({
    destroyOnReturn: false,
  })) {
    printed += String(chunk);
    if (printed.includes('What next')) return printed;
  }
  throw new Error(`Croft ended before it was ready: ${printed}`);
}

/** Process number of the embedded server's main process, while it runs. */
export function postmaster(place: Place): number | undefined {
  const file = join(place.data, 'postgres/cluster/postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
}

/** Waits for something that must come. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let waited = 0; waited < 1500; waited++) {
    if (condition()) return;
    await sleep(10);
  }
  throw new Error(`waited 15 s in vain until ${what}`);
}
