import { Failure, type FailureKind } from '@croft/failure';

/** The code that is answered 500; the kinds of failures know no bug. */
export const UNEXPECTED = 'unexpected_failure';
export const unexpected = (): Failure =>
  new Failure('unavailable', UNEXPECTED, 'Unexpected failure, please check server logs for more information');

/** What came is no request that can be read. */
export const unreadable = (kind: FailureKind, reason: string): Failure =>
  new Failure(kind, 'bad_request', reason);
export const bodyIsNoJson = (reason: string): Failure =>
  new Failure('invalid', 'bad_json', `Could not parse request body as JSON: ${reason}`);
/** A value of the request that cannot be accepted; most checks of the contract have only their own text. */
export const invalidValue = (message: string): Failure =>
  new Failure('invalid', 'validation_failed', message);
export const bodyTooLarge = (limitBytes: number): Failure =>
  new Failure('too-large', 'request_entity_too_large', `Request body is larger than ${limitBytes} bytes`);
export const routeNotFound = (path: string): Failure =>
  new Failure('not-found', 'not_found', `There is no endpoint at ${path}`);
export const methodNotAllowed = (method: string): Failure =>
  new Failure('not-allowed', 'method_not_allowed', `The method ${method} is not allowed here`);
export const requestTimedOut = (): Failure =>
  new Failure(
    'timed-out',
    'request_timeout',
    'Processing this request timed out, please retry after a moment.',
  );
export const databaseUnavailable = (cause: unknown): Failure =>
  new Failure(
    'unavailable',
    'database_unavailable',
    'The database cannot be reached, please retry after a moment.',
    { retryAfterSeconds: 2, cause },
  );
export const tooManyPasswords = (retryAfterSeconds: number): Failure =>
  new Failure(
    'unavailable',
    'over_capacity',
    'Too many passwords are being checked, please retry after a moment.',
    { retryAfterSeconds },
  );
/** The rows a request was about changed under it in a way only a new request can sort out. */
export const tryAgain = (): Failure =>
  new Failure('conflict', 'conflict', 'Another request changed this account at the same time, please retry.');

/** One client asks too often. */
export const overRequestRate = (retryAfterSeconds: number): Failure =>
  new Failure('exhausted', 'over_request_rate_limit', 'Request rate limit reached', { retryAfterSeconds });

// CAPTCHA
export const captchaTokenMissing = (): Failure =>
  new Failure('invalid', 'captcha_failed', 'captcha protection: request disallowed (no captcha_token found)');
/** @param codes what the service said, in its own words */
export const captchaRefused = (codes: readonly string[]): Failure =>
  new Failure('invalid', 'captcha_failed', `captcha protection: request disallowed (${codes.join(', ')})`);
export const captchaUnavailable = (cause: unknown): Failure =>
  new Failure('unavailable', UNEXPECTED, 'captcha verification process failed', { cause });
