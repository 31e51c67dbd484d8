import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import { withinHourlyLimit } from '../codes/hourly-limit.ts';
import { sendLimit, sentTooRecently } from '../codes/send-limit.ts';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import { askBeforeUserCreated, insertUser } from '../hooks/new-users.ts';
import type { Person } from '../rows.ts';
import { checkChannel, checkPhoneNumber, type SmsChannel } from '../rules/addresses/phone-number.ts';
import { auditEntry, BY_PHONE } from '../rules/audit.ts';
import { uuidFrom } from '../rules/users/disguised-user.ts';
import {
  PHONE_APP_METADATA,
  type PhoneSignUpDraft,
  pendingPhonePerson,
  phoneIdentityData,
} from '../rules/users/phone-user.ts';
import { decideSignUp } from '../rules/users/sign-up.ts';
import { issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import type { AuthSettings } from '../settings/index.ts';
import type { SignUpResult } from '../sign-up/checked-sign-up.ts';
import { waitingHash } from '../sign-up/waiting-hash.ts';
import * as auditLog from '../store/audit-log.ts';
import * as oneTimeTokens from '../store/one-time-tokens.ts';
import type { SendLimit } from '../store/send-limits.ts';
import * as sessions from '../store/sessions.ts';
import * as users from '../store/users.ts';
import { preparePhoneCode } from './prepare-phone-code.ts';

/** What of a sign-up with a number is checked before anything is looked up. */
export interface PhoneSignUpFields {
  phone: string;
  channel: string;
  code_challenge: string;
}

/** A sign-up with a number; whatever all sign-ups have in common was checked. */
export interface PhoneSignUpRequest extends PhoneSignUpFields {
  password: string;
  /** Of the password that was sent. */
  passwordHash: string;
  data: Record<string, unknown>;
  origin: Origin;
}

interface Checked {
  draft: PhoneSignUpDraft;
  channel: SmsChannel;
  password: string;
  passwordHash: string;
  origin: Origin;
}

/**
 * The checks only a sign-up with a number has (POST /signup, steps 7 to 11 of GoTrue).
 * @throws Failure for the first one that fails
 */
export function checkPhoneSignUp(
  fields: PhoneSignUpFields,
  settings: AuthSettings,
): { phone: string; channel: SmsChannel } {
  const channel = checkChannel(fields.channel, settings.SMS_PROVIDER);
  if (fields.code_challenge !== '') throw failures.phoneSignupWithPkce();
  if (!settings.EXTERNAL_PHONE_ENABLED) throw failures.phoneSignupsDisabled();
  return { phone: checkPhoneNumber(fields.phone), channel };
}

/**
 * Makes an account for a number (POST /signup with `phone`). A number somebody has is answered like a new one, and as with
 * addresses the number of round trips does not tell: two; with autoconfirm, where the answer tells anyway, one, or two when
 * it is taken.
 * @throws Failure `over_sms_send_rate_limit` within `SMS_MAX_FREQUENCY` of the last answer, taken or not;
 *   `user_already_exists` when numbers need no confirmation
 */
export async function signUpWithPhone(
  context: AuthContext,
  request: PhoneSignUpRequest,
): Promise<SignUpResult> {
  const { settings } = context;
  const { phone, channel } = checkPhoneSignUp(request, settings);
  const { data, password, passwordHash, origin } = request;
  const draft = { aud: settings.JWT_AUD, role: settings.JWT_DEFAULT_GROUP_NAME, phone, data };
  const signUp: Checked = { draft, channel, password, passwordHash, origin };
  return settings.SMS_AUTOCONFIRM
    ? await signUpConfirmed(context, signUp)
    : await signUpPending(context, signUp);
}

async function signUpConfirmed(context: AuthContext, signUp: Checked): Promise<SignUpResult> {
  const tx = context.database.autocommit();
  const { row, actor } = newUser(signUp, true);
  await askBeforeUserCreated(context, row, signUp.origin);
  const session = prepareSession('password');
  const audit = [auditEntry(actor, 'user_signedup', BY_PHONE), auditEntry(actor, 'login', BY_PHONE)];
  const { created, person } = await insertUser(context, tx, {
    ...row,
    session: session.row,
    trace: { ...signUp.origin, audit },
  });
  if (created && person)
    return { issued: await issueFirstTokens(context, person, session, tx.now, signUp.origin) };
  return await signUpAgain(context, signUp, person, undefined);
}

async function signUpPending(context: AuthContext, signUp: Checked): Promise<SignUpResult> {
  const tx = context.database.autocommit();
  const { row, actor } = newUser(signUp, false);
  await askBeforeUserCreated(context, row, signUp.origin);
  const limit = sendLimit(context, 'phone', row.phone);
  const existing = await users.findByPhone(tx, row.phone);
  const passwordHash = await waitingHash(context, 'phone', signUp, existing);
  if (existing !== undefined) {
    const again = { ...signUp, passwordHash };
    return await withinHourlyLimit(context, 'sms', () => signUpAgain(context, again, existing, limit));
  }
  const user: users.NewUser = {
    ...row,
    code: codeFor(context, signUp),
    sentAt: ['confirmation_sent_at'],
    limit,
    trace: { ...signUp.origin, audit: [auditEntry(actor, 'user_confirmation_requested', BY_PHONE)] },
  };
  const inserted = await withinHourlyLimit(context, 'sms', () => insertUser(context, tx, user));
  if (!inserted.allowed) throw sentTooRecently(limit, inserted, tx.now, true);
  if (inserted.created && inserted.person) return { pending: inserted.person };
  // Somebody signed up at the same moment; this one has counted already.
  const now = inserted.person ?? (await users.findByPhone(tx, row.phone));
  const again = { ...signUp, passwordHash: await waitingHash(context, 'phone', signUp, now) };
  return await signUpAgain(context, again, now, undefined);
}

/**
 * A sign-up with a number somebody has.
 * @param limit of messages to the number; undefined when this one has been counted
 */
async function signUpAgain(
  context: AuthContext,
  signUp: Checked,
  seen: Person | undefined,
  limit: SendLimit | undefined,
): Promise<SignUpResult & { allowed: true }> {
  const { database, settings, atRest } = context;
  const { draft, origin, passwordHash } = signUp;
  const tx = database.autocommit();
  // Somebody may have made the account while the statement before waited for them; it could not see that one then.
  const existing = seen ?? (await users.findByPhone(tx, draft.phone));
  // Without a proof, nobody gets an account that an administrator made for somebody.
  const isGiven = existing?.user.given_by_admin === true;
  const account = existing && {
    confirmed: existing.user.confirmed_at !== null || (settings.SMS_AUTOCONFIRM && isGiven),
  };
  const decision = decideSignUp(account, settings.SMS_AUTOCONFIRM);
  // It went away again.
  if (existing === undefined || decision === 'create') throw failures.tryAgain();
  const { user, identities } = existing;
  const fauxIdentityId = uuidFrom(atRest.stableId(`identity ${draft.phone}`));

  switch (decision) {
    case 'confirm-again': {
      const sent = await oneTimeTokens.send(tx, {
        userId: user.id,
        limit,
        // Password and data count when this very code is proven: whoever signed the number up before may be another.
        codes: [
          {
            ...codeFor(context, signUp),
            ...(isGiven
              ? {}
              : { pendingPassword: passwordHash, pendingData: phoneIdentityData(user.id, draft, false) }),
          },
        ],
        sentAt: ['confirmation_sent_at'],
        trace: { ...origin, audit: [auditEntry(user, 'user_confirmation_requested', BY_PHONE)] },
      });
      if (!sent.allowed) throw sentTooRecently(limit, sent, tx.now, true);
      const identityId = identities[0]?.id ?? fauxIdentityId;
      return { allowed: true, pending: pendingPhonePerson(user.id, identityId, draft, tx.now) };
    }
    case 'confirm-now': {
      const session = prepareSession('password');
      const audit = [auditEntry(user, 'user_signedup', BY_PHONE), auditEntry(user, 'login', BY_PHONE)];
      const person = await sessions.open(tx, {
        userId: user.id,
        session: session.row,
        newPasswordHash: passwordHash,
        confirms: 'phone',
        startsOver: phoneIdentityData(user.id, draft, true),
        onlyUnconfirmed: true,
        trace: { ...origin, audit },
      });
      // Somebody else's sign-up confirmed the account at the same moment, or it may not be signed in to.
      if (person === undefined) return await refuse(context, signUp, existing);
      return { allowed: true, issued: await issueFirstTokens(context, person, session, tx.now, origin) };
    }
    case 'disguise': {
      const sent = await oneTimeTokens.pretend(tx, limit, repeatedSignUp(signUp, existing));
      if (!sent.allowed) throw sentTooRecently(limit, sent, tx.now, true);
      const id = uuidFrom(atRest.stableId(`user ${draft.phone}`));
      return { allowed: true, pending: pendingPhonePerson(id, fauxIdentityId, draft, tx.now) };
    }
    case 'refuse':
      return await refuse(context, signUp, existing);
  }
}

async function refuse(context: AuthContext, signUp: Checked, existing: Person): Promise<never> {
  await auditLog.insert(context.database.autocommit(), repeatedSignUp(signUp, existing));
  throw failures.userAlreadyExists();
}

function repeatedSignUp(signUp: Checked, { user }: Person): auditLog.Trace {
  return { ...signUp.origin, audit: [auditEntry(user, 'user_repeated_signup', BY_PHONE)] };
}

function codeFor(context: AuthContext, { draft, channel }: Checked): oneTimeTokens.StoredCode {
  return preparePhoneCode(context, { purpose: 'signup', phone: draft.phone, channel }).stored;
}

function newUser({ draft, passwordHash }: Checked, confirmed: boolean) {
  const id = randomUUID();
  const { aud, role, phone } = draft;
  const identityData = phoneIdentityData(id, draft, confirmed);
  return {
    row: {
      id,
      aud,
      role,
      email: null,
      phone,
      emailConfirmed: false,
      phoneConfirmed: confirmed,
      passwordHash,
      appMetadata: PHONE_APP_METADATA,
      userMetadata: identityData,
      identity: { provider: 'phone', providerId: id, data: identityData },
      isAnonymous: false,
    },
    actor: { id, email: null, phone, is_sso_user: false, raw_user_meta_data: identityData },
  };
}
