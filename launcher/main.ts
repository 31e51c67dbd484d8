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
    process.stderr.write(`${known ? error.message : errorText(error)}\n`);
    return 1;
  }
}

function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
