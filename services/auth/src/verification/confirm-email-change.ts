import type { Failure } from '@croft/failure';
import { isUniqueViolation } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { instant } from '../rows.ts';
import {
  asksBothAddresses,
  CURRENT_CONFIRMED,
  emailChangeStep,
  NEW_CONFIRMED,
} from '../rules/addresses/email-change.ts';
import { auditEntry } from '../rules/audit.ts';
import { methodOfLink, SENT_METHOD } from '../rules/codes/one-time-code.ts';
import { isBanned } from '../rules/users/ban.ts';
import { prepareSignIn, type SignedIn } from '../sessions/prepare-sign-in.ts';
import type { FoundCode } from '../store/one-time-tokens.ts';
import * as sessions from '../store/sessions.ts';
import * as userChanges from '../store/user-changes.ts';

/** The other address can agree between our look and our step once; after that there is nothing left to race with. */
const ATTEMPTS = 3;

/**
 * Confirms a change of address from one of its two sides (POST and GET /verify). The second one brings the new address
 * into force and signs in. Two round trips.
 * @param find finds the code that was presented; throws when there is none
 * @returns undefined when the other address has to agree as well
 * @throws Failure `email_exists` when somebody else has the new address by now, and the failure of `invalid`
 */
export async function confirmEmailChange(
  context: AuthContext,
  find: () => Promise<FoundCode>,
  invalid: () => Failure,
  origin: Origin,
): Promise<SignedIn | undefined> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const found = await find();
    const { user, tokenHash } = found;
    const tx = context.database.autocommit();
    if (isBanned(instant(user.banned_until), tx.now)) throw failures.userBanned();
    const side = found.tokenType === 'email_change_token_new' ? NEW_CONFIRMED : CURRENT_CONFIRMED;
    const status = user.email_change_confirm_status;
    if (emailChangeStep(status, side, asksBothAddresses(user.email, context.settings)) === 'change') {
      return await change(context, found, invalid, origin);
    }
    const half = { userId: user.id, tokenHash, from: status, to: side };
    if (await userChanges.confirmHalf(tx, half)) return undefined;
  }
  throw invalid();
}

async function change(
  context: AuthContext,
  found: FoundCode,
  invalid: () => Failure,
  origin: Origin,
): Promise<SignedIn> {
  const { user, challenge } = found;
  const tx = context.database.autocommit();
  const signIn = challenge
    ? prepareSignIn(context, methodOfLink('email_change'), { challenge })
    : prepareSignIn(context, SENT_METHOD, undefined);
  const opened = await sessions
    .open(tx, {
      userId: user.id,
      ...signIn.row,
      consumes: found,
      confirms: 'email_change',
      trace: { ...origin, audit: [auditEntry(user, 'user_modified')] },
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error, 'users_email_key') ? failures.emailTaken() : error;
    });
  if (opened === undefined) throw invalid();
  return await signIn.end(opened, tx.now, origin);
}
