import { invalidValue } from '../../failures.ts';
import { MAX_ISSUER_BYTES } from './otpauth.ts';

const MAX_NAME_BYTES = 255;

/**
 * What the owner calls a factor.
 * @throws Failure `validation_failed` when it is longer than a list can show
 */
export function checkFactorName(name: string): string {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES || !name.isWellFormed()) {
    throw invalidValue(`friendly_name must be a text of at most ${MAX_NAME_BYTES} bytes`);
  }
  return name;
}

/**
 * Whose codes an app shows; without one the site's host.
 * @throws Failure `validation_failed` for what a QR code has no room for
 */
export function checkIssuer(issuer: string, siteUrl: string): string {
  if (Buffer.byteLength(issuer) > MAX_ISSUER_BYTES || !issuer.isWellFormed()) {
    throw invalidValue(`issuer must be a text of at most ${MAX_ISSUER_BYTES} bytes`);
  }
  return issuer === '' ? new URL(siteUrl).host.slice(0, MAX_ISSUER_BYTES) : issuer;
}
