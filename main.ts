import { FolderInUse, StartError } from '@croft/runtime';
import { SettingsError } from '@croft/settings';
import { runCommand } from './launcher/command.ts';
import { readEnvironment } from './launcher/environment.ts';

process.exit(await run());

/** What a person can mend is told in a sentence; anything else is a bug of ours and shows where it happened. */
async function run(): Promise<number> {
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
