import type { AccessTokenClaims } from '@croft/access-token';
import type { Context } from '../context.ts';
import { badCredentials, secondFactorMissing, tokenWithoutUser } from '../failures.ts';
import { proposeLogins } from '../rules/access/name.ts';
import { showsFactor } from '../rules/access/second-factor.ts';
import { fullNameOf, wantedLoginOf } from '../rules/access/user-metadata.ts';
import type { Identity, UserRow } from '../store/people/users.ts';
import * as users from '../store/people/users.ts';
import { checkAccount, checkNewcomer } from './check-account.ts';

/**
 * The account of the user a verified token names; the first call makes it.
 * @param isProven whether the auth service said a moment ago that what opened the session is enough; else `aal` says it, and what
 *   is known of the account
 * @throws 403 for whoever the auth service banned or deleted, 401 for a session without the second factor of who has one:
 *   a password is enough to open it
 */
export async function findOrCreateAccount(
  context: Context,
  claims: AccessTokenClaims,
  isProven = false,
): Promise<UserRow> {
  const identity = readIdentity(claims, context.identity.adminRoles);
  const row = await users.findByAuthUserId(context.database.reads(), identity.authUserId);
  const showsAll = isProven || showsFactor(claims.aal);
  if (row === undefined) return await createAccount(context, identity, claims, showsAll);
  const known = await checkAccount(context, row);
  // Where nobody can be asked any more, what was known once would count for ever.
  if (known.has_second_factor && !showsAll && context.identity.accounts !== undefined)
    throw secondFactorMissing();
  if (isCurrent(known, identity)) return known;
  await users.updateIdentity(context.database.autocommit(), known.id, identity);
  const isAdmin = isNews(known, identity) ? identity.isAdmin : known.is_admin;
  if (isOld(known, identity)) return { ...known, is_admin: isAdmin };
  const fullName = known.keeps_full_name ? known.full_name : identity.fullName;
  return { ...known, email: identity.email, full_name: fullName, is_admin: isAdmin };
}

/** Several first calls may come at once: one insert wins, the others find what it made. */
async function createAccount(
  context: Context,
  identity: Identity,
  { user_metadata: metadata }: AccessTokenClaims,
  showsAll: boolean,
): Promise<UserRow> {
  const checked = await checkNewcomer(context, identity.authUserId);
  const { shown, askedAt = identity.issuedAt, isAdmin = identity.isAdmin, hasFactor = false } = checked ?? {};
  if (hasFactor && !showsAll) throw secondFactorMissing();
  const later = shown !== undefined && askedAt > identity.issuedAt ? { ...shown, issuedAt: askedAt } : {};
  const account = { ...identity, isAdmin, ...later };
  for (const login of proposeLogins(wantedLoginOf(metadata), account.email, identity.authUserId)) {
    const tx = context.database.autocommit();
    const made =
      (await users.insert(tx, login, account, checked?.askedAt, hasFactor)) ??
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
    fullName: fullNameOf(claims.user_metadata),
    isAdmin: adminRoles.has(claims.role ?? ''),
    issuedAt: new Date((claims.iat ?? 0) * 1000),
  };
}

/** Whether the account has what the token says, or what was said later. */
function isCurrent(row: UserRow, identity: Identity): boolean {
  const isNamed = row.keeps_full_name || row.full_name === identity.fullName;
  const isShown =
    row.email === identity.email && isNamed && row.shown_at?.getTime() === identity.issuedAt.getTime();
  const isRanked = row.is_admin === identity.isAdmin || !isNews(row, identity);
  return (isShown || isOld(row, identity)) && isRanked;
}

/** Whether the address and the full name of the account are from a later time than the token. */
const isOld = ({ shown_at: shownAt }: UserRow, { issuedAt }: Identity) =>
  shownAt !== null && shownAt > issuedAt;

/** Whether the token tells of the role later than the auth service did when it was asked. */
const isNews = ({ checked_at: checkedAt }: UserRow, { issuedAt }: Identity) =>
  checkedAt === null || checkedAt < issuedAt;
