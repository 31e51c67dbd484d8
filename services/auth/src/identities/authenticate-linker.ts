import { authenticateCaller, type Caller } from '../caller/authenticate-caller.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { isLow } from '../rules/factors/assurance.ts';

/**
 * Who calls to link or unlink an identity. One round trip.
 * @throws Failure of the token; `manual_linking_disabled` or `insufficient_aal`
 */
export async function authenticateLinker(
  context: AuthContext,
  authorization: string | undefined,
): Promise<Caller> {
  const caller = await authenticateCaller(context, authorization);
  if (!context.settings.SECURITY_MANUAL_LINKING_ENABLED) throw failures.linkingOff();
  const { user } = caller.person;
  if (isLow(caller.aal, user.factors)) throw failures.identityNeedsAal2();
  if (user.is_sso_user) throw failures.userManagedBySso();
  return caller;
}
