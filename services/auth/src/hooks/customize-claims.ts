import type { AuthContext } from '../context.ts';
import { hookOutputUnusable } from '../failures.ts';
import { problemWithClaims } from '../rules/hooks/custom-claims.ts';
import type { IssuedClaims } from '../rules/tokens/claims.ts';
import type { TokenRequest } from '../sessions/issue-tokens.ts';

/**
 * The claims of an access token as the hook `custom_access_token` wants them.
 * @throws Failure when it refuses the token, gives no answer, or claims that a token cannot carry
 */
export async function customizeClaims(
  hook: NonNullable<AuthContext['outside']['hooks']['custom_access_token']>,
  userId: string,
  claims: IssuedClaims,
  { method, origin }: TokenRequest,
): Promise<IssuedClaims> {
  const { claims: changed } = await hook(
    { user_id: userId, claims, authentication_method: method },
    { ip: origin.ip },
  );
  const problem = problemWithClaims(claims, changed);
  if (problem !== undefined) throw hookOutputUnusable(problem);
  return changed as IssuedClaims;
}
