import type { Tx } from '@croft/sql';
import type { CodeChallenge } from '../rows.ts';

/** A sign-in that goes out to a provider. */
export interface NewFlow {
  id: string;
  /** SHA-256 of the state, of which only provider and browser know the text. */
  stateHash: Buffer;
  /** SHA-256 of the cookie of the browser it belongs to. */
  browserHash: Buffer;
  provider: string;
  redirectTo: string;
  /** What the provider's second half needs, sealed. */
  sealed: string;
  /** Keyed hash of the link token of an invitation that is accepted by this. */
  inviteTokenHash: string | undefined;
  /** What the verifier of whoever asked has to fit. */
  challenge: CodeChallenge | undefined;
  /** Whose account the identity is linked to, instead of signing in. */
  linking: Linking | undefined;
}

/** Somebody who links an identity, and the session they do it in; a token may name none. */
export interface Linking {
  userId: string;
  sessionId: string | null;
}

/** A flow that came back. */
export interface ReturnedFlow {
  provider: string;
  redirectTo: string;
  sealed: string | null;
  inviteTokenHash: string | null;
  challenge: CodeChallenge | null;
  linking: Linking | null;
  createdAt: Date;
  /** Whether it came back to the browser it left from. */
  sameBrowser: boolean;
  /** Whether this request is the one that may use it: of several at the same moment one is. */
  consumed: boolean;
}

/** Records a flow. */
export async function insert(tx: Tx, flow: NewFlow): Promise<void> {
  await tx.run`
    insert into :schema.flow_state (id, state_hash, browser_hash, provider, redirect_to, sealed, invite_token_hash,
      code_challenge, code_challenge_method, linking_user_id, linking_session_id, created_at)
    values (${flow.id}::uuid, ${flow.stateHash}, ${flow.browserHash}, ${flow.provider}, ${flow.redirectTo},
      ${flow.sealed}, ${flow.inviteTokenHash}, ${flow.challenge?.challenge}, ${flow.challenge?.method},
      ${flow.linking?.userId}::uuid, ${flow.linking?.sessionId}::uuid, ${tx.now})`;
}

/**
 * Uses a flow up, if the browser is the one it left from; another one changes nothing. What links an identity was begun
 * by a script, whose answer sets no cookie on another site: it is bound by its challenge, or by the person's own word.
 * @param isConfirmed whether the person said that it is theirs
 */
export function consume(
  tx: Tx,
  stateHash: Buffer,
  browserHash: Buffer,
  isConfirmed: boolean,
): Promise<ReturnedFlow | undefined> {
  return tx.row<ReturnedFlow>`
    with consumed as (
      delete from :schema.flow_state where state_hash = ${stateHash}::bytea
        and (browser_hash = ${browserHash}::bytea
          or linking_user_id is not null and (code_challenge is not null or ${isConfirmed}::boolean))
      returning id)
    select provider, redirect_to as "redirectTo", sealed, invite_token_hash as "inviteTokenHash",
      case when code_challenge is not null
        then jsonb_build_object('challenge', code_challenge, 'method', code_challenge_method) end as challenge,
      case when linking_user_id is not null
        then jsonb_build_object('userId', linking_user_id, 'sessionId', linking_session_id) end as linking,
      created_at as "createdAt", browser_hash = ${browserHash}::bytea as "sameBrowser",
      exists (select from consumed) as consumed
    from :schema.flow_state where state_hash = ${stateHash}::bytea`;
}
