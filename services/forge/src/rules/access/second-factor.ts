/** A second factor of somebody that was proven once. */
export interface Factor {
  id: string;
  type: string;
}

/**
 * The proven factors among what the auth service says of a user, those that were asked for last first: who has several
 * authenticator apps most likely reads the code in the one he used last.
 */
export function provenFactors(user: unknown): Factor[] {
  const { factors } = (user ?? {}) as { factors?: unknown };
  if (!Array.isArray(factors)) return [];
  return (factors as Readonly<Record<string, unknown>>[])
    .filter((one) => one['status'] === 'verified')
    .map((one) => ({
      id: String(one['id']),
      type: String(one['factor_type']),
      askedAt: typeof one['last_challenged_at'] === 'string' ? one['last_challenged_at'] : '',
    }))
    .sort((one, other) => Number(one.askedAt < other.askedAt) - Number(one.askedAt > other.askedAt))
    .map(({ id, type }) => ({ id, type }));
}

/** What a code can be of: an authenticator app's has six digits, anything else is a recovery code. */
export const isAppCode = (code: string): boolean => /^\d{6}$/.test(code.replaceAll(' ', ''));

/** Whether a session shows the second factor of who has one; `aal` is what its access token says. */
export const showsFactor = (aal: string | undefined): boolean => aal === 'aal2';
