import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bundledProgram } from '@croft/testing';
import { onTestFinished } from 'vitest';

/** A daemon as a process of its own. */
export interface Process {
  readonly address: string;
  kill(): Promise<void>;
}

/** Starts one that is killed with the test at the latest. */
export async function startProcess(
  folder: string,
  tree: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Process> {
  const script = await bundledProgram(join(import.meta.dirname, 'daemon-process.ts'));
  const child: ChildProcess = spawn(process.execPath, [script, folder, tree, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const stdout = child.stdout as NonNullable<typeof child.stdout>;
  const started = await Promise.race([
    once(stdout, 'data').then(([data]) => String(data)),
    exited.then(() => ''),
  ]);
  if (started === '') throw new Error('the daemon did not start');
  return { address: started.trim(), kill };
}
