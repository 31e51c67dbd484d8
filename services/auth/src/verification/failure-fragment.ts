import { type Failure, httpStatus } from '@croft/failure';

/** OAuth's name for each status a refusal of a link can have (§3.20 of the reference notes). */
const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  503: 'temporarily_unavailable',
};

/** A refusal as the fragment of a redirect. */
export function failureFragment(failure: Failure): string {
  const error = OAUTH_ERRORS[httpStatus[failure.kind]];
  return new URLSearchParams({
    ...(error === undefined ? {} : { error }),
    error_code: failure.code,
    error_description: failure.message,
    sb: '',
  }).toString();
}
