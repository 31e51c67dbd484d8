import { DIGITS, STEP_SECONDS } from './totp.ts';

/** A name in front of a code in an app; with more, the QR code would not hold it. */
export const MAX_ISSUER_BYTES = 64;
const MAX_ACCOUNT_CHARACTERS = 100;

/** What an authenticator app reads from a QR code (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
export function otpauthUri(factor: { issuer: string; account: string; secret: string }): string {
  // By characters, so that none is cut in half.
  const account = Array.from(factor.account).slice(0, MAX_ACCOUNT_CHARACTERS).join('');
  const label = [factor.issuer, account].map(encodeURIComponent).join(':');
  const query = [
    'algorithm=SHA1',
    `digits=${DIGITS}`,
    `issuer=${encodeURIComponent(factor.issuer)}`,
    `period=${STEP_SECONDS}`,
    `secret=${factor.secret}`,
  ];
  return `otpauth://totp/${label}?${query.join('&')}`;
}
