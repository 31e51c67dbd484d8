import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { type AdminPage, correctEstimate } from '../rules/users/admin-page.ts';
import * as auditLog from '../store/audit-log.ts';

/** What of an entry a query may name, and the members of its payload that are looked through. */
const SCOPES: Readonly<Record<string, auditLog.AuditScope>> = {
  author: ['actor_username', 'actor_name'],
  action: ['action'],
  type: ['log_type'],
};

/**
 * The audit log, newest first.
 * @param query `author:…`, `action:…` or `type:…` with a part of it in any case; empty for all
 * @throws Failure `validation_failed` for another scope
 */
export async function listAudit(
  context: AuthContext,
  query: string,
  page: AdminPage,
): Promise<auditLog.AuditPage> {
  const tx = context.database.autocommit();
  if (query === '') {
    const found = await auditLog.listNewest(tx, page);
    return found.isExact ? found : { ...found, ...correctEstimate(found.total, page, found.entries.length) };
  }
  const colon = query.indexOf(':');
  const scope = query.slice(0, colon);
  const members = colon > 0 && Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined;
  if (members === undefined) throw failures.badAuditQuery(query.slice(0, 100));
  return await auditLog.list(tx, { part: { of: members, text: query.slice(colon + 1) } }, page);
}
