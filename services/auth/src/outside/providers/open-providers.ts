import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock } from '@croft/runtime';
import * as failures from '../../failures.ts';
import { type ProviderId, providerIds } from '../../rules/external/provider-ids.ts';
import { type AuthSettings, externalSettings } from '../../settings/index.ts';
import { type OAuth2, oauth2 } from './oauth2.ts';
import { apple } from './openid/apple.ts';
import { azure } from './openid/azure.ts';
import { google } from './openid/google.ts';
import { keycloak } from './openid/keycloak.ts';
import { linkedinOidc } from './openid/linkedin-oidc.ts';
import { slack, slackOidc } from './openid/slack.ts';
import { workos } from './openid/workos.ts';
import { bitbucket } from './plain/bitbucket.ts';
import { discord } from './plain/discord.ts';
import { facebook } from './plain/facebook.ts';
import { figma } from './plain/figma.ts';
import { fly } from './plain/fly.ts';
import { github } from './plain/github.ts';
import { gitlab } from './plain/gitlab.ts';
import { kakao } from './plain/kakao.ts';
import { linkedin } from './plain/linkedin.ts';
import { notion } from './plain/notion.ts';
import { snapchat } from './plain/snapchat.ts';
import { spotify } from './plain/spotify.ts';
import { twitch } from './plain/twitch.ts';
import { x } from './plain/x.ts';
import { zoom } from './plain/zoom.ts';
import type { Client, Provider } from './provider.ts';
import { twitter } from './signed/twitter.ts';

/** The external providers people can sign in with. */
export interface Providers {
  /**
   * The provider of a name, in any case.
   * @throws Failure `validation_failed` when there is none, it is not enabled, or its settings are not complete
   */
  find(name: string): Provider;
}

type Describe = (client: Client) => OAuth2;

/** Those that speak OAuth 2; Apple needs more than the others, and `twitter` speaks another protocol. */
const described: Readonly<Record<Exclude<ProviderId, 'apple' | 'twitter'>, Describe>> = {
  azure,
  bitbucket,
  discord,
  facebook,
  figma,
  fly,
  github,
  gitlab,
  google,
  kakao,
  keycloak,
  linkedin,
  linkedin_oidc: linkedinOidc,
  notion,
  slack,
  slack_oidc: slackOidc,
  snapchat,
  spotify,
  twitch,
  workos,
  x,
  zoom,
};

/** Opens the providers of the settings. Each is made when it is first used: nobody uses them all. */
export function openProviders(settings: AuthSettings, http: OutgoingHttp, clock: Clock): Providers {
  const opened = new Map<ProviderId, Provider>();
  return {
    find(name) {
      const wanted = name.toLowerCase();
      const id = providerIds.find((one) => one === wanted);
      // The name is shown as it was sent, but not at any length.
      if (id === undefined) throw failures.oauthProviderNotFound(name.slice(0, 64));
      const provider = opened.get(id) ?? open(settings, id, http, clock);
      opened.set(id, provider);
      return provider;
    },
  };
}

function open(settings: AuthSettings, id: ProviderId, http: OutgoingHttp, clock: Clock): Provider {
  const { enabled, clientId, secret, redirectUri, url, emailOptional, skipNonceCheck } = externalSettings(
    settings,
    id,
  );
  if (!enabled) throw failures.oauthProviderDisabled();
  if (clientId === undefined) throw failures.oauthProviderIncomplete('OAuth client ID');
  if (secret === undefined) throw failures.oauthProviderIncomplete('OAuth secret');
  if (redirectUri === undefined) throw failures.oauthProviderIncomplete('redirect URI');
  if (id === 'keycloak' && url === undefined) throw failures.oauthProviderIncomplete('URL');
  const client = { id: clientId, secret: secret.reveal(), redirectUri, url, skipNonceCheck, http, clock };
  if (id === 'twitter') return twitter(emailOptional, client);
  const special =
    id === 'apple'
      ? apple(client, { teamId: settings.EXTERNAL_APPLE_TEAM_ID, keyId: settings.EXTERNAL_APPLE_KEY_ID })
      : described[id](client);
  return oauth2(id, emailOptional, client, special);
}
