import type { UserRow } from '../rows.ts';
import { type AuditAction, auditEntry } from '../rules/audit.ts';

/** The audit entry of what somebody does with a factor of theirs. */
export function factorEntry(
  user: UserRow,
  action: AuditAction,
  factorId: string,
  traits: object = {},
): object {
  return auditEntry(user, action, { factor_id: factorId, ...traits });
}
