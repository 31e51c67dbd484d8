import { invalidValue } from '../../../failures.ts';
import { objectOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import type { Client } from '../provider.ts';

/** What a sign-in is about at WorkOS; without one of them it does not know where to send people. */
const CHOICES = ['connection', 'organization', 'workos_provider'];

/**
 * Connections to providers that verify addresses themselves. Behind all others is the identity provider of an organization, whose
 * administrator can write any address, and whoever begins a sign-in names the organization.
 */
const VERIFYING: readonly unknown[] = ['AppleOAuth', 'GitHubOAuth', 'GoogleOAuth'];

/** WorkOS: the application names a connection, an organization or a provider; the profile comes with the token. */
export function workos(client: Client): OAuth2 {
  const base = client.url ?? 'https://api.workos.com';
  return {
    endpoints: () => ({ authorize: `${base}/sso/authorize`, token: `${base}/sso/token` }),
    scopes: [],
    fixedScopes: true,
    secretIn: 'body',
    passOn(given) {
      if (!CHOICES.some((name) => given.has(name))) {
        throw invalidValue(`WorkOS needs one of the parameters ${CHOICES.join(', ')}`);
      }
      // `provider` is taken at our own endpoint, so the one meant for WorkOS has another name there.
      return new Map(
        [...given].map(([name, value]) => [name === 'workos_provider' ? 'provider' : name, value]),
      );
    },
    async person({ tokens }) {
      const profile = objectOf(tokens['profile']);
      const name = [profile['first_name'], profile['last_name']].map(textOf).join(' ').trim();
      const { connection_id, organization_id } = profile;
      return describe({
        issuer: base,
        subject: profile['id'],
        name,
        picture: undefined,
        emails: onlyEmail(profile['email'], VERIFYING.includes(profile['connection_type'])),
        more: { custom_claims: { connection_id, organization_id } },
      });
    },
  };
}
