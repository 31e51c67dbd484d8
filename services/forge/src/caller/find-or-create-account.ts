import type { AccessTokenClaims } from '@croft/access-token';
import type { Context } from '../context.ts';
import { badCredentials, tokenWithoutUser } from '../failures.ts';
import { proposeLogins } from '../rules/access/name.ts';
import type { Identity, UserRow } from '../store/people/users.ts';
import * as users from '../store/people/users.ts';
import { checkAccount, checkNewcomer } from './check-account.ts';

/**
 * The account of the user a verified token names; the first call makes it.
 * @throws 403 for whoever the auth service banned or deleted
 */
export async function findOrCreateAccount(context: Context, claims: AccessTokenClaims): Promise<UserRow> {
  const identity = readIdentity(claims, context.identity.adminRoles);
  const row = await users.findByAuthUserId(context.database.reads(), identity.authUserId);
  if (row === undefined) return await createAccount(context, identity, wantedLogin(claims));
  const known = await checkAccount(context, row);
  if (isCurrent(known, identity)) return known;
  await users.updateIdentity(context.database.autocommit(), known.id, identity);
  const fullName = known.keeps_full_name ? known.full_name : identity.fullName;
  const isAdmin = isNews(known, identity) ? identity.isAdmin : known.is_admin;
  return { ...known, email: identity.email, full_name: fullName, is_admin: isAdmin };
}

/** Several first calls may come at once: one insert wins, the others find what it made. */
async function createAccount(
  context: Context,
  identity: Identity,
  wanted: string | undefined,
): Promise<UserRow> {
  const checked = await checkNewcomer(context, identity.authUserId);
  const account = { ...identity, isAdmin: checked?.isAdmin ?? identity.isAdmin };
  for (const login of proposeLogins(wanted, identity.email, identity.authUserId)) {
    const tx = context.database.autocommit();
    const made =
      (await users.insert(tx, login, account, checked?.askedAt)) ??
      (await users.findByAuthUserId(tx, identity.authUserId));
    if (made !== undefined) return made;
  }
  throw new Error(`no free login for auth user ${identity.authUserId}`);
}

function readIdentity(claims: AccessTokenClaims, adminRoles: ReadonlySet<string>): Identity {
  if (claims.sub === undefined || claims.sub === '') throw tokenWithoutUser();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(claims.sub)) throw badCredentials();
  return {
    authUserId: claims.sub.toLowerCase(),
    email: claims.email ?? '',
    fullName: text(claims.user_metadata?.['full_name']) ?? text(claims.user_metadata?.['name']) ?? '',
    isAdmin: adminRoles.has(claims.role ?? ''),
    issuedAt: new Date((claims.iat ?? 0) * 1000),
  };
}

const wantedLogin = (claims: AccessTokenClaims) => text(claims.user_metadata?.['user_name']);

/** Users write their metadata themselves: anything may be in it, NUL included, which PostgreSQL cannot keep. */
function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.replaceAll('\0', '').slice(0, 255) : undefined;
}

function isCurrent(row: UserRow, identity: Identity): boolean {
  const isNamed = row.keeps_full_name || row.full_name === identity.fullName;
  const isRanked = row.is_admin === identity.isAdmin || !isNews(row, identity);
  return row.email === identity.email && isNamed && isRanked;
}

/** Whether the token tells of the role later than the auth service did when it was asked. */
const isNews = ({ checked_at: checkedAt }: UserRow, { issuedAt }: Identity) =>
  checkedAt === null || checkedAt < issuedAt;
