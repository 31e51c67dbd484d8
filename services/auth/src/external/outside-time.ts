import { Failure } from '@croft/failure';
import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { ProviderRefused } from '../outside/providers/provider.ts';
import { withinRequest } from '../outside/request-share.ts';
import type { AuthSettings } from '../settings.ts';

/** Ends everything a request asks of a provider. */
export function outsideSignal(
  settings: Pick<AuthSettings, 'INTERNAL_HTTP_TIMEOUT' | 'API_MAX_REQUEST_DURATION'>,
): AbortSignal {
  return AbortSignal.timeout(withinRequest(settings, settings.INTERNAL_HTTP_TIMEOUT));
}

/** The refusal for a provider that did not do its part; why goes to the log and to nobody else. */
export function providerRefused(
  context: Pick<AuthContext, 'log'>,
  provider: string,
  refusal: ProviderRefused,
  code: string,
): Failure {
  context.log.warn({ provider, step: refusal.step, reason: refusal.message }, 'an external provider failed');
  switch (refusal.step) {
    case 'begin':
      return new Failure(
        'unavailable',
        'provider_unavailable',
        `The provider ${provider} cannot be reached, please retry after a moment.`,
        { retryAfterSeconds: 5 },
      );
    case 'exchange':
      return failures.oauthCodeRefused(code, refusal);
    case 'keys':
    case 'profile':
      return failures.externalProfileUnavailable(refusal);
  }
}
