import { type AccessTokenClaims, InvalidAccessToken } from '@croft/access-token';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id of nobody; in claims it stands for none. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** Whether a claim can be the id of a row. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/**
 * What the access token of a request says, whoever its bearer is.
 * @throws Failure `no_authorization` without a token, `bad_jwt` for one that is not accepted
 */
export function verifyBearer(context: AuthContext, authorization: string | undefined): AccessTokenClaims {
  const token = /^bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw failures.bearerTokenMissing();
  try {
    return context.accessTokens.verify(token);
  } catch (error) {
    if (error instanceof InvalidAccessToken) throw failures.accessTokenInvalid(error.message);
    throw error;
  }
}
