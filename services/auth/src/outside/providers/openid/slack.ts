import { objectOf, textOf } from '../answers.ts';
import type { OAuth2 } from '../oauth2.ts';
import { describe, onlyEmail } from '../profile.ts';
import { type Client, ProviderRefused } from '../provider.ts';

const SLACK = 'https://slack.com';

/** Slack by its old interface. */
export function slack(client: Client): OAuth2 {
  return slackAt(client, '/oauth/authorize', '/api/oauth.access');
}

/** Slack by OpenID Connect. */
export function slackOidc(client: Client): OAuth2 {
  return slackAt(client, '/openid/connect/authorize', '/api/openid.connect.token');
}

function slackAt(client: Client, authorize: string, token: string): OAuth2 {
  const base = client.url ?? SLACK;
  return {
    endpoints: () => ({ authorize: base + authorize, token: base + token }),
    scopes: ['profile', 'email', 'openid'],
    secretIn: 'body',
    async person({ get }) {
      const user = objectOf(await get(`${base}/api/openid.connect.userInfo`));
      // Slack answers every refusal with status 200.
      if (user['ok'] === false) throw new ProviderRefused('profile', textOf(user['error']).slice(0, 64));
      const team = textOf(user['https://slack.com/team_id']);
      return describe({
        issuer: SLACK,
        subject: textOf(user['https://slack.com/user_id']) || user['sub'],
        name: user['name'],
        picture: user['picture'],
        // A workspace confirms addresses; the claim is believed when it says otherwise.
        emails: onlyEmail(user['email'], user['email_verified'] !== false),
        more: { custom_claims: team === '' ? undefined : { 'https://slack.com/team_id': team } },
      });
    },
  };
}
