import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

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
export const audienceMismatch = (): Failure => invalidValue("Token audience doesn't match request audience");

// Administrators
export const notAdmin = (): Failure => new Failure('forbidden', 'not_admin', 'User not allowed');
export const adminSessionExpired = (): Failure =>
  new Failure('forbidden', 'session_expired', 'Session is no longer valid');

/** The operator in front of the service did not prove that it is one. */
export const operatorUnknown = (): Failure =>
  new Failure('unauthenticated', 'no_authorization', 'The operator token of this request is not valid');
