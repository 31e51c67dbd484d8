/** What of a user tells who has shown that the account is theirs. */
export interface Proofs {
  email_confirmed_at: string | null;
  phone_confirmed_at: string | null;
  given_by_admin: boolean;
}

/**
 * Whether somebody has shown before that the account is theirs, as far as it matters to whoever proves its address or its
 * number now. A number proves nothing about the address beside it, for a stranger comes in with an address nobody
 * proved where that is allowed, and adds a number of his own; unless an administrator gave the account, who says with it
 * that both are one person's. An address does speak for the account of a number: nobody comes in by a number that was not
 * proven, so no stranger is there to add one. The statements of `sessions.open` and `forgetUnproven` say the same.
 */
export function isProvenTo(kind: 'email' | 'phone', user: Proofs): boolean {
  const isProven = user.email_confirmed_at !== null || user.phone_confirmed_at !== null;
  return kind === 'phone' || user.given_by_admin ? isProven : user.email_confirmed_at !== null;
}
