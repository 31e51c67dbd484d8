import { fragment, type Tx } from '@croft/sql';
import type { CodeChallenge, Person } from '../rows.ts';
import { audited, type Trace } from './audit-log.ts';
import { identitiesOf } from './identities-of.ts';
import { type NewAuthCode, type NewSession, opened } from './openings.ts';

/** A code that was presented. */
export interface FoundAuthCode extends Person {
  method: string;
  challenge: string;
  challengeMethod: CodeChallenge['method'];
  sealed: string | null;
  expiresAt: Date;
  /** The identity that is linked when the verifier comes, sealed, and the session that asked for it. */
  linking: string | null;
  linkingSessionId: string | null;
}

/** The code with that hash, and who it signs in. */
export function find(tx: Tx, codeHash: Buffer): Promise<FoundAuthCode | undefined> {
  return tx.row<FoundAuthCode>`
    select c.authentication_method as method, c.code_challenge as challenge,
      c.code_challenge_method as "challengeMethod", c.sealed, c.expires_at as "expiresAt", to_jsonb(u) as "user",
      c.linking, c.linking_session_id as "linkingSessionId"
    from :schema.auth_codes c join :schema.users u on u.id = c.user_id
    where c.code_hash = ${codeHash} and u.deleted_at is null`;
}

/**
 * Notes a code whose verifier links an identity.
 * @returns false when its user, or the session that asked for it, is gone
 */
export async function insertForLinking(
  tx: Tx,
  code: NewAuthCode,
  { linking, userId, sessionId }: { linking: string; userId: string; sessionId: string | null },
): Promise<boolean> {
  const inserted = await tx.run`
    with locked as (
      select id from :schema.users where id = ${userId}::uuid and deleted_at is null
        and (banned_until is null or banned_until <= ${tx.now})
      for no key update)
    insert into :schema.auth_codes (id, code_hash, user_id, authentication_method, code_challenge,
      code_challenge_method, sealed, linking, linking_session_id, created_at, expires_at)
    select ${code.id}::uuid, ${code.codeHash}::bytea, id, ${code.method}::text, ${code.challenge.challenge}::text,
      ${code.challenge.method}::text, ${code.sealed}::text, ${linking}::text, ${sessionId}::uuid, ${tx.now}, ${code.expiresAt}
    from locked where ${sessionId}::uuid is null
      or exists (select from :schema.sessions s where s.id = ${sessionId}::uuid and s.user_id = locked.id)`;
  return inserted > 0;
}

/**
 * Opens the session that a code stands for and uses it up: of several requests with the same code one succeeds.
 * @returns undefined when it is used, or its user may not sign in any more: nothing was written then
 */
export function exchange(
  tx: Tx,
  {
    codeHash,
    userId,
    session,
    trace,
  }: { codeHash: Buffer; userId: string; session: NewSession; trace: Trace },
): Promise<Person | undefined> {
  const now = tx.now;
  return tx.row<Person>`
    -- The user first, as everything does that opens or ends sessions.
    with locked as (
      select id from :schema.users where id = ${userId}::uuid and deleted_at is null
        and (banned_until is null or banned_until <= ${now})
      for no key update),
    consumed as (
      delete from :schema.auth_codes c using locked where c.user_id = locked.id and c.code_hash = ${codeHash}
        and c.expires_at > ${now}
      returning c.user_id),
    person as (
      update :schema.users u set last_sign_in_at = ${now}, updated_at = ${now}
      from consumed where u.id = consumed.user_id
      returning u.*),
    ${opened(session, trace, now)},
    audit as (${audited(trace, now, fragment`person`)})
    select to_jsonb(person) as "user",
      ${identitiesOf(fragment`person.id`)} as identities
    from person`;
}
