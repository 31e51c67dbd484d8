import { randomUUID } from 'node:crypto';
import type { Origin } from '../caller/origin.ts';
import type { MailCode } from '../codes/prepare-code.ts';
import type { CodeChallenge, Person } from '../rows.ts';
import type { Actor } from '../rules/audit.ts';
import { EMAIL_APP_METADATA, emailIdentityData, type SignUpDraft } from '../rules/users/disguised-user.ts';
import type { IssuedSession } from '../sessions/issue-tokens.ts';
import type { NewUser } from '../store/users.ts';

/** A sign-up with an address that was checked. */
export interface CheckedSignUp {
  draft: SignUpDraft;
  password: string;
  passwordHash: string;
  redirectTo: string;
  /** What makes the link of the mail one that only its asker can use. */
  challenge: CodeChallenge | undefined;
  origin: Origin;
}

/** Either the person is signed in already, or a mail is on its way. */
export type SignUpResult = { issued: IssuedSession } | { pending: Person };

/** The mail that asks to confirm a sign-up. */
export function confirmationOf({ draft, redirectTo, challenge }: CheckedSignUp): MailCode {
  return { purpose: 'signup', to: draft.email, redirectTo, challenge, data: draft.data };
}

/** The user a sign-up makes, and how the audit log names it. */
export function newUserOf(
  { draft, passwordHash }: CheckedSignUp,
  isConfirmed: boolean,
): { row: Omit<NewUser, 'trace'>; actor: Actor } {
  const id = randomUUID();
  const { aud, role, email } = draft;
  const identityData = emailIdentityData(id, draft, isConfirmed);
  return {
    row: {
      id,
      aud,
      role,
      email,
      phone: null,
      emailConfirmed: isConfirmed,
      phoneConfirmed: false,
      passwordHash,
      appMetadata: EMAIL_APP_METADATA,
      userMetadata: identityData,
      identity: { provider: 'email', providerId: id, data: identityData },
      isAnonymous: false,
    },
    actor: { id, email, phone: null, is_sso_user: false, raw_user_meta_data: identityData },
  };
}
