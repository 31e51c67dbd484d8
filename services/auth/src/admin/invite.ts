import type { Origin } from '../caller/origin.ts';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { prepareMailCode } from '../codes/prepare-code.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { Person } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirects/redirect.ts';
import { isStrangers } from '../rules/users/admin-user.ts';
import { checkMetadataSize } from '../rules/users/user-update.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as userAdmin from '../store/user-admin.ts';
import * as users from '../store/users.ts';
import { type ActingAdmin, adminEntry } from './admin-entry.ts';
import { makeUnconfirmed } from './make-unconfirmed.ts';

/** Somebody who is to be invited. */
export interface Invitation {
  email: string;
  /** First metadata of a new account. */
  data: Record<string, unknown>;
  redirect: RedirectWish;
  origin: Origin;
}

/**
 * Mails an invitation (POST /invite). Who has no account gets one without a password; who never confirmed theirs is
 * invited again, and what a stranger's sign-up put there is forgotten.
 * @throws Failure `email_exists` when the address is confirmed
 */
export async function invite(
  context: AuthContext,
  admin: ActingAdmin,
  invitation: Invitation,
): Promise<Person> {
  const { database, redirects } = context;
  const email = checkEmailAddress(invitation.email);
  checkMetadataSize({}, invitation.data);
  const redirectTo = chooseRedirect(invitation.redirect, redirects);
  const found = await users.findByEmail(database.autocommit(), email);
  if (found === undefined) {
    const { stored } = prepareMailCode(context, {
      purpose: 'invite',
      to: email,
      redirectTo,
      data: invitation.data,
    });
    const { made } = await withinHourlyLimit(context, 'mail', async () => {
      const person = await makeUnconfirmed(context, {
        email,
        data: invitation.data,
        passwordHash: null,
        code: stored,
        sentAt: ['invited_at', 'confirmation_sent_at'],
        audit: (user) => [adminEntry(admin, 'user_invited', user)],
        origin: invitation.origin,
      });
      return { made: person, allowed: person !== undefined };
    });
    if (made !== undefined) return made;
  }
  // Somebody else made the account at the same moment.
  const existing = found ?? (await users.findByEmail(database.autocommit(), email));
  if (existing === undefined) throw failures.tryAgain();
  return await inviteAgain(context, admin, existing, email, redirectTo, invitation.origin);
}

async function inviteAgain(
  context: AuthContext,
  admin: ActingAdmin,
  { user }: Person,
  email: string,
  redirectTo: string,
  origin: Origin,
): Promise<Person> {
  if (user.email_confirmed_at !== null) throw failures.emailTaken();
  const { stored } = prepareMailCode(context, {
    purpose: 'invite',
    to: email,
    redirectTo,
    data: isStrangers(user) ? {} : user.raw_user_meta_data,
  });
  const audit = adminEntry(admin, 'user_invited', user);
  const { person } = await withinHourlyLimit(context, 'mail', () =>
    context.database.transaction(async (tx) => {
      await users.hold(tx, user.id);
      await userAdmin.forgetUnproven(tx, user.id);
      return await oneTimeTokens.send(tx, {
        userId: user.id,
        limit: undefined,
        codes: [stored],
        sentAt: ['invited_at', 'confirmation_sent_at'],
        trace: { ...origin, audit: [audit] },
      });
    }),
  );
  if (person === undefined) throw failures.tryAgain();
  return person;
}
