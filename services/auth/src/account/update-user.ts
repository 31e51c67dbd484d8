import { isUniqueViolation } from '@croft/sql';
import type { Caller } from '../caller/authenticate-caller.ts';
import type { Origin } from '../caller/origin.ts';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { type CodeChallenge, instant, type Person } from '../rows.ts';
import { auditEntry } from '../rules/audit.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirects/redirect.ts';
import { isBanned } from '../rules/users/ban.ts';
import { checkMetadataSize, METADATA_LIMITS, metadataTooLarge } from '../rules/users/user-update.ts';
import * as userChanges from '../store/user-changes.ts';
import * as users from '../store/users.ts';
import { type AddressChange, planEmailChange, planPhoneChange } from './address-changes.ts';
import { checkNewPassword } from './check-new-password.ts';
import { checkUpdate, type UpdateFields } from './check-update.ts';

/** What somebody wants to change of their own account. */
export interface UserUpdate extends UpdateFields {
  /** What GET /reauthenticate sent. */
  nonce: string;
  currentPassword: string;
  /** Laid over the metadata; members that are null go away. */
  data: Record<string, unknown>;
  redirect: RedirectWish;
  /** What makes the link of the mail one that only its asker can use. */
  challenge: CodeChallenge | undefined;
  origin: Origin;
}

/**
 * Changes the caller's own account (PUT /user). All of it happens or nothing, in one statement; a new address or number
 * waits there for its confirmation. Two round trips with the caller's, one more for each new address.
 * @returns the user as it is now
 * @throws Failure for the first check that fails (as in GoTrue)
 */
export async function updateUser(context: AuthContext, caller: Caller, update: UserUpdate): Promise<Person> {
  const { user } = caller.person;
  const wanted = await checkUpdate(context, caller, update);
  checkMetadataSize(user.raw_user_meta_data, update.data);
  checkMetadataSize(user.raw_app_meta_data, update.appMetadata, 'app_metadata');
  const password =
    wanted.password === undefined
      ? undefined
      : await checkNewPassword(context, caller, { ...update, password: wanted.password });
  const link = {
    redirectTo: chooseRedirect(update.redirect, context.redirects),
    challenge: update.challenge,
  };
  const addresses = [
    ...(wanted.email ? [planEmailChange(context, user, wanted.email, link)] : []),
    ...(wanted.phone ? [planPhoneChange(context, user, wanted.phone)] : []),
  ];
  const limits = addresses.flatMap((one) => one.limits);
  const tx = context.database.autocommit();
  const changes: userChanges.UserChanges = {
    userId: user.id,
    sessionId: caller.sessionId,
    metadata: update.data,
    appMetadata: update.appMetadata,
    metadataLimits: METADATA_LIMITS,
    password,
    consumes: password?.consumes,
    ...(wanted.email === null ? { emailChange: null } : {}),
    ...(wanted.phone === null ? { phoneChange: null } : {}),
    ...Object.assign({}, ...addresses.map((one) => one.columns)),
    codes: addresses.flatMap((one) => one.codes),
    sentAt: addresses.flatMap((one) => one.sentAt),
    limits: limits.map(({ limit }) => limit),
    trace: {
      ...update.origin,
      audit: [
        ...(password === undefined ? [] : [auditEntry(user, 'user_updated_password')]),
        auditEntry(user, 'user_modified'),
      ],
    },
  };
  const changed = await counted(context, addresses, () => userChanges.update(tx, changes)).catch(taken);
  if (!changed.allowed) {
    const refusal = limits[changed.refusedBy ?? 0];
    throw sentTooRecently(refusal?.limit, changed, tx.now, refusal?.what === 'sms');
  }
  if (changed.tooLarge !== null) throw metadataTooLarge(changed.tooLarge);
  if (changed.person === undefined) throw await whyRefused(context, caller, password?.consumes);
  return changed.person;
}

/** What happened between the checks and the statement that found things changed. One more round trip. */
async function whyRefused(
  context: AuthContext,
  { person, sessionId }: Caller,
  nonce: string | undefined,
): Promise<Error> {
  const tx = context.database.autocommit();
  const now = await users.findByAccessToken(tx, person.user.id, sessionId ?? null);
  if (now === undefined) return failures.callerDeleted();
  if (sessionId !== undefined && !now.hasSession) return failures.callerSessionGone();
  if (isBanned(instant(now.user.banned_until), tx.now)) return failures.userBanned();
  return nonce === undefined ? failures.tryAgain() : failures.reauthenticationInvalid();
}

/** With the mails and messages of the changes counted among those of the hour. */
async function counted(
  context: AuthContext,
  addresses: readonly AddressChange[],
  work: () => Promise<userChanges.Changed>,
): Promise<userChanges.Changed> {
  const [first, ...others] = addresses;
  if (first === undefined) return await work();
  const rest = () => counted(context, others, work);
  const { what, codes } = first;
  return codes.length === 0 ? await rest() : await withinHourlyLimit(context, what, rest, codes.length);
}

/** Somebody else got the address or number while this one was being checked. */
function taken(error: unknown): never {
  if (isUniqueViolation(error, 'users_email_key')) throw failures.emailTaken();
  if (isUniqueViolation(error, 'users_phone_key')) throw failures.phoneTaken();
  throw error;
}
