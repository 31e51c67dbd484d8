import {
  boolean,
  duration,
  list,
  type Secret,
  type Setting,
  secret,
  text,
  url,
  type Values,
} from '@croft/settings';
import { type ProviderId, providerIds } from '../rules/external/provider-ids.ts';
import { durationFrom, exactUrl, idTokenIssuers } from './kinds.ts';

const OFF = 'false';

/** What every provider can be told; `<ID>` stands for each of them in capitals. */
const ofEveryProvider = {
  ENABLED: {
    kind: boolean,
    default: OFF,
    about: `Sign-in with this provider. \`<ID>\` is one of ${providerIds.map((id) => `\`${id.toUpperCase()}\``).join(', ')}.`,
  },
  CLIENT_ID: {
    kind: text,
    about:
      'OAuth client id, required when enabled; of several, separated by commas, the first is used, and ID tokens may be meant for any.',
  },
  SECRET: { kind: secret, about: 'OAuth client secret, required when enabled.' },
  REDIRECT_URI: {
    kind: exactUrl,
    about: 'Where the provider sends people back to, `<API_EXTERNAL_URL>/callback`; required when enabled.',
  },
  URL: {
    kind: url,
    about: 'Base URL of the provider instead of its public one; Keycloak needs it.',
  },
  EMAIL_OPTIONAL: { kind: boolean, default: OFF, about: 'People without an address may come in.' },
  SKIP_NONCE_CHECK: { kind: boolean, default: OFF, about: 'ID tokens are taken without their nonce.' },
} as const satisfies Record<string, Setting<unknown>>;

type Members = typeof ofEveryProvider;

/** One member for every provider. */
type Family<M extends keyof Members> = {
  [Name in `EXTERNAL_${Uppercase<ProviderId>}_${M}`]: Members[M];
};

/** `EXTERNAL_GITHUB_CLIENT_ID` and its 167 siblings, each with the kind its member has. */
type ProviderSettings = Family<'ENABLED'> &
  Family<'CLIENT_ID'> &
  Family<'SECRET'> &
  Family<'REDIRECT_URI'> &
  Family<'URL'> &
  Family<'EMAIL_OPTIONAL'> &
  Family<'SKIP_NONCE_CHECK'>;

function providerSettings(): ProviderSettings {
  const members = Object.entries<Setting<unknown>>(ofEveryProvider).map(
    ([member, setting]) => [member, { ...setting, familyName: `EXTERNAL_<ID>_${member}` }] as const,
  );
  return Object.fromEntries(
    providerIds.flatMap((id) =>
      members.map(([member, setting]) => [`EXTERNAL_${id.toUpperCase()}_${member}`, setting] as const),
    ),
  ) as unknown as ProviderSettings;
}

/** Sign-in with accounts from elsewhere. */
export const externalProviderSettings = {
  ...providerSettings(),
  EXTERNAL_APPLE_TEAM_ID: {
    kind: text,
    about: 'Team at Apple, when `EXTERNAL_APPLE_SECRET` is a private key (PEM) to sign client secrets with.',
  },
  EXTERNAL_APPLE_KEY_ID: { kind: text, about: 'Id of that private key.' },
  EXTERNAL_IOS_BUNDLE_ID: {
    kind: text,
    about: 'A further client id that ID tokens of Apple may be meant for.',
  },
  EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: {
    kind: idTokenIssuers,
    default: '',
    about:
      'Issuers besides the providers whose ID tokens sign people in; an address they call verified counts as that. Those of providers may be listed, and need no client ids here.',
  },
  SECURITY_MANUAL_LINKING_ENABLED: {
    kind: boolean,
    default: OFF,
    about: 'People may link accounts of providers to their own and unlink them.',
  },
  EXTERNAL_REDIRECTURL: {
    kind: exactUrl,
    about: 'Where people go after they came from a provider, whatever `redirect_to` says.',
  },
  EXTERNAL_WEB3_ETHEREUM_ENABLED: { kind: boolean, default: OFF, about: 'Sign-in with Ethereum wallets.' },
  EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION: {
    kind: duration,
    default: '10m',
    about: 'How long after it was issued a message of an Ethereum wallet is taken.',
  },
  EXTERNAL_WEB3_SOLANA_ENABLED: { kind: boolean, default: OFF, about: 'Sign-in with Solana wallets.' },
  EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION: {
    kind: duration,
    default: '10m',
    about: 'How long after it was issued a message of a Solana wallet is taken.',
  },
  EXTERNAL_FLOW_STATE_EXPIRY_DURATION: {
    kind: durationFrom(300_000),
    default: '300s',
    about: 'Time to come back from a provider.',
  },
} as const;

/** How one provider is configured. */
export interface ExternalSettings {
  readonly enabled: boolean;
  /** The first one, if there are several. */
  readonly clientId: string | undefined;
  readonly clientIds: readonly string[];
  readonly secret: Secret | undefined;
  readonly redirectUri: string | undefined;
  /** Without a slash at its end. */
  readonly url: string | undefined;
  readonly emailOptional: boolean;
  readonly skipNonceCheck: boolean;
}

/** What the settings say about one provider. */
export function externalSettings(settings: Values<ProviderSettings>, id: ProviderId): ExternalSettings {
  const name = id.toUpperCase() as Uppercase<ProviderId>;
  const clientIds = list.parse(settings[`EXTERNAL_${name}_CLIENT_ID`] ?? '');
  return {
    enabled: settings[`EXTERNAL_${name}_ENABLED`],
    clientId: clientIds[0],
    clientIds,
    secret: settings[`EXTERNAL_${name}_SECRET`],
    redirectUri: settings[`EXTERNAL_${name}_REDIRECT_URI`],
    url: settings[`EXTERNAL_${name}_URL`],
    emailOptional: settings[`EXTERNAL_${name}_EMAIL_OPTIONAL`],
    skipNonceCheck: settings[`EXTERNAL_${name}_SKIP_NONCE_CHECK`],
  };
}
