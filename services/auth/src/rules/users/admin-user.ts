import * as failures from '../../failures.ts';
import { isProvenTo, type Proofs } from './proven.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NIL = '00000000-0000-0000-0000-000000000000';
const MAX_NAME_BYTES = 255;

/**
 * The id of a user in a path.
 * @throws Failure `validation_failed`, 404, when no user can have it
 */
export function checkUserId(text: string): string {
  if (!UUID.test(text)) throw failures.userIdNotUuid();
  return text.toLowerCase();
}

/**
 * The id a new user is to have.
 * @throws Failure when it is no UUID, or the one that stands for nobody
 */
export function checkNewUserId(text: string): string {
  if (!UUID.test(text)) throw failures.newUserIdInvalid();
  if (text === NIL) throw failures.newUserIdNil();
  return text.toLowerCase();
}

/**
 * A role or an audience; it travels in every token of its user.
 * @throws Failure when it is longer than a header can take
 */
export function checkName(what: 'role' | 'aud', text: string): string {
  if (Buffer.byteLength(text) > MAX_NAME_BYTES) {
    throw failures.invalidValue(`${what} cannot be longer than ${MAX_NAME_BYTES} bytes`);
  }
  return text;
}

/** A user an administrator makes, as far as its address and number go. */
export interface NewAddresses {
  id: string;
  email: string | null;
  phone: string | null;
  emailConfirmed: boolean;
  phoneConfirmed: boolean;
}

/** A way to sign in that a new user has. */
export interface NewIdentity {
  provider: 'email' | 'phone';
  provider_id: string;
  data: Record<string, unknown>;
}

/** One way to sign in for the address and one for the number, with what is known of both. */
export function identitiesOf(user: NewAddresses): NewIdentity[] {
  const { id, email, phone } = user;
  const verified = { email_verified: user.emailConfirmed, phone_verified: user.phoneConfirmed };
  return [
    ...(email === null
      ? []
      : [{ provider: 'email' as const, provider_id: id, data: { sub: id, email, ...verified } }]),
    ...(phone === null
      ? []
      : [{ provider: 'phone' as const, provider_id: id, data: { sub: id, phone, ...verified } }]),
  ];
}

/** What the service notes of a new user in metadata the client cannot write, under what the administrator gives. */
export function appMetadataOf(
  identities: readonly NewIdentity[],
  given: Record<string, unknown>,
): Record<string, unknown> {
  const providers = identities.map(({ provider }) => provider);
  return withoutNulls({ provider: providers[0], providers, ...given });
}

/** The first metadata of a new user: what the administrator gives, and what was confirmed by the same word. */
export function userMetadataOf(user: NewAddresses, given: Record<string, unknown>): Record<string, unknown> {
  return {
    ...withoutNulls(given),
    ...(user.email !== null && user.emailConfirmed ? { email_verified: true } : {}),
    ...(user.phone !== null && user.phoneConfirmed ? { phone_verified: true } : {}),
  };
}

/**
 * Whether the account is what somebody's sign-up left, no administrator's, and nobody showed since that the address
 * is theirs.
 */
export function isStrangers(user: Proofs & { invited_at: string | null }): boolean {
  return !isProvenTo('email', user) && !user.given_by_admin && user.invited_at === null;
}

/** Metadata laid over none: a member that is null is a member to delete. */
function withoutNulls(given: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}
