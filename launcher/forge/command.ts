import type { Command } from 'commander';
import type { Environment } from '../environment.ts';

const ABOUT_BACKUP = `
Works beside a running Croft. The folder must be new or empty. It holds the forge's tables, repositories and attachments,
as of one moment; users of auth, the keys in <data>/secrets.json and <data>/signing-key are not in it, and belong into
a backup of their own: without the keys the secrets of webhooks cannot be read.`;

const ABOUT_RESTORE = `
Croft must not be running. The data folder and the database schema must hold nothing of a forge; when the restore
fails, they hold nothing again.`;

const ABOUT_DOCTOR = `
Works beside a running Croft and changes nothing. Ends with exit code 1 when there is something to tell.`;

/** The forge's data on the command line. */
export function describeForgeTasks(
  forge: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  forge
    .command('doctor')
    .description('hold the database against the repositories, and let git check those')
    .option('--quick', 'only follow what refs reach, without reading every object')
    .addHelpText('after', ABOUT_DOCTOR)
    .action(async (options: { quick?: true }) => done(await (await tasks()).runDoctor(environment, options)));
  forge
    .command('backup')
    .description('copy database, repositories and attachments into a new folder, as one set')
    .argument('<folder>')
    .addHelpText('after', ABOUT_BACKUP)
    .action(async (folder: string) => done(await (await tasks()).runBackup(environment, folder)));
  forge
    .command('restore')
    .description('bring a backup back, where nothing is')
    .argument('<folder>')
    .addHelpText('after', ABOUT_RESTORE)
    .action(async (folder: string) => done(await (await tasks()).runRestore(environment, folder)));
}

/** Loaded when needed, like everything a command works with. */
function tasks() {
  return import('./tasks.ts');
}
