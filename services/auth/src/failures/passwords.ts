import { Failure } from '@croft/failure';

/** `PASSWORD_HIBP_FAIL_CLOSED` is on and nobody can say whether the password is known from a leak. */
export const leakCheckUnavailable = (cause: unknown): Failure =>
  new Failure(
    'unavailable',
    'hibp_unavailable',
    'New passwords cannot be checked for leaks at the moment, please retry later.',
    { retryAfterSeconds: 30, cause },
  );
