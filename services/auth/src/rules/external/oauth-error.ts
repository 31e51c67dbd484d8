import { type Failure, httpStatus } from '@croft/failure';
import { UNEXPECTED } from '../../failures.ts';

/** OAuth's name for each status a refusal can have (as in GoTrue); others have none there. */
const OAUTH_ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized_client',
  403: 'access_denied',
  500: 'server_error',
  503: 'temporarily_unavailable',
};

/** A refusal as OAuth names it, in the parameters of a redirect. */
export interface OAuthError {
  error?: string;
  error_code: string;
  error_description: string;
}

/** The parameters that tell a refusal to an application. */
export function oauthError(failure: Failure): OAuthError {
  // The one code that is answered 500; kinds of failures know no bug.
  const status = failure.code === UNEXPECTED ? 500 : httpStatus[failure.kind];
  const error = OAUTH_ERRORS[status];
  return {
    ...(error === undefined ? {} : { error }),
    error_code: failure.code,
    error_description: failure.message,
  };
}
