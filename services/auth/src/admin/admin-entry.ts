import type { Administrator } from '../caller/authenticate-admin.ts';
import type { UserRow } from '../rows.ts';
import { type AuditAction, adminActor, auditEntry, toUser } from '../rules/audit.ts';

/** Who acts: by the role of a token, and the user it speaks of, if it does. */
export type ActingAdmin = Pick<Administrator, 'role'> & Partial<Pick<Administrator, 'sub'>>;

/** Who acts on the command line: nobody signed in. */
export const OPERATOR: ActingAdmin = { role: 'command line' };

/** The audit entry of what an administrator did to a user; the actor is the role, as in the reference (§3.13). */
export function adminEntry(
  admin: ActingAdmin,
  action: AuditAction,
  user: { id: string; email: string | null; phone: string | null },
): object {
  return auditEntry(adminActor(admin.role), action, { ...toUser(user), ...idOf(admin) });
}

/** The audit entry of what counts as the user's own act, such as asking for a link, and was an administrator's. */
export function entryOnBehalf(admin: ActingAdmin, action: AuditAction, user: UserRow): object {
  return auditEntry(user, action, { admin_role: admin.role, ...idOf(admin) });
}

function idOf({ sub }: ActingAdmin): { admin_id?: string } {
  return sub === undefined ? {} : { admin_id: sub };
}
