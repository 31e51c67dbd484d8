import type { Tx } from '@croft/sql';
import type { Origin } from '../caller/origin.ts';
import { type MailPurpose, type PreparedCode, prepareMailCode } from '../codes/prepare-code.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { acceptNewPassword } from '../passwords/accept-new-password.ts';
import type { Person, UserRow } from '../rows.ts';
import { checkEmailAddress } from '../rules/addresses/email-address.ts';
import { chooseRedirect, isPermitted, type RedirectWish } from '../rules/redirects/redirect.ts';
import { isProvenTo } from '../rules/users/proven.ts';
import { checkMetadataSize, METADATA_LIMITS, metadataTooLarge } from '../rules/users/user-update.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import * as userAdmin from '../store/user-admin.ts';
import * as users from '../store/users.ts';
import { type ActingAdmin, adminEntry, entryOnBehalf } from './admin-entry.ts';
import { makeUnconfirmed } from './make-unconfirmed.ts';

/** Kinds of links an administrator can have. */
const LINK_TYPES = [
  'signup',
  'magiclink',
  'recovery',
  'invite',
  'email_change_current',
  'email_change_new',
] as const satisfies readonly MailPurpose[];
type RequestedLink = (typeof LINK_TYPES)[number];

/** A link that is wanted. */
export interface LinkRequest {
  type: string;
  email: string;
  newEmail: string;
  /** For `signup` only. */
  password: string;
  /** First metadata of a new account. */
  data: Record<string, unknown>;
  /** Counts before the wishes of the request, if it is permitted. */
  redirectTo: string;
  redirect: RedirectWish;
  origin: Origin;
}

/** A link, everything it is made of, and whom it signs in. */
export interface GeneratedLink {
  person: Person;
  /** What the link turned out to be: a magic link for an unknown address signs up. */
  type: RequestedLink;
  url: string;
  /** The token of the link. */
  token: string;
  /** The code that does the same. */
  code: string;
  redirectTo: string;
}

/**
 * Makes the link a mail would bring (POST /admin/generate_link), and sends nothing. Codes of the same kind that are
 * on their way are void, as with a new mail.
 * @throws Failure for the first check that fails, in the order of the contract's reference (§3.20)
 */
export async function generateLink(
  context: AuthContext,
  admin: ActingAdmin,
  request: LinkRequest,
): Promise<GeneratedLink> {
  const { database, redirects } = context;
  const email = checkEmailAddress(request.email);
  const asked = LINK_TYPES.find((type) => type === request.type);
  if (asked === undefined) throw failures.linkTypeInvalid(request.type);
  checkMetadataSize({}, request.data);
  const redirectTo = isPermitted(request.redirectTo, redirects)
    ? request.redirectTo
    : chooseRedirect(request.redirect, redirects);
  const order: Order = { admin, email, redirectTo, request };
  const found = await users.findByEmail(database.autocommit(), email);
  if (found === undefined) {
    const made = await linkForNew(context, order, asked);
    if (made !== undefined) return made;
  }
  // Somebody else made the account at the same moment.
  const existing = found ?? (await users.findByEmail(database.autocommit(), email));
  if (existing === undefined) throw failures.tryAgain();
  switch (asked) {
    case 'signup':
    case 'invite':
      return await confirmationLink(context, order, asked, existing.user);
    case 'magiclink':
    case 'recovery':
      return await signInLink(context, order, asked, existing.user);
    case 'email_change_current':
    case 'email_change_new':
      return await changeLink(context, order, asked, existing.user);
  }
}

interface Order {
  admin: ActingAdmin;
  email: string;
  redirectTo: string;
  request: LinkRequest;
}

/** @returns undefined when somebody has the address by now */
async function linkForNew(
  context: AuthContext,
  { admin, email, redirectTo, request }: Order,
  asked: RequestedLink,
): Promise<GeneratedLink | undefined> {
  if (asked !== 'signup' && asked !== 'invite' && asked !== 'magiclink') throw failures.emailUnknown();
  const type = asked === 'magiclink' ? 'signup' : asked;
  const passwordHash = asked === 'signup' ? await acceptedHash(context, request.password) : null;
  const code = prepareMailCode(context, { purpose: type, to: email, redirectTo, data: request.data });
  const person = await makeUnconfirmed(context, {
    email,
    data: request.data,
    passwordHash,
    code: unsent(code),
    sentAt: type === 'invite' ? ['invited_at', 'confirmation_sent_at'] : ['confirmation_sent_at'],
    audit: (user) => (type === 'invite' ? [adminEntry(admin, 'user_invited', user)] : []),
    origin: request.origin,
  });
  return person && { ...linkOf(code, type, redirectTo), person };
}

/** A sign-up or an invitation of somebody who never confirmed: what was there before the link is not trusted. */
async function confirmationLink(
  context: AuthContext,
  { admin, email, redirectTo, request }: Order,
  type: 'signup' | 'invite',
  user: UserRow,
): Promise<GeneratedLink> {
  // The password comes first, as it does for an address nobody has.
  const passwordHash = type === 'signup' ? await acceptedHash(context, request.password) : undefined;
  if (user.email_confirmed_at !== null) throw failures.emailTaken();
  const code = prepareMailCode(context, { purpose: type, to: email, redirectTo, data: request.data });
  const pending =
    passwordHash === undefined ? {} : { pendingPassword: passwordHash, pendingData: request.data };
  const { person } = await context.database.transaction(async (tx) => {
    await users.hold(tx, user.id);
    await userAdmin.forgetUnproven(tx, user.id);
    if (passwordHash !== undefined) await giveAgain(tx, user.id, passwordHash, request);
    return await oneTimeTokens.send(tx, {
      userId: user.id,
      limit: undefined,
      codes: [{ ...unsent(code), ...pending }],
      sentAt: type === 'invite' ? ['invited_at', 'confirmation_sent_at'] : ['confirmation_sent_at'],
      trace: {
        ...request.origin,
        audit: type === 'invite' ? [adminEntry(admin, 'user_invited', user)] : [],
      },
    });
  });
  if (person === undefined) throw failures.tryAgain();
  return { ...linkOf(code, type, redirectTo), person };
}

/**
 * Of an account that was an administrator's before this link no code brings a password, and nobody comes in before it is
 * proven: password and data can be its own at once.
 */
async function giveAgain(tx: Tx, userId: string, passwordHash: string, request: LinkRequest): Promise<void> {
  const user = (await users.findById(tx, userId))?.user;
  if (user === undefined || isProvenTo('email', user)) return;
  if (!user.given_by_admin && user.invited_at === null) return;
  const { tooLarge } = await userAdmin.update(tx, {
    userId,
    passwordHash,
    emailConfirmed: false,
    phoneConfirmed: false,
    userMetadata: request.data,
    appMetadata: {},
    metadataLimits: METADATA_LIMITS,
    trace: { ...request.origin, audit: [] },
  });
  if (tooLarge !== null) throw metadataTooLarge(tooLarge);
}

async function signInLink(
  context: AuthContext,
  { admin, email, redirectTo, request }: Order,
  type: 'magiclink' | 'recovery',
  user: UserRow,
): Promise<GeneratedLink> {
  const code = prepareMailCode(context, {
    purpose: type,
    to: email,
    redirectTo,
    data: user.raw_user_meta_data,
  });
  const { person } = await oneTimeTokens.send(context.database.autocommit(), {
    userId: user.id,
    limit: undefined,
    codes: [unsent(code)],
    sentAt: ['recovery_sent_at'],
    trace: { ...request.origin, audit: [entryOnBehalf(admin, 'user_recovery_requested', user)] },
  });
  if (person === undefined) throw failures.tryAgain();
  return { ...linkOf(code, type, redirectTo), person };
}

/** One of the two links of a change of address; the other belongs to the same change as long as the address does. */
async function changeLink(
  context: AuthContext,
  { admin, email, redirectTo, request }: Order,
  type: 'email_change_current' | 'email_change_new',
  user: UserRow,
): Promise<GeneratedLink> {
  const { database, settings } = context;
  if (type === 'email_change_current' && !settings.MAILER_SECURE_EMAIL_CHANGE_ENABLED) {
    throw failures.secureEmailChangeOff();
  }
  const newEmail = checkEmailAddress(request.newEmail);
  if ((await users.findByEmail(database.autocommit(), newEmail)) !== undefined) throw failures.emailTaken();
  const code = prepareMailCode(context, {
    purpose: type,
    to: type === 'email_change_new' ? newEmail : email,
    redirectTo,
    data: user.raw_user_meta_data,
    email,
    newEmail,
  });
  const person = await database.transaction(async (tx) => {
    await users.hold(tx, user.id);
    const present = (await users.findById(tx, user.id))?.user;
    if (present?.email !== email) return undefined;
    const isSameChange = present.email_change === newEmail;
    if (!isSameChange) await userAdmin.forgetEmailChange(tx, user.id);
    const sent = await oneTimeTokens.send(tx, {
      userId: user.id,
      limit: undefined,
      codes: [unsent(code)],
      sentAt: ['email_change_sent_at'],
      // Saying it again would forget what the other address confirmed.
      ...(isSameChange ? {} : { emailChange: newEmail }),
      trace: { ...request.origin, audit: [adminEntry(admin, 'user_modified', user)] },
    });
    return sent.person;
  });
  if (person === undefined) throw failures.tryAgain();
  return { ...linkOf(code, type, redirectTo), person };
}

/** @throws Failure as for a sign-up */
async function acceptedHash(context: AuthContext, password: string): Promise<string> {
  if (password === '') throw failures.signupPasswordMissing();
  await acceptNewPassword(context, password);
  return await context.outside.passwords.hash(password);
}

/** The code as it is stored, without the mail. */
function unsent({ stored }: PreparedCode): oneTimeTokens.StoredCode {
  return { ...stored, effect: undefined };
}

function linkOf(
  { url, linkToken, code }: PreparedCode,
  type: RequestedLink,
  redirectTo: string,
): Omit<GeneratedLink, 'person'> {
  return { type, url, token: linkToken, code, redirectTo };
}
