import { Failure } from '@croft/failure';
import { invalidValue } from './request.ts';

/** Clients read these in the words the reference has in place of OAuth's (as in GoTrue). */
const refused = (description: string, error = 'invalid request', cause?: unknown): Failure =>
  new Failure('invalid', 'validation_failed', description, {
    body: { error, error_description: description },
    ...(cause === undefined ? {} : { cause }),
  });

export const idTokenMissing = (): Failure => refused('id_token required');
export const idTokenIssuerMissing = (): Failure => refused('provider or client_id and issuer required');
/** @param cause which check failed; whoever made the token learns no more than that it is none */
export const idTokenBad = (cause: unknown): Failure => refused('Bad ID token', undefined, cause);
export const idTokenSubjectMissing = (): Failure => refused('Missing sub claim in id_token');
/** @param audience what the token says; only its beginning is shown */
export const idTokenAudience = (audience: readonly string[]): Failure =>
  refused(`Unacceptable audience in id_token: [${audience.join(' ').slice(0, 200)}]`);
export const idTokenNonceMissing = (): Failure =>
  refused('Passed nonce and nonce in id_token should either both exist or not.');
export const idTokenNonceDiffers = (): Failure => refused('Nonces mismatch', 'invalid nonce');
export const idTokenEmailMissing = (): Failure =>
  new Failure('invalid', 'email_address_not_provided', 'Error getting user email from external provider', {
    body: { error: 'invalid request', error_description: 'Error getting user email from external provider' },
  });

export const idTokenProviderDisabled = (issuer: string): Failure =>
  new Failure('invalid', 'provider_disabled', `Provider (issuer ${JSON.stringify(issuer)}) is not enabled`);
export const idTokenIssuerNotAllowed = (name: string): Failure =>
  invalidValue(`Custom OIDC provider ${JSON.stringify(name.slice(0, 200))} not allowed`);
/** The keys its tokens are checked with cannot be had. */
export const idTokenKeysUnavailable = (cause: unknown): Failure =>
  new Failure(
    'unavailable',
    'provider_unavailable',
    'The issuer of the ID token cannot be reached, please retry after a moment.',
    { retryAfterSeconds: 5, cause },
  );
