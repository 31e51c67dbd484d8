import { Failure } from '@croft/failure';
import { expect, test } from 'vitest';
import * as failures from '../../failures.ts';
import { oauthError } from './oauth-error.ts';

test.each([
  ['a malformed request', failures.oauthStateMissing(), 'invalid_request'],
  ['missing credentials', failures.bearerTokenMissing(), 'unauthorized_client'],
  ['a refusal', failures.userBanned(), 'access_denied'],
  ['a bug', new Failure('unavailable', failures.UNEXPECTED, 'x'), 'server_error'],
  ['a database that is away', failures.databaseUnavailable(new Error('x')), 'temporarily_unavailable'],
])('%s is called by the status it would have', (_name, failure, error) => {
  const { code, message } = failure;
  expect(oauthError(failure)).toEqual({ error, error_code: code, error_description: message });
});

test.each([failures.tryAgain(), failures.emailRateExceeded(5), failures.userNotFound()])(
  'a status OAuth has no name for keeps its code alone',
  (failure) => {
    const { code, message } = failure;
    expect(oauthError(failure)).toEqual({ error_code: code, error_description: message });
  },
);
