import type { AdminTasks, UserPage } from '@croft/auth';
import { StartError } from '@croft/runtime';
import type { Environment } from '../environment.ts';
import { type OpenBeside, openBeside } from '../house/open-beside.ts';
import type { PasswordOptions } from './command.ts';
import { choosePassword } from './password.ts';

/** Makes a user. Without a role it is an administrator, and whoever has the address becomes one. */
export async function createUser(
  environment: Environment,
  wanted: PasswordOptions & { email: string; role?: string },
): Promise<number> {
  const { email, role } = wanted;
  const { password, made } = await choosePassword(wanted);
  await beside(environment, true, async ({ service, house }) => {
    if (role === undefined) await service.createAdministrator?.(house, email, password);
    else await withTasks({ service, house }, (tasks) => tasks.createUser({ email, password, role }));
  });
  process.stdout.write(`name      ${email}\n${made ? `password  ${password}\n` : ''}`);
  return 0;
}

/** Deletes a user by address or id. */
export async function deleteUser(environment: Environment, who: string): Promise<number> {
  const gone = await beside(environment, false, (opened) =>
    withTasks(opened, (tasks) => tasks.deleteUser(who)),
  );
  process.stdout.write(`deleted ${gone.id} ${printable(gone.email)}\n`);
  return 0;
}

/** Lists users, for people or as JSON. */
export async function listUsers(
  environment: Environment,
  wanted: { fragment: string; page: number; perPage: number; json?: true },
): Promise<number> {
  const { json, ...search } = wanted;
  const page = await beside(environment, false, (opened) =>
    withTasks(opened, (tasks) => tasks.listUsers(search)),
  );
  process.stdout.write(json === true ? `${JSON.stringify(page, undefined, 2)}\n` : table(page));
  return 0;
}

/** Makes a link. */
export async function generateLink(
  environment: Environment,
  wanted: PasswordOptions & {
    type: string;
    email: string;
    newEmail?: string;
    redirectTo?: string;
    json?: true;
  },
): Promise<number> {
  const { type, email, newEmail = '', redirectTo = '' } = wanted;
  const chosen = type === 'signup' ? await choosePassword(wanted) : undefined;
  const link = await beside(environment, false, async (opened) => {
    if (!opened.knowsKey) {
      throw new StartError(
        'A link holds only with the key of the Croft that shall accept it: set CROFT_AT_REST_KEY, or CROFT_DATA to its data folder.',
      );
    }
    const order = { type, email, newEmail, redirectTo, password: chosen?.password ?? '' };
    return await withTasks(opened, (tasks) => tasks.generateLink(order));
  });
  if (wanted.json === true) {
    const password = chosen?.made === true ? { password: chosen.password } : {};
    process.stdout.write(`${JSON.stringify({ ...link, ...password }, undefined, 2)}\n`);
  } else {
    process.stdout.write(`link      ${link.action_link}\ncode      ${link.email_otp}\n`);
    if (chosen?.made === true) process.stdout.write(`password  ${chosen.password}\n`);
  }
  return 0;
}

/** What a person can mend is told as a sentence. */
async function beside<T>(
  environment: Environment,
  makes: boolean,
  work: (opened: OpenBeside) => Promise<T>,
): Promise<T> {
  await using open = new AsyncDisposableStack();
  const opened = await openBeside(environment, 'auth', makes, open);
  try {
    return await work(opened);
  } catch (error) {
    if (error instanceof Error && 'kind' in error) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

async function withTasks<T>(
  { service, house }: Pick<OpenBeside, 'service' | 'house'>,
  work: (tasks: AdminTasks) => Promise<T>,
): Promise<T> {
  const tasks = await service.adminTasks?.(house);
  if (tasks === undefined) throw new Error('auth has no tasks');
  try {
    return await work(tasks);
  } finally {
    await tasks.close();
  }
}

function table(found: UserPage): string {
  const { users, total, page, per_page: perPage } = found;
  const rows = users.map((user) => [
    user.id,
    user.email || user.phone || '-',
    user.role,
    user.created_at.slice(0, 16).replace('T', ' '),
    user.banned_until === undefined ? (user.confirmed_at === undefined ? 'unconfirmed' : '') : 'banned',
  ]);
  const all = [['ID', 'NAME', 'ROLE', 'CREATED (UTC)', ''], ...rows].map((row) => row.map(printable));
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const pages = Math.max(1, Math.ceil(total / perPage));
  const about = found.total_is_exact ? '' : 'about ';
  return `${lines.join('\n')}\n\n${about}${total} ${total === 1 ? 'user' : 'users'}, page ${page} of ${pages}\n`;
}

/** What is in a table may not move the cursor of a terminal. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, '?');
}
