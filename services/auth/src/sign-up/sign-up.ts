import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { AuthContext } from '../context.ts';
import type { Person } from '../rows.ts';
import { auditEntry, BY_EMAIL } from '../rules/audit.ts';
import { EMAIL_APP_METADATA, emailIdentityData, type SignUpDraft } from '../rules/disguised-user.ts';
import { chooseRedirect, type RedirectWish } from '../rules/redirect.ts';
import { type IssuedSession, issueFirstTokens, prepareSession } from '../sessions/issue-tokens.ts';
import * as users from '../store/users.ts';
import { prepareConfirmation } from '../verification/prepare-confirmation.ts';
import { checkSignUp, type SignUpFields } from './check-sign-up.ts';
import { signUpAgain } from './sign-up-again.ts';

/** A sign-up as it arrives. */
export interface SignUpRequest extends SignUpFields {
  data: Record<string, unknown>;
  origin: Origin;
  redirect: RedirectWish;
}

/** A sign-up that was checked. */
export interface CheckedSignUp {
  draft: SignUpDraft;
  passwordHash: string;
  redirectTo: string;
  origin: Origin;
}

/** Either the person is signed in already, or a mail is on its way. */
export type SignUpResult = { issued: IssuedSession } | { pending: Person };

/**
 * Makes an account for an address (POST /signup). The insert comes first and tells by itself whether the address was
 * free, so that two sign-ups at the same moment end as one account and one duplicate. One round trip, three when the
 * address is taken.
 */
export async function signUp(context: AuthContext, request: SignUpRequest): Promise<SignUpResult> {
  const { settings, passwords, redirects } = context;
  const { origin, data, password, redirect } = request;
  const email = checkSignUp(request, settings);
  const signUp: CheckedSignUp = {
    // Not the audience the client wishes: the address would be taken, and its owner find no account where they look.
    draft: { aud: settings.JWT_AUD, role: settings.JWT_DEFAULT_GROUP_NAME, email, data },
    passwordHash: await passwords.hash(password),
    redirectTo: chooseRedirect(redirect, redirects),
    origin,
  };
  const created = settings.MAILER_AUTOCONFIRM
    ? await createConfirmed(context, signUp)
    : await createPending(context, signUp);
  return created ?? (await signUpAgain(context, signUp));
}

async function createConfirmed(
  context: AuthContext,
  signUp: CheckedSignUp,
): Promise<SignUpResult | undefined> {
  const tx = context.database.autocommit();
  const { row, actor } = newUser(signUp.draft, true);
  const session = prepareSession('password');
  const audit = [auditEntry(actor, 'user_signedup', BY_EMAIL), auditEntry(actor, 'login', BY_EMAIL)];
  const person = await users.insert(tx, {
    ...row,
    passwordHash: signUp.passwordHash,
    session: session.row,
    trace: { ...signUp.origin, audit },
  });
  return person && { issued: issueFirstTokens(context, person, session, tx.now) };
}

async function createPending(context: AuthContext, signUp: CheckedSignUp): Promise<SignUpResult | undefined> {
  const { row, actor } = newUser(signUp.draft, false);
  const audit = [auditEntry(actor, 'user_confirmation_requested', BY_EMAIL)];
  const person = await users.insert(context.database.autocommit(), {
    ...row,
    passwordHash: signUp.passwordHash,
    confirmation: prepareConfirmation(context, row.email, signUp.redirectTo),
    trace: { ...signUp.origin, audit },
  });
  return person && { pending: person };
}

function newUser(draft: SignUpDraft, confirmed: boolean) {
  const id = randomUUID();
  const { aud, role, email } = draft;
  const identityData = emailIdentityData(id, draft, confirmed);
  return {
    row: { id, aud, role, email, appMetadata: EMAIL_APP_METADATA, identityData },
    actor: { id, email, phone: null, is_sso_user: false, raw_user_meta_data: identityData },
  };
}
