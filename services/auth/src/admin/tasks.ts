import { Failure } from '@croft/failure';
import { userJson } from '../account/user-json.ts';
import * as failures from '../failures.ts';
import { migrateTables } from '../migrate-tables.ts';
import { type AuthOptions, openContext } from '../open-context.ts';
import { checkAtRestKey } from '../pair-at-rest-key.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { isPermitted } from '../rules/redirects/redirect.ts';
import { MAX_PER_PAGE } from '../rules/users/admin-page.ts';
import { checkUserId } from '../rules/users/admin-user.ts';
import * as users from '../store/users.ts';
import { OPERATOR } from './admin-entry.ts';
import { createUser } from './create-user.ts';
import { deleteUser } from './delete-user.ts';
import { generateLink } from './generate-link.ts';
import { linkJson } from './link-json.ts';
import { listUsers } from './list-users.ts';

/** What a person does to users without HTTP. Everything is answered in the shapes of the API. */
export interface AdminTasks {
  /** Makes a user whose address counts as confirmed. */
  createUser(user: { email: string; password: string; role: string }): Promise<object>;
  /** @param who an address or an id */
  deleteUser(who: string): Promise<{ id: string; email: string }>;
  listUsers(search: { fragment: string; page: number; perPage: number }): Promise<UserPage>;
  generateLink(link: {
    type: string;
    email: string;
    newEmail: string;
    password: string;
    redirectTo: string;
  }): Promise<ReturnType<typeof linkJson>>;
  close(): Promise<void>;
}

/** A page of users. */
export interface UserPage {
  users: Omit<ReturnType<typeof userJson>, 'identities'>[];
  total: number;
  /** False when there are so many that the total is an estimate. */
  total_is_exact: boolean;
  page: number;
  per_page: number;
}

const ORIGIN = { ip: null, userAgent: 'croft', audience: undefined };

/**
 * Opens what tasks need: the tables up to date, and nothing else; a running auth beside it does not mind.
 * @throws StartError when that auth is of an older version
 */
export async function openAdminTasks(
  options: Pick<AuthOptions, 'settings' | 'databaseUrl' | 'log' | 'secrets' | 'version'>,
): Promise<AdminTasks> {
  const context = openContext(options);
  const { database, redirects } = context;
  try {
    await migrateTables(database, options.settings, true);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    async createUser({ email, password, role }) {
      // Unlike over HTTP the policy holds: a person chose this password, nobody imports it.
      await acceptNewPassword(context, password);
      return userJson(await createUser(context, OPERATOR, newUser({ email, password, role })));
    },
    async deleteUser(who) {
      const id = await idOf(who);
      const { user } = await deleteUser(context, OPERATOR, id, ORIGIN);
      return { id, email: user.email ?? '' };
    },
    async listUsers({ fragment, page, perPage }) {
      const found = await listUsers(context, { fragment, page, perPage });
      return {
        users: found.people.map(({ user }) => {
          const { identities: _, ...shown } = userJson({ user, identities: [] });
          return shown;
        }),
        total: found.total,
        total_is_exact: found.isExact,
        page,
        per_page: Math.min(perPage, MAX_PER_PAGE),
      };
    },
    async generateLink(link) {
      if (link.redirectTo !== '' && !isPermitted(link.redirectTo, redirects)) {
        throw failures.invalidValue(
          `${link.redirectTo} is neither on the site nor in AUTHSVC_URI_ALLOW_LIST`,
        );
      }
      await checkAtRestKey(context);
      return linkJson(
        await generateLink(context, OPERATOR, { ...link, data: {}, redirect: {}, origin: ORIGIN }),
      );
    },
    async close() {
      await context.limits.close?.();
      await context.outside.hooks.close();
      await database.close();
    },
  };

  async function idOf(who: string): Promise<string> {
    if (!who.includes('@')) return idIn(who);
    const person = await users.findByEmail(database.autocommit(), checkEmailAddress(who));
    if (person === undefined) throw failures.emailUnknown();
    return person.user.id;
  }
}

function idIn(text: string): string {
  try {
    return checkUserId(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw failures.invalidValue(`${text} is neither an address nor an id`);
  }
}

function newUser({ email, password, role }: { email: string; password: string; role: string }) {
  return {
    id: '',
    aud: '',
    role,
    email,
    phone: '',
    password,
    passwordHash: '',
    emailConfirm: true,
    phoneConfirm: false,
    userMetadata: {},
    appMetadata: {},
    banDuration: '',
    origin: ORIGIN,
  };
}
