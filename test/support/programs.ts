import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { gitEnvironment } from '@croft/testing';
import { root } from './croft.ts';

// oxlint-disable-next-line node/no-process-env -- what the machine has and what CI promises
const { HOME = '', PATH = '' } = process.env;

/** Where .ci/run puts the clients that are no packages of ours. */
const cache = join(root, 'node_modules/.cache');

/** Go, as .ci/run chose it, of the PATH or where it is unpacked; one that can build the module in the folder. */
export function findGo(module: string): string | undefined {
  const folders = [...PATH.split(delimiter), '/usr/local/go/bin', join(cache, 'go/go/bin')];
  return folders.map((folder) => join(folder, 'go')).find((go) => existsSync(go) && canBuild(go, module));
}

function canBuild(go: string, module: string): boolean {
  try {
    // Refuses a module that asks for a later Go.
    execFileSync(go, ['list', '-m'], {
      cwd: module,
      env: { HOME, PATH, GOTOOLCHAIN: 'local' },
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

/** Renovate's program. */
export function findRenovate(): string | undefined {
  const program = join(cache, 'renovate/node_modules/renovate/dist/renovate.js');
  return existsSync(program) ? program : undefined;
}

/** Runs a client with nothing of the developer's git configuration; rejects with all it printed. */
export async function runClient(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const env = { ...gitEnvironment, HOME, ...options.env };
  try {
    return (await promisify(execFile)(program, args, { ...options, env, maxBuffer: 2 ** 26 })).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout?: string };
    throw new Error(`${message}\n${stdout ?? ''}`);
  }
}
