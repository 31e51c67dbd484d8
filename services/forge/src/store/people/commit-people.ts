import type { Tx } from '@croft/sql';
import type { UserRow } from './users.ts';

/** People who have one of the addresses or logins, all in lower case; the oldest account first. */
export function listByAddress(
  tx: Tx,
  addresses: readonly string[],
  logins: readonly string[],
): Promise<UserRow[]> {
  return tx.rows<UserRow>`
    select * from :schema.users
    where kind = 'person' and ((email <> '' and lower(email) = any(${addresses}::text[])) or login_key = any(${logins}::text[]))
    order by id`;
}
