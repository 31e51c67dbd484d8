import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { type MailCode, prepareMailCode } from '../codes/prepare-code.ts';
import { sendCodes } from '../codes/send-codes.ts';
import { sendLimit, sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import type { CodeChallenge, Person } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirects/redirect.ts';
import { EMAIL_APP_METADATA, emailIdentityData } from '../rules/users/disguised-user.ts';
import { checkMetadataSize } from '../rules/users/user-update.ts';
import * as users from '../store/users.ts';

/** Somebody who wants to sign in by mail. */
export interface MagicLinkRequest {
  email: string;
  /** Metadata of the account, should this make one. */
  data: Record<string, unknown>;
  /** Whether an account is made for an address nobody has. */
  createsUser: boolean;
  redirect: RedirectWish;
  /** What makes the link of the mail one that only its asker can use. */
  challenge: CodeChallenge | undefined;
  origin: Origin;
}

/**
 * Mails a link and a code that sign in (POST /magiclink, and POST /otp with an address). Who has no account yet gets
 * one, without a password, unless sign-up is off or not wanted: then nothing is sent, and the answer does not tell.
 * Two round trips.
 * @throws Failure for the first check that fails, or when a mail went to the address just before
 */
export async function requestMagicLink(context: AuthContext, request: MagicLinkRequest): Promise<void> {
  const { settings, redirects, database } = context;
  const email = checkEmailAddress(request.email);
  checkMetadataSize({}, request.data);
  const redirectTo = chooseRedirect(request.redirect, redirects);
  const person = await users.findByEmail(database.autocommit(), email);
  const mayCreate = request.createsUser && !settings.DISABLE_SIGNUP;
  if (person === undefined && mayCreate) {
    if (await signUp(context, email, redirectTo, request)) return;
    // Somebody signed up at the same moment.
    const now = await users.findByEmail(database.autocommit(), email);
    return await mail(context, email, redirectTo, request, now);
  }
  await mail(context, email, redirectTo, request, person);
}

/** The mail for an account there is, or the limit alone. */
async function mail(
  context: AuthContext,
  email: string,
  redirectTo: string,
  { origin, data, challenge }: MagicLinkRequest,
  person: Person | undefined,
): Promise<void> {
  const isConfirmation =
    person !== undefined && person.user.email_confirmed_at === null && !context.settings.MAILER_AUTOCONFIRM;
  const prepared = prepareMailCode(context, {
    purpose: isConfirmation ? 'signup' : 'magiclink',
    to: email,
    redirectTo,
    challenge,
    data: person?.user.raw_user_meta_data ?? data,
  });
  // Whoever signed the address up before may be somebody else: their password goes when this code is proven.
  const pending =
    isConfirmation && !person.user.given_by_admin && person.user.invited_at === null
      ? { pendingData: emailIdentityData(person.user.id, { email, data }, false) }
      : {};
  const code = { ...prepared, stored: { ...prepared.stored, ...pending } };
  const action = isConfirmation ? 'user_confirmation_requested' : 'user_recovery_requested';
  await sendCodes(context, {
    userId: person?.user.id,
    purpose: 'recovery',
    address: email,
    codes: [code],
    sentAt: [isConfirmation ? 'confirmation_sent_at' : 'recovery_sent_at'],
    audit: person === undefined ? [] : [auditEntry(person.user, action, BY_EMAIL)],
    origin,
  });
}

/** @returns false when somebody has the address by now */
async function signUp(
  context: AuthContext,
  email: string,
  redirectTo: string,
  { data, challenge, origin }: MagicLinkRequest,
): Promise<boolean> {
  const { settings, database } = context;
  const tx = database.autocommit();
  const isConfirmed = settings.MAILER_AUTOCONFIRM;
  const id = randomUUID();
  const identityData = emailIdentityData(id, { email, data }, isConfirmed);
  const actor = { id, email, phone: null, is_sso_user: false, raw_user_meta_data: identityData };
  const order: MailCode = {
    purpose: isConfirmed ? 'magiclink' : 'signup',
    to: email,
    redirectTo,
    challenge,
    data,
  };
  const limit = sendLimit(context, 'recovery', email);
  const user: users.NewUser = {
    id,
    aud: settings.JWT_AUD,
    role: settings.JWT_DEFAULT_GROUP_NAME,
    email,
    phone: null,
    emailConfirmed: isConfirmed,
    phoneConfirmed: false,
    passwordHash: null,
    appMetadata: EMAIL_APP_METADATA,
    userMetadata: identityData,
    identity: { provider: 'email', providerId: id, data: identityData },
    isAnonymous: false,
    code: prepareMailCode(context, order).stored,
    sentAt: [isConfirmed ? 'recovery_sent_at' : 'confirmation_sent_at'],
    limit,
    trace: {
      ...origin,
      audit: isConfirmed
        ? [
            auditEntry(actor, 'user_signedup', BY_EMAIL),
            auditEntry(actor, 'user_recovery_requested', BY_EMAIL),
          ]
        : [auditEntry(actor, 'user_confirmation_requested', BY_EMAIL)],
    },
  };
  await askBeforeUserCreated(context, user, origin);
  const inserted = await withinHourlyLimit(context, 'mail', () => insertUser(context, tx, user));
  if (!inserted.allowed) throw sentTooRecently(limit, inserted, tx.now);
  return inserted.created;
}

/** @throws Failure when magic links are off, in the words of the endpoint */
export function checkMagicLinks(context: AuthContext): void {
  if (!context.settings.EXTERNAL_EMAIL_ENABLED) throw failures.emailLoginsDisabled();
  if (!context.settings.EXTERNAL_EMAIL_MAGIC_LINK_ENABLED) throw failures.magicLinksDisabled();
}
