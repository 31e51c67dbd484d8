import type { Tx } from '@croft/sql';
import type { RowOutcome } from './import-users.ts';

/** A factor somebody has proven, its times as text. */
export interface GivenFactor {
  id: string;
  user_id: string;
  factor_type: 'totp' | 'phone' | 'webauthn';
  friendly_name: string | null;
  phone: string | null;
  /** Sealed; none of a factor that nobody can prove. */
  secret: string | null;
  last_challenged_at: string | null;
  created_at: string;
  updated_at: string;
}

/** Makes factors of users that were taken over. */
export function insertFactors(tx: Tx, given: readonly GivenFactor[], dryRun: boolean): Promise<RowOutcome[]> {
  return tx.rows<RowOutcome>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::json) as g (id uuid, user_id uuid, factor_type text,
        friendly_name text, phone text, secret text, last_challenged_at timestamptz, created_at timestamptz,
        updated_at timestamptz)),
    fresh as (
      select g.*, exists (select from :schema.imported_rows r join :schema.users u on u.id = r.id
        where r.id = g.user_id and r.kind = 'user') as has_user
      from given g where not exists (select from :schema.imported_rows r where r.id = g.id and r.kind = 'factor')),
    made as (
      insert into :schema.mfa_factors (id, user_id, factor_type, status, friendly_name, phone, secret,
        last_challenged_at, created_at, updated_at)
      select id, user_id, factor_type, 'verified', friendly_name, phone, secret, last_challenged_at, created_at,
        updated_at
      from fresh where has_user and not ${dryRun}::boolean
      on conflict do nothing
      returning id),
    noted as (insert into :schema.imported_rows (id, kind) select id, 'factor' from made)
    select g.id, case
      when g.id in (select id from made) then 'made'
      when g.id not in (select id from fresh) then 'known'
      when exists (select from :schema.mfa_factors m where m.id = g.id) then 'id'
      when ${dryRun}::boolean then 'made'
      when g.id not in (select id from fresh where has_user) then 'orphan'
      else 'taken' end as outcome
    from given g`;
}

/** Which of these there are, whoever made them. */
export async function listPresent(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{
    id: string;
  }>`select id from :schema.mfa_factors where id = any (${ids}::uuid[])`;
  return rows.map(({ id }) => id);
}
