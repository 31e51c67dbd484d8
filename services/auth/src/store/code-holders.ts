import { fragment, type Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import { identitiesOf } from './identities-of.ts';

/** Whose code it is, as long as it can still be used: neither used nor replaced by a newer one. */
export function find(tx: Tx, address: string, tokenHash: string): Promise<Person | undefined> {
  return tx.row<Person>`
    select to_jsonb(u) as "user",
      ${identitiesOf(fragment`u.id`)} as identities
    from :schema.one_time_tokens t join :schema.users u on u.id = t.user_id
    where t.relates_to = ${address} and t.token_hash = ${tokenHash} and u.deleted_at is null`;
}
