import { type Failure, httpStatus } from '@croft/failure';
import { UNEXPECTED } from '../failures.ts';

/** OAuth's name for each status a refusal of a link can have (§3.20 of the reference notes). */
const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** A refusal as the fragment of a redirect. */
export function failureFragment(failure: Failure): string {
  // The one code that is answered 500; kinds of failures know no bug.
  const status = failure.code === UNEXPECTED ? 500 : httpStatus[failure.kind];
  const error = OAUTH_ERRORS[status];
  return new URLSearchParams({
    ...(error === undefined ? {} : { error }),
    error_code: failure.code,
    error_description: failure.message,
    sb: '',
  }).toString();
}
