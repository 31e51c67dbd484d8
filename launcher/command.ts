import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readSettings } from '@croft/settings';
import { Command, CommanderError } from 'commander';
import { describeAdmin } from './admin/command.ts';
import type { Environment, Told } from './environment.ts';
import { describeForgeTasks } from './forge/command.ts';
import { describeImport } from './import/command.ts';
import { type ServiceName, serviceNames } from './registry/index.ts';
import { launcherSettings } from './settings.ts';
import { version } from './version.ts';

const MISUSE = 2;

const ABOUT_START = `
Starts auth, forge and state in one process, or only those named, with an embedded PostgreSQL unless DATABASE_URL
is set. Settings come from the environment and from .env in the working directory: docs/configuration.md.

The log is JSON on standard error, or in LOG_FILE. On a terminal, without LOG_LEVEL, it goes to <data>/croft.log.

Examples:
  npm start                        everything
  npm start -- forge state         two of the services
  npm start -- auth migrate        the same as: croft auth migrate`;

/**
 * Runs one command line.
 * @returns the exit code: 2 when the words make no sense
 */
export async function runCommand(words: readonly string[], told: Told): Promise<number> {
  const { environment } = told;
  const [first, ...rest] = unfold(words);
  // The client of the state service has a command line of its own.
  if (first === 'state') return runState(rest, told);
  let exitCode = 0;
  const program = describe(environment, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(first === undefined ? [] : [first, ...rest], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : MISUSE;
  }
}

/** `npm start -- auth migrate` arrives as `start auth migrate` and means `auth migrate`. */
function unfold(words: readonly string[]): readonly string[] {
  const [start, service, subcommand] = words;
  const isTask =
    start === 'start' &&
    isService(service) &&
    subcommand !== undefined &&
    !isService(subcommand) &&
    !subcommand.startsWith('-');
  return isTask ? words.slice(1) : words;
}

function isService(word: string | undefined): word is ServiceName {
  return (serviceNames as readonly (string | undefined)[]).includes(word);
}

function describe(environment: Environment, done: (exitCode: number) => void): Command {
  const program = new Command('croft')
    .description(
      "Ground of your own for a team's code: sign-in, issues and pull requests over git, system states.",
    )
    .version(version)
    .exitOverride()
    .showHelpAfterError('(--help shows what can be said)');
  program
    .command('start')
    .description('run everything, or only the services named')
    .argument('[services...]', `any of ${serviceNames.join(', ')}`)
    .addHelpText('after', ABOUT_START)
    .action(async (services: string[], _options: unknown, command: Command) => {
      const unknown = services.find((service) => !isService(service));
      if (unknown !== undefined) {
        command.error(`error: there is no service "${unknown}"; there are ${serviceNames.join(', ')}`);
      }
      const { startCroft } = await import('./start/start-croft.ts');
      done(await startCroft(environment, services as ServiceName[]));
    });

  const auth = program.command('auth').description('tasks of the auth service');
  const migrate = (name: ServiceName) => async () =>
    done(await (await tasks()).runMigrations(environment, name));
  auth.command('migrate').description('bring the tables of auth up to date').action(migrate('auth'));
  describeAdmin(auth, environment, done);
  describeImport(auth, environment, done);
  const forge = program.command('forge').description('tasks of the forge');
  forge.command('migrate').description('bring the tables of forge up to date').action(migrate('forge'));
  describeForgeTasks(forge, environment, done);
  program.command('state').description('talk to the state service: croft state --help');
  return program;
}

/** Loaded when needed: help and the client of the state service are quick because of it. */
function tasks() {
  return import('./tasks.ts');
}

async function runState(words: readonly string[], { environment, trusted, byOthers }: Told): Promise<number> {
  const { runStateCommand } = await import('@croft/state/client');
  const { CROFT_DATA } = readSettings(launcherSettings, { CROFT_DATA: environment['CROFT_DATA'] });
  const folder = resolve(CROFT_DATA, 'state');
  const configured = environment['STATESVC_SOCKET'] || installedSocket(environment, folder);
  let socket = configured ?? join(folder, 'statesvc.sock');
  if (Buffer.byteLength(socket) > ALWAYS_FITS) {
    // The daemon's code knows where such a socket goes; loading it doubles the time of a short command.
    const { socketPath } = await import('@croft/state');
    socket = socketPath({ SOCKET: configured }, folder);
  }
  const naming = ['STATESVC_SOCKET', 'CROFT_DATA'].find((name) => environment[name]);
  const isNamed = naming !== undefined && !byOthers.has(naming);
  return await runStateCommand([...words], {
    socket,
    // What is found by where somebody stands may have been put there for him.
    owners: isNamed ? undefined : trusted,
    stdout: process.stdout,
    stderr: process.stderr,
  });
}

/** Whoever names no data folder and stands in none means the daemon of this machine, if it has one. */
function installedSocket(environment: Environment, folder: string): string | undefined {
  const isElsewhere = environment['CROFT_DATA'] || existsSync(folder) || !existsSync(INSTALLED);
  return isElsewhere ? undefined : INSTALLED;
}

/** Where `services/state/packaging` has a daemon listen. */
const INSTALLED = '/run/croft/statesvc.sock';

/** Bytes of a socket's path that every system takes. */
const ALWAYS_FITS = 100;
