import type { App } from '@croft/http';
import type { UserJson } from '../account/user-json.ts';
import { knowsRecoveryCodes } from '../rules/factors/recovery-codes.ts';
import { headerOf } from './origin.ts';

/**
 * Leaves recovery codes out of the `factors` of every user that is shown to a client that does not know the type: `listFactors()`
 * of such a one fails at it, the other factors included. Here, because every answer with a user ends here.
 */
export function hideRecoveryCodes(app: App): void {
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    if (!knowsRecoveryCodes(headerOf(request, 'x-client-info')))
      usersIn(payload as Answer | null).forEach(hide);
    done(null, payload);
  });
}

/** A user, a session or a list of users, as far as an answer is one. */
type Answer = Pick<UserJson, 'factors'> & { user?: UserJson; users?: UserJson[] };

function usersIn(answer: Answer | null): Pick<UserJson, 'factors'>[] {
  if (answer === null) return [];
  return [answer, ...(answer.user ? [answer.user] : []), ...(answer.users ?? [])];
}

function hide(user: Pick<UserJson, 'factors'>): void {
  const shown = user.factors?.filter((factor) => factor.factor_type !== 'recovery_code');
  if (shown?.length === 0) delete user.factors;
  else if (shown !== undefined) user.factors = shown;
}
