import type { TokenType, UserRow } from '../../rows.ts';

/** Where a code was sent, and the account as it is now. */
export interface SentCode {
  tokenType: TokenType;
  relatesTo: string;
  user: Pick<UserRow, 'email' | 'phone' | 'email_change' | 'phone_change'>;
}

/**
 * Whether a code still proves something: it proves the address or number it was sent to, and somebody may have changed the
 * account's since. No address is a number, so which of the two it was need not be asked.
 */
export function isStillFor({ tokenType, relatesTo, user }: SentCode): boolean {
  switch (tokenType) {
    case 'email_change_token_new':
      return user.email_change === relatesTo;
    case 'email_change_token_current':
      return user.email_change !== null && user.email === relatesTo;
    case 'phone_change_token':
      return user.phone_change === relatesTo;
    case 'confirmation_token':
    case 'recovery_token':
    case 'phone_token':
    case 'reauthentication_token':
      return user.email === relatesTo || user.phone === relatesTo;
  }
}
