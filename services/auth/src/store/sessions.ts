import type { Tx } from '@croft/sql';
import type { Person } from '../rows.ts';
import type { Trace } from './audit-log.ts';

/** A session to be opened. */
export interface NewSession {
  id: string;
  /** How the person proved who they are: a value of `amr.method`. */
  method: string;
  /** Hash of the first refresh token. */
  tokenHash: Buffer;
}

/** What was proven, and what must still hold when the session is opened. */
export interface SignIn {
  userId: string;
  session: NewSession;
  /** The password hash that was checked: a change of password meanwhile forbids the session. */
  checkedPasswordHash?: string | undefined;
  /** Replaces the password hash: one of today's cost, or the first password of an invited user. */
  newPasswordHash?: string | undefined;
  /** Keyed hash of the code to consume; only one of several requests with the same code gets it. */
  consumes?: string | undefined;
  /** Whether the address is proven by this. */
  confirms?: boolean;
  /** Whether somebody else having proven it meanwhile forbids the session. */
  onlyUnconfirmed?: boolean;
  trace: Trace;
}

/**
 * Opens a session, with all that goes with it.
 * @returns undefined when what was proven does not hold any more: nothing was written then
 */
export function open(tx: Tx, signIn: SignIn): Promise<Person | undefined> {
  const { userId, session, consumes, confirms = false, onlyUnconfirmed = false, trace } = signIn;
  const now = tx.now;
  return tx.row<Person>`
    with consumed as (
      delete from :schema.one_time_tokens where user_id = ${userId}::uuid and token_hash = ${consumes}
      returning token_hash),
    -- One success clears every code of the user.
    others as (
      delete from :schema.one_time_tokens where user_id = ${userId}::uuid and token_hash <> ${consumes}
        and exists (select from consumed)),
    person as (
      update :schema.users set last_sign_in_at = ${now}, updated_at = ${now},
        encrypted_password = coalesce(${signIn.newPasswordHash}, encrypted_password),
        email_confirmed_at = case when ${confirms} then coalesce(email_confirmed_at, ${now}) else email_confirmed_at end,
        raw_user_meta_data = case when ${confirms} then raw_user_meta_data || '{"email_verified": true}' else raw_user_meta_data end
      where id = ${userId}::uuid and deleted_at is null and (banned_until is null or banned_until <= ${now})
        and (${signIn.checkedPasswordHash}::text is null or encrypted_password = ${signIn.checkedPasswordHash})
        and (not ${onlyUnconfirmed}::boolean or confirmed_at is null)
        and (${consumes}::text is null or exists (select from consumed))
      returning *),
    verified as (
      update :schema.identities i set identity_data = i.identity_data || '{"email_verified": true}', updated_at = ${now}
      from person where ${confirms} and i.user_id = person.id and i.provider = 'email'
      returning i.*),
    session as (
      insert into :schema.sessions (id, user_id, user_agent, ip, created_at, updated_at)
      select ${session.id}::uuid, id, ${trace.userAgent}::text, ${trace.ip}::inet, ${now}, ${now} from person
      returning id),
    token as (
      insert into :schema.refresh_tokens (session_id, token_hash, counter, rotated_at)
      select id, ${session.tokenHash}::bytea, 0, ${now} from session),
    claim as (
      insert into :schema.mfa_amr_claims (session_id, authentication_method, created_at, updated_at)
      select id, ${session.method}::text, ${now}, ${now} from session),
    audit as (
      insert into :schema.audit_log_entries (payload, ip_address, created_at)
      select entry, coalesce(${trace.ip}::text, ''), ${now}
      from person, json_array_elements(${JSON.stringify(trace.audit)}::json) entry)
    select to_jsonb(person) as "user",
      (select coalesce(jsonb_agg(coalesce(to_jsonb(v), to_jsonb(i)) order by i.created_at), '[]')
        from :schema.identities i left join verified v on v.id = i.id where i.user_id = person.id) as identities
    from person`;
}

/** Which sessions of a user end: all, one, or all but one. */
export interface EndedSessions {
  userId: string;
  only?: string | undefined;
  except?: string | undefined;
}

/**
 * Ends sessions; their refresh tokens go with them. These are locked first, as a rotation does, and in one order: a
 * rotation or another sign-out at the same moment waits, but never in a circle.
 */
export async function end(tx: Tx, ended: EndedSessions, trace: Trace): Promise<void> {
  await tx.run`
    with locked as (
      select t.session_id from :schema.refresh_tokens t join :schema.sessions s on s.id = t.session_id
      where s.user_id = ${ended.userId}::uuid order by t.session_id for update of t),
    gone as (
      -- The count is there to make the locks come first.
      delete from :schema.sessions where user_id = ${ended.userId}::uuid and (select count(*) from locked) >= 0
        and (${ended.only}::uuid is null or id = ${ended.only})
        and (${ended.except}::uuid is null or id <> ${ended.except}))
    insert into :schema.audit_log_entries (payload, ip_address, created_at)
    select entry, coalesce(${trace.ip}::text, ''), ${tx.now}
    from json_array_elements(${JSON.stringify(trace.audit)}::json) entry`;
}
