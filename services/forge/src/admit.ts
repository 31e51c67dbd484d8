import { authenticate, type Credentials } from './caller/authenticate.ts';
import type { Caller } from './caller/caller.ts';
import type { Context } from './context.ts';
import type { Access } from './endpoint.ts';
import { scopeMissing, tokenRequired } from './failures.ts';
import { type ScopeArea, scopeAllows } from './rules/token-scope.ts';

/** What a request needs to be let in. */
export interface Admission {
  access: Access;
  area: ScopeArea;
  /** Whether it changes anything. */
  intent: 'read' | 'write';
}

/**
 * Lets a request in, before its body is read.
 * @throws 401 without usable credentials where they are needed, 403 with a token made for something else
 */
export async function admit(
  context: Context,
  needs: Admission,
  credentials: Credentials,
): Promise<Caller | undefined> {
  if (needs.access === 'public') return undefined;
  const caller = await authenticate(context, credentials);
  if (caller === undefined) {
    if (needs.access === 'caller' || context.settings.REQUIRE_SIGNIN) throw tokenRequired();
    return undefined;
  }
  const { scopes } = caller;
  if (scopes !== undefined && !scopeAllows(scopes, needs.area, needs.intent)) {
    throw scopeMissing(`${needs.intent}:${needs.area}`, scopes);
  }
  return caller;
}
