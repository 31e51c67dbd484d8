import type { Person } from '../../rows.ts';
import { pendingPerson } from './disguised-user.ts';
import { inOrderOfJsonb } from './jsonb-order.ts';

/** What a sign-up with a phone asks for, as it goes into the rows of a new user. */
export interface PhoneSignUpDraft {
  aud: string;
  role: string;
  phone: string;
  /** What the client sent as `data`. */
  data: Record<string, unknown>;
}

/** Metadata the service itself keeps of a user with a phone. */
export const PHONE_APP_METADATA = { provider: 'phone', providers: ['phone'] };

/** Longest address a user may have, in characters. */
const MAX_EMAIL = 255;

/**
 * Data of the phone identity, which is also the user's first metadata; `data` cannot claim what we alone decide. An `email` in it is
 * indexed, which takes no more than an address.
 */
export function phoneIdentityData(
  id: string,
  draft: Pick<PhoneSignUpDraft, 'phone' | 'data'>,
  verified: boolean,
): Record<string, unknown> {
  const { email, ...data } = draft.data;
  const address = typeof email === 'string' && email.length <= MAX_EMAIL ? { email } : {};
  return {
    ...data,
    ...address,
    sub: id,
    phone: draft.phone,
    email_verified: false,
    phone_verified: verified,
  };
}

/** The account a sign-up would have made just now, to be shown for a number that is taken. */
export function pendingPhonePerson(
  id: string,
  identityId: string,
  draft: PhoneSignUpDraft,
  now: Date,
): Person {
  const { user, identities } = pendingPerson(id, identityId, { ...draft, email: '' }, now);
  const data = inOrderOfJsonb(phoneIdentityData(id, draft, false));
  return {
    user: {
      ...user,
      email: null,
      phone: draft.phone,
      raw_app_meta_data: PHONE_APP_METADATA,
      raw_user_meta_data: data,
    },
    identities: identities.map((one) => ({ ...one, provider: 'phone', email: null, identity_data: data })),
  };
}
