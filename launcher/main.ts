import { FolderInUse, StartError } from '@croft/runtime';
import { SettingsError } from '@croft/settings';
import { runCommand } from './command.ts';
import { readEnvironment } from './environment.ts';

/**
 * Runs the command line of this process. What a person can mend is told in a sentence; anything else is a bug of ours
 * and shows where it happened.
 * @returns the exit code
 */
export async function main(): Promise<number> {
  try {
    return await runCommand(process.argv.slice(2), readEnvironment());
  } catch (error) {
    const known =
      error instanceof StartError || error instanceof SettingsError || error instanceof FolderInUse;
    process.stderr.write(`${known ? error.message : (refusedFile(error) ?? errorText(error))}\n`);
    return 1;
  }
}

/** Something in the data folder belongs to another user, as after one start with sudo; any service may find it. */
function refusedFile(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path, syscall = '', message }: NodeJS.ErrnoException = error;
  const isRefused = (code === 'EACCES' || code === 'EPERM') && path !== undefined;
  if (!isRefused || syscall.startsWith('spawn')) return undefined;
  return `${message}. Give it to the user that runs Croft.`;
}

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
