import type { PermissionSubject } from '../rules/access/permission.ts';
import type { UserRow } from '../store/people/users.ts';

/** Who makes the request. */
export interface Caller extends PermissionSubject {
  user: UserRow;
  /** What a personal access token was made for; undefined when the caller came without one. */
  scopes: readonly string[] | undefined;
}

/** The caller an account makes. */
export function callerOf(user: UserRow, scopes?: readonly string[]): Caller {
  return {
    user,
    userId: user.id,
    isAdmin: user.is_admin,
    scopes,
    publicOnly: scopes?.includes('public-only') ?? false,
  };
}

/** Whose share of what is short a caller takes from; nobodies have one together, as they can look like many. */
export const shareOf = (caller: Caller | undefined) =>
  caller === undefined ? 'nobody' : `user ${caller.userId}`;
