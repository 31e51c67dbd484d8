import type { AuthContext } from '../context.ts';
import * as failures from '../failures.ts';
import type { IdTokenSource, NamedIssuer } from '../outside/providers/open-id-tokens.ts';
import { type ExternalPerson, ProviderRefused } from '../outside/providers/provider.ts';
import { hashOfAlgorithm } from '../outside/providers/signature-algorithms.ts';
import { checkPresented } from '../rules/external/presented-id-token.ts';
import { outsideSignal } from './outside-time.ts';

/** An ID token as an application presents it that got it by itself. */
export interface PresentedIdToken extends NamedIssuer {
  idToken: string;
  nonce: string;
  accessToken: string;
}

/** Who an ID token speaks of, and who vouches for them. */
export interface ToldByIdToken {
  source: IdTokenSource;
  person: ExternalPerson;
}

/**
 * Checks an ID token, without a round trip to the database.
 * @throws Failure in the words of GoTrue; why a token is bad goes to the log and to nobody else
 */
export async function readIdToken(context: AuthContext, presented: PresentedIdToken): Promise<ToldByIdToken> {
  const { idToken, provider, issuer, clientId } = presented;
  if (idToken === '') throw failures.idTokenMissing();
  if (provider === '' && (issuer === '' || clientId === '')) throw failures.idTokenIssuerMissing();
  const source = await context.outside.idTokens.find(presented);
  try {
    const { claims, alg } = await source.read(idToken, outsideSignal(context.settings));
    checkPresented({ claims, hash: hashOfAlgorithm(alg) }, { ...source, ...presented }, context.clock.now());
    const tokens = { access: presented.accessToken, refresh: undefined };
    return { source, person: { ...source.describe(claims), tokens } };
  } catch (error) {
    if (!(error instanceof ProviderRefused)) throw error;
    context.log.info({ provider: source.provider, reason: error.message }, 'an ID token was refused');
    throw error.step === 'keys' ? failures.idTokenKeysUnavailable(error) : failures.idTokenBad(error);
  }
}
