import type { Tx } from '@croft/sql';
import type { Viewer } from '../../viewer.ts';
import type { UserRow } from './users.ts';

/** The account that had a name before, if it is a person's or of an organization that somebody may know of. */
export function findOwner(tx: Tx, login: string, viewer: Viewer): Promise<UserRow | undefined> {
  return tx.row<UserRow>`
    select o.* from :schema.former_logins f join :schema.users o on o.id = f.user_id
    where f.login_key = lower(${login}) and (o.kind = 'person'
      or :schema.may_know(${viewer.userId}, ${viewer.seesAll}, ${viewer.publicOnly}, o.id, o.visibility))`;
}

/**
 * Gives an account another name; the old one leads to it, and the new one to nobody else. Fails on the unique name when it
 * is taken.
 */
export async function rename(tx: Tx, id: number, login: string): Promise<void> {
  await tx.run`
    with before as (select id, login_key from :schema.users where id = ${id} for update),
    renamed as (update :schema.users u set login = ${login} from before b where u.id = b.id),
    freed as (delete from :schema.former_logins where login_key = lower(${login}))
    insert into :schema.former_logins (login_key, user_id)
    select login_key, id from before where login_key <> lower(${login})
    on conflict (login_key) do update set user_id = excluded.user_id`;
}
