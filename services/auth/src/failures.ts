import { Failure } from '@croft/failure';

// Every way a request can be refused, named by the situation. Codes and texts are the protocol of GoTrue's clients.

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
    {
      retryAfterSeconds: 2,
      cause,
    },
  );
export const tooManyPasswords = (retryAfterSeconds: number): Failure =>
  new Failure(
    'unavailable',
    'over_capacity',
    'Too many passwords are being checked, please retry after a moment.',
    {
      retryAfterSeconds,
    },
  );
/** The rows a request was about changed under it in a way only a new request can sort out. */
export const tryAgain = (): Failure =>
  new Failure('conflict', 'conflict', 'Another request changed this account at the same time, please retry.');
/** The code that is answered 500; the kinds of failures know no bug. */
export const UNEXPECTED = 'unexpected_failure';
export const unexpected = (): Failure =>
  new Failure('unavailable', UNEXPECTED, 'Unexpected failure, please check server logs for more information');

// Tokens of the caller
export const bearerTokenMissing = (): Failure =>
  new Failure('unauthenticated', 'no_authorization', 'This endpoint requires a valid Bearer token');
export const accessTokenInvalid = (reason: string): Failure =>
  new Failure('forbidden', 'bad_jwt', `invalid JWT: unable to parse or verify signature, ${reason}`);
export const claimInvalid = (reason: string): Failure =>
  new Failure('forbidden', 'bad_jwt', `invalid claim: ${reason}`);
export const subjectNotUuid = (): Failure =>
  new Failure('invalid', 'bad_jwt', 'invalid claim: sub claim must be a UUID');
export const callerDeleted = (): Failure =>
  new Failure('forbidden', 'user_not_found', 'User from sub claim in JWT does not exist');
export const callerSessionGone = (): Failure =>
  new Failure('forbidden', 'session_not_found', 'Session from session_id claim in JWT does not exist');
export const userBanned = (): Failure => new Failure('forbidden', 'user_banned', 'User is banned');

// Sign-up
export const signupDisabled = (): Failure =>
  new Failure('unprocessable', 'signup_disabled', 'Signups not allowed for this instance');
export const anonymousSignInsDisabled = (): Failure =>
  new Failure('unprocessable', 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled');
export const emailSignupsDisabled = (): Failure =>
  new Failure('invalid', 'email_provider_disabled', 'Email signups are disabled');
export const phoneSignupsDisabled = (): Failure =>
  new Failure('invalid', 'phone_provider_disabled', 'Phone signups are disabled');
export const userAlreadyExists = (): Failure =>
  new Failure('unprocessable', 'user_already_exists', 'User already registered');
export const mailedTooRecently = (seconds: number): Failure =>
  new Failure(
    'exhausted',
    'over_email_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
    { retryAfterSeconds: seconds },
  );
export const weakPassword = (message: string, reasons: readonly string[]): Failure =>
  new Failure('unprocessable', 'weak_password', message, { body: { weak_password: { reasons } } });

// Sign-in
export const grantTypeUnsupported = (): Failure =>
  new Failure('invalid', 'invalid_credentials', 'unsupported_grant_type');
export const emailLoginsDisabled = (): Failure =>
  new Failure('unprocessable', 'email_provider_disabled', 'Email logins are disabled');
export const phoneLoginsDisabled = (): Failure =>
  new Failure('unprocessable', 'phone_provider_disabled', 'Phone logins are disabled');
export const invalidCredentials = (): Failure =>
  new Failure('invalid', 'invalid_credentials', 'Invalid login credentials');
export const loginBanned = (): Failure => new Failure('invalid', 'user_banned', 'User is banned');
export const emailNotConfirmed = (): Failure =>
  new Failure('invalid', 'email_not_confirmed', 'Email not confirmed');

// Refresh
export const refreshTokenNotFound = (): Failure =>
  new Failure('invalid', 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found');
export const refreshTokenReused = (): Failure =>
  new Failure('invalid', 'refresh_token_already_used', 'Invalid Refresh Token: Already Used');
export const refreshBanned = (): Failure =>
  new Failure('invalid', 'user_banned', 'Invalid Refresh Token: User Banned');
export const sessionExpired = (): Failure =>
  new Failure('invalid', 'session_expired', 'Invalid Refresh Token: Session Expired');

// Verification
export const codeInvalid = (): Failure =>
  new Failure('forbidden', 'otp_expired', 'Token has expired or is invalid');
export const linkInvalid = (): Failure =>
  new Failure('forbidden', 'otp_expired', 'Email link is invalid or has expired');
export const verifyEmailInvalid = (): Failure =>
  new Failure('unprocessable', 'validation_failed', 'Invalid email format');
