import { Argument, type Command, InvalidArgumentError } from 'commander';
import type { Environment } from '../environment.ts';

const ABOUT_PASSWORDS = `
The password is asked for on a terminal, or comes with --password-stdin; it is never an argument, which others could
see in the list of processes. Elsewhere, and with --generate-password, one is made and printed.`;

const ABOUT_ADMIN = `
Works beside a running Croft, on the database that its settings name; without one it starts the database for itself.

Examples:
  croft auth admin create-user ada@example.com                    an administrator
  croft auth admin create-user bob@example.com --role authenticated
  croft auth admin list-users example.com --json
  croft auth admin generate-link recovery ada@example.com`;

const LINK_TYPES = ['signup', 'magiclink', 'recovery', 'invite', 'email_change_current', 'email_change_new'];

/** The users of auth on the command line. */
export function describeAdmin(
  auth: Command,
  environment: Environment,
  done: (exitCode: number) => void,
): void {
  const admin = auth.command('admin').description('the users of auth').addHelpText('after', ABOUT_ADMIN);
  withPassword(admin.command('create-user'))
    .description(
      'make a user whose address counts as confirmed; an administrator, unless --role says otherwise',
    )
    .argument('<email>')
    .option('--role <role>', 'role of the user, such as authenticated')
    .addHelpText('after', ABOUT_PASSWORDS)
    .action(async (email: string, options: CreateOptions) =>
      done(await (await tasks()).createUser(environment, { ...options, email })),
    );
  admin
    .command('delete-user')
    .description('delete a user for good, with sessions and codes')
    .argument('<email|id>')
    .action(async (who: string) => done(await (await tasks()).deleteUser(environment, who)));
  admin
    .command('list-users')
    .description('list users, newest first')
    .argument('[fragment]', 'part of an address')
    .option('--page <number>', 'page, from 1', positive(1_000_000), 1)
    .option('--per-page <number>', 'users on a page, at most 1000', positive(1000), 50)
    .option('--json', 'as JSON')
    .action(async (fragment: string | undefined, options: ListOptions) =>
      done(await (await tasks()).listUsers(environment, { ...options, fragment: fragment ?? '' })),
    );
  withPassword(admin.command('generate-link'))
    .description('make the link of a mail and send nothing; whoever opens it is signed in')
    .addArgument(new Argument('<type>', 'what the mail would be for').choices(LINK_TYPES))
    .argument('<email>')
    .option('--new-email <address>', 'the wanted address, for a change')
    .option('--redirect-to <address>', 'where the link leads to; on the site or in AUTHSVC_URI_ALLOW_LIST')
    .option('--json', 'as JSON, with the code and the user')
    .addHelpText('after', `\nOnly signup takes a password.${ABOUT_PASSWORDS}`)
    .action(async (type: string, email: string, options: LinkOptions) =>
      done(await (await tasks()).generateLink(environment, { ...options, type, email })),
    );
}

/** How a password comes. */
export interface PasswordOptions {
  passwordStdin?: true;
  generatePassword?: true;
}
interface CreateOptions extends PasswordOptions {
  role?: string;
}
interface ListOptions {
  page: number;
  perPage: number;
  json?: true;
}
interface LinkOptions extends PasswordOptions {
  newEmail?: string;
  redirectTo?: string;
  json?: true;
}

function withPassword(command: Command): Command {
  return command
    .option('--password-stdin', 'read the password from standard input, to the first line end')
    .option('--generate-password', 'make a password and print it');
}

function positive(most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= 1 && number <= most) return number;
    throw new InvalidArgumentError(`It must be a number from 1 to ${most}.`);
  };
}

/** Loaded when needed, like everything a command works with. */
function tasks() {
  return import('./tasks.ts');
}
