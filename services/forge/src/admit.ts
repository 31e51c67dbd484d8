import { actAs } from './caller/act-as.ts';
import type { ApiCredentials } from './caller/api-credentials.ts';
import { authenticate, type Credentials } from './caller/authenticate.ts';
import type { Caller } from './caller/caller.ts';
import type { Context } from './context.ts';
import type { Access } from './endpoint.ts';
import { scopeMissing, siteAdminsOnly, tokenRequired } from './failures.ts';
import { type ScopeArea, scopeAllows } from './rules/access/token-scope.ts';

/** What a request needs to be let in. */
export interface Admission {
  access: Access;
  area: ScopeArea;
  /** Whether it changes anything. */
  intent: 'read' | 'write';
}

/**
 * Lets a request in, before its body is read. The administration is for site administrators.
 * @throws 401 without usable credentials where they are needed, 403 with a token made for something else, for whoever
 *   may not act as somebody else, and for whoever is no administrator where one is needed
 */
export async function admit(
  context: Context,
  needs: Admission,
  credentials: Credentials & Partial<ApiCredentials>,
): Promise<Caller | undefined> {
  if (needs.access === 'public') return undefined;
  const comer = await authenticate(context, credentials);
  const { sudo } = credentials;
  const caller = sudo === undefined ? comer : await actAs(context, comer, sudo, needs.intent);
  if (caller === undefined) {
    if (needs.access === 'caller' || context.settings.REQUIRE_SIGNIN) throw tokenRequired();
    return undefined;
  }
  const { scopes } = caller;
  if (scopes !== undefined && !scopeAllows(scopes, needs.area, needs.intent)) {
    throw scopeMissing(`${needs.intent}:${needs.area}`, scopes);
  }
  if (needs.area === 'admin' && !caller.isAdmin) throw siteAdminsOnly();
  return caller;
}
