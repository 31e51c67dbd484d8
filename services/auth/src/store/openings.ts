import { type Fragment, fragment } from '@croft/sql';
import type { CodeChallenge } from '../rows.ts';
import type { Trace } from './audit-log.ts';

/** A session to be opened. */
export interface NewSession {
  id: string;
  /** How the person proved who they are: a value of `amr.method`. */
  method: string;
  /** Hash of the first refresh token. */
  tokenHash: Buffer;
}

/** In the `with` of a statement that has proven who a `person` is: the session, if there is one, with its first token. */
export function opened(session: NewSession | undefined, trace: Trace, now: Date): Fragment {
  return fragment`session as (
      insert into :schema.sessions (id, user_id, user_agent, ip, created_at, updated_at)
      select ${session?.id}::uuid, id, ${trace.userAgent}::text, ${trace.ip}::inet, ${now}, ${now} from person
      where ${session?.id}::uuid is not null
      returning id),
    token as (
      insert into :schema.refresh_tokens (session_id, token_hash, counter, rotated_at)
      select id, ${session?.tokenHash}::bytea, 0, ${now} from session),
    claim as (
      insert into :schema.mfa_amr_claims (session_id, authentication_method, created_at, updated_at)
      select id, ${session?.method}::text, ${now}, ${now} from session)`;
}

/** A sign-in that was proven, whose session waits for the verifier. */
export interface NewAuthCode {
  id: string;
  /** SHA-256 of the code, of which only the client knows the text. */
  codeHash: Buffer;
  /** How the person proved who they are: a value of `amr.method`. */
  method: string;
  challenge: CodeChallenge;
  /** Tokens of the external provider, sealed. */
  sealed: string | null;
  expiresAt: Date;
}

/**
 * In the `with` of a statement that has proven who a `person` is: the code that waits for its verifier, if there is one and
 * no session instead.
 */
export function awaited(code: NewAuthCode | undefined, now: Date): Fragment {
  return fragment`auth_code as (
      insert into :schema.auth_codes (id, code_hash, user_id, authentication_method, code_challenge,
        code_challenge_method, sealed, created_at, expires_at)
      select ${code?.id}::uuid, ${code?.codeHash}::bytea, id, ${code?.method}::text, ${code?.challenge.challenge}::text,
        ${code?.challenge.method}::text, ${code?.sealed}::text, ${now}, ${code?.expiresAt}::timestamptz from person
      where ${code?.id}::uuid is not null)`;
}
