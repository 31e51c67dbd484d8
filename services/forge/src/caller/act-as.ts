import type { Context } from '../context.ts';
import { forbidden, notFound, scopeMissing } from '../failures.ts';
import { scopeAllows } from '../rules/access/token-scope.ts';
import * as users from '../store/people/users.ts';
import { type Caller, callerOf } from './caller.ts';

/**
 * The caller that a site administrator becomes with `Sudo`. What his token was made for still limits it, and it must
 * have been made for administration.
 * @param intent whether the request changes anything
 * @throws 403 for everybody else, 404 for names that are no person's
 */
export async function actAs(
  context: Context,
  caller: Caller | undefined,
  login: string,
  intent: 'read' | 'write',
): Promise<Caller> {
  if (!caller?.isAdmin) throw forbidden('Only administrators allowed to sudo.');
  const { scopes } = caller;
  if (scopes !== undefined && !scopeAllows(scopes, 'admin', intent)) {
    throw scopeMissing(`${intent}:admin`, scopes);
  }
  const user = login.includes('\0')
    ? undefined
    : await users.findByLogin(context.database.autocommit(), login);
  if (user?.kind !== 'person') throw notFound(`user does not exist [uid: 0, name: ${login}]`);
  context.log.info(
    { administrator: caller.user.login, as: user.login },
    'an administrator acts as somebody else',
  );
  return callerOf(user, scopes);
}
