import type { Tx } from '@croft/sql';
import type { RowOutcome } from './import-users.ts';

/** A session, its times as text. */
export interface GivenSession {
  id: string;
  user_id: string;
  aal: string;
  factor_id: string | null;
  not_after: string | null;
  user_agent: string | null;
  ip: string | null;
  refreshed_at: string;
  created_at: string;
  updated_at: string;
  /** In hexadecimal. */
  token_hash: string;
}

/**
 * Makes sessions of users that were taken over, each with a family of refresh tokens that has none yet. What no factor of
 * theirs raised that is here is at aal1.
 */
export function insertSessions(
  tx: Tx,
  given: readonly GivenSession[],
  dryRun: boolean,
): Promise<RowOutcome[]> {
  return tx.rows<RowOutcome>`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::json) as g (id uuid, user_id uuid, aal text,
        factor_id uuid, not_after timestamptz, user_agent text, ip inet, refreshed_at timestamptz,
        created_at timestamptz, updated_at timestamptz, token_hash text)),
    fresh as (
      select g.*, exists (select from :schema.imported_rows r join :schema.users u on u.id = r.id
        where r.id = g.user_id and r.kind = 'user' and u.deleted_at is null) as has_user
      from given g where not exists (select from :schema.imported_rows r where r.id = g.id and r.kind = 'session')),
    made as (
      insert into :schema.sessions (id, user_id, aal, factor_id, not_after, user_agent, ip, created_at, updated_at)
      select f.id, f.user_id, case when m.id is null then 'aal1' else f.aal end, m.id,
        f.not_after, f.user_agent, f.ip, f.created_at, f.updated_at
      from fresh f left join :schema.mfa_factors m on m.id = f.factor_id and m.user_id = f.user_id
      where f.has_user and (f.not_after is null or f.not_after > ${tx.now}) and not ${dryRun}::boolean
      on conflict do nothing
      returning id),
    family as (
      insert into :schema.refresh_tokens (session_id, token_hash, counter, rotated_at)
      select f.id, decode(f.token_hash, 'hex'), -1, f.refreshed_at from fresh f join made on made.id = f.id),
    noted as (insert into :schema.imported_rows (id, kind) select id, 'session' from made)
    select g.id, case
      when g.id in (select id from made) then 'made'
      when g.id not in (select id from fresh) then 'known'
      when g.not_after <= ${tx.now} then 'over'
      when exists (select from :schema.sessions s where s.id = g.id) then 'id'
      when ${dryRun}::boolean then 'made'
      when g.id not in (select id from fresh where has_user) then 'orphan'
      else 'taken' end as outcome
    from given g`;
}

/** How a session was opened. */
export interface GivenClaim {
  session_id: string;
  authentication_method: string;
  created_at: string;
  updated_at: string;
}

/**
 * Notes how sessions were opened that nobody refreshed here yet.
 * @param factorMethods of factors, which no session at aal1 has proven
 * @returns how many entries
 */
export function insertClaims(
  tx: Tx,
  given: readonly GivenClaim[],
  factorMethods: readonly string[],
): Promise<number> {
  return tx.run`
    insert into :schema.mfa_amr_claims (session_id, authentication_method, created_at, updated_at)
    select g.session_id, g.authentication_method, g.created_at, g.updated_at
    from json_to_recordset(${JSON.stringify(given)}::json) as g (session_id uuid, authentication_method text,
      created_at timestamptz, updated_at timestamptz)
    join :schema.refresh_tokens t on t.session_id = g.session_id and t.counter = -1
    join :schema.sessions s on s.id = g.session_id
    where s.aal <> 'aal1' or g.authentication_method <> all (${factorMethods}::text[])
    on conflict do nothing`;
}

/** An entry of the audit log. */
export interface GivenAuditEntry {
  id: string;
  payload: unknown;
  ip_address: string;
  created_at: string;
}

/** Keeps entries of the audit log. @returns how many are new */
export function insertAuditEntries(tx: Tx, given: readonly GivenAuditEntry[]): Promise<number> {
  return tx.run`
    insert into :schema.audit_log_entries (id, payload, ip_address, created_at)
    select id, payload, ip_address, created_at
    from json_to_recordset(${JSON.stringify(given)}::json) as g (id uuid, payload json, ip_address varchar(64),
      created_at timestamptz)
    on conflict do nothing`;
}
