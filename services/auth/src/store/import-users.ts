import type { Tx } from '@croft/sql';

// Rows of another service that become ours, with the ids they have there; a batch is one statement, and so all or nothing.

/** What became of a row, or why it was left. */
export type Outcome =
  | 'made'
  | 'known' // taken over before
  | 'orphan' // what it belongs to was not taken over
  | 'over' // its time has passed
  | 'id' // somebody has its id
  | 'email'
  | 'phone'
  | 'identity'
  | 'taken'; // by another row of the same batch

/** By the id of the row. */
export interface RowOutcome {
  id: string;
  outcome: Outcome;
  /** Whether a user that was taken over before is another there now. */
  isChanged?: boolean;
}

/** A user, its times as text. */
export interface GivenUser {
  id: string;
  aud: string;
  role: string;
  email: string | null;
  encrypted_password: string | null;
  email_confirmed_at: string | null;
  invited_at: string | null;
  confirmation_sent_at: string | null;
  recovery_sent_at: string | null;
  phone: string | null;
  phone_confirmed_at: string | null;
  last_sign_in_at: string | null;
  raw_app_meta_data: object;
  raw_user_meta_data: object;
  banned_until: string | null;
  is_sso_user: boolean;
  is_anonymous: boolean;
  created_at: string;
  updated_at: string;
  deleted_at: string | null;
}

/** Makes users whose id, address and number nobody has. @param dryRun only tells what would become of them */
export function insertUsers(tx: Tx, given: readonly GivenUser[], dryRun: boolean): Promise<RowOutcome[]> {
  return tx.rows<RowOutcome>`
    with given as materialized (
      select g.*, sha256(convert_to(jsonb_build_array(aud, role, email, encrypted_password,
        extract(epoch from email_confirmed_at), phone, extract(epoch from phone_confirmed_at), raw_app_meta_data,
        raw_user_meta_data, extract(epoch from banned_until), is_sso_user, is_anonymous,
        extract(epoch from deleted_at))::text, 'UTF8')) as digest
      from json_to_recordset(${JSON.stringify(given)}::json) as g (id uuid, aud text, role text, email text,
        encrypted_password text, email_confirmed_at timestamptz, invited_at timestamptz,
        confirmation_sent_at timestamptz, recovery_sent_at timestamptz, phone text, phone_confirmed_at timestamptz,
        last_sign_in_at timestamptz, raw_app_meta_data jsonb, raw_user_meta_data jsonb, banned_until timestamptz,
        is_sso_user boolean, is_anonymous boolean, created_at timestamptz, updated_at timestamptz,
        deleted_at timestamptz)),
    fresh as (
      select g.* from given g where not exists (select from :schema.imported_rows r where r.id = g.id and r.kind = 'user')),
    made as (
      insert into :schema.users (id, aud, role, email, encrypted_password, email_confirmed_at, invited_at,
        confirmation_sent_at, recovery_sent_at, phone, phone_confirmed_at, last_sign_in_at, raw_app_meta_data,
        raw_user_meta_data, banned_until, is_sso_user, is_anonymous, created_at, updated_at, deleted_at)
      select * from (
        select id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_sent_at,
          recovery_sent_at, phone, phone_confirmed_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data,
          banned_until, is_sso_user, is_anonymous, created_at, updated_at, deleted_at
        -- Of two who differ by capitals only, the one with a proven address first, then the elder.
        from fresh where not ${dryRun}::boolean order by email_confirmed_at is null, created_at, id) as ordered
      on conflict do nothing
      returning id),
    noted as (
      insert into :schema.imported_rows (id, kind, digest)
      select made.id, 'user', fresh.digest from made join fresh on fresh.id = made.id)
    select g.id, exists (select from :schema.imported_rows r join :schema.users u on u.id = r.id
        where r.id = g.id and r.kind = 'user' and r.digest is distinct from g.digest and u.deleted_at is null)
      as "isChanged", case
      when g.id in (select id from made) then 'made'
      when g.id not in (select id from fresh) then 'known'
      when exists (select from :schema.users u where u.id = g.id) then 'id'
      when not g.is_sso_user
        and exists (select from :schema.users u where u.email = g.email and not u.is_sso_user) then 'email'
      when exists (select from :schema.users u where u.phone = g.phone) then 'phone'
      when ${dryRun}::boolean then 'made' else 'taken' end as outcome
    from given g`;
}

/** An identity, its times as text. */
export interface GivenIdentity {
  id: string;
  provider_id: string;
  user_id: string;
  identity_data: object;
  provider: string;
  last_sign_in_at: string | null;
  created_at: string;
  updated_at: string;
}

/** Makes identities that nobody has, of users that were taken over. */
export function insertIdentities(
  tx: Tx,
  given: readonly GivenIdentity[],
  dryRun: boolean,
): Promise<RowOutcome[]> {
  return tx.rows<RowOutcome>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::json) as g (id uuid, provider_id text, user_id uuid,
        identity_data jsonb, provider text, last_sign_in_at timestamptz, created_at timestamptz,
        updated_at timestamptz)),
    fresh as (
      select g.*, exists (select from :schema.imported_rows r join :schema.users u on u.id = r.id
        where r.id = g.user_id and r.kind = 'user') as has_user
      from given g where not exists (select from :schema.imported_rows r where r.id = g.id and r.kind = 'identity')),
    made as (
      insert into :schema.identities (id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at,
        updated_at)
      select id, provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at
      from fresh where has_user and not ${dryRun}::boolean
      on conflict do nothing
      returning id),
    noted as (insert into :schema.imported_rows (id, kind) select id, 'identity' from made)
    select g.id, case
      when g.id in (select id from made) then 'made'
      when g.id not in (select id from fresh) then 'known'
      when exists (select from :schema.identities i where i.id = g.id) then 'id'
      when exists (select from :schema.identities i
        where i.provider_id = g.provider_id and i.provider = g.provider) then 'identity'
      when ${dryRun}::boolean then 'made'
      when g.id not in (select id from fresh where has_user) then 'orphan'
      else 'taken' end as outcome
    from given g`;
}
