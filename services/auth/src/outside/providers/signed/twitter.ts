import { randomBytes } from 'node:crypto';
import { ask, askText, objectOf, tokenOf } from '../answers.ts';
import { describe, onlyEmail } from '../profile.ts';
import { type Client, type Provider, ProviderRefused, type Step } from '../provider.ts';
import { signedHeader } from './signature.ts';

const TWITTER = 'https://api.twitter.com';

/**
 * Twitter by OAuth 1.0a (RFC 5849): a request token first, whose secret signs the request for the access token. It
 * knows no state, so ours travels in the address people come back to.
 */
export function twitter(emailOptional: boolean, client: Client): Provider {
  const base = client.url ?? TWITTER;

  function sign(
    method: 'GET' | 'POST',
    url: string,
    token: { token: string; secret: string } | undefined,
    more: Readonly<Record<string, string>> = {},
  ): Record<string, string> {
    const oauth = {
      oauth_consumer_key: client.id,
      oauth_nonce: randomBytes(16).toString('hex'),
      oauth_signature_method: 'HMAC-SHA1',
      oauth_timestamp: String(Math.floor(client.clock.now().getTime() / 1000)),
      oauth_version: '1.0',
      ...(token === undefined ? {} : { oauth_token: token.token }),
      ...more,
    };
    const secrets = { consumer: client.secret, token: token?.secret ?? '' };
    return { authorization: signedHeader({ method, url, oauth }, secrets) };
  }

  async function askForToken(step: Step, url: string, headers: Record<string, string>, signal: AbortSignal) {
    const request = { method: 'POST', headers: { ...headers, accept: '*/*' } } as const;
    const answer = new URLSearchParams(await askText(client.http, step, url, request, signal));
    const token = tokenOf(answer.get('oauth_token'), step);
    const secret = answer.get('oauth_token_secret') ?? '';
    if (token === '' || secret === '') throw new ProviderRefused(step, 'the answer has no token');
    return { answer, token, secret };
  }

  return {
    id: 'twitter',
    emailOptional,
    answersBy: 'redirect',
    async begin({ state }, signal) {
      const url = `${base}/oauth/request_token`;
      const callback = new URL(client.redirectUri);
      callback.searchParams.set('state', state);
      const headers = sign('POST', url, undefined, { oauth_callback: callback.href });
      const { answer, token, secret } = await askForToken('begin', url, headers, signal);
      // Without this the token would work at any address (RFC 5849 §2.1).
      if (answer.get('oauth_callback_confirmed') !== 'true') {
        throw new ProviderRefused('begin', 'the callback was not confirmed');
      }
      const query = new URLSearchParams({ oauth_token: token });
      return { url: `${base}/oauth/authenticate?${query.toString()}`, kept: { token, secret } };
    },
    async finish({ code, form, kept }, signal) {
      const { token = '', secret = '' } = kept;
      if (token === '' || form['oauth_token'] !== token) {
        throw new ProviderRefused('exchange', 'the answer is about another request token');
      }
      const exchangeUrl = `${base}/oauth/access_token`;
      const headers = sign('POST', exchangeUrl, { token, secret }, { oauth_verifier: code });
      const access = await askForToken('exchange', exchangeUrl, headers, signal);
      const profileUrl = `${base}/1.1/account/verify_credentials.json?include_email=true`;
      const request = { headers: sign('GET', profileUrl, access) };
      const user = objectOf(await ask(client.http, 'profile', profileUrl, request, signal));
      const person = describe({
        issuer: TWITTER,
        subject: user['id_str'],
        name: user['name'],
        picture: user['profile_image_url_https'],
        // Only confirmed addresses are shown to applications.
        emails: onlyEmail(user['email'], true),
        more: { preferred_username: user['screen_name'], user_name: user['screen_name'] },
      });
      return { ...person, tokens: { access: access.token, refresh: undefined } };
    },
  };
}
