import type { OutgoingHttp } from '@croft/http/outgoing';
import type { Clock } from '@croft/runtime';
import * as failures from '../../failures.ts';
import { type ProviderId, providerIds } from '../../rules/external/provider-ids.ts';
import { type AuthSettings, externalSettings } from '../../settings/index.ts';
import { type IdTokens, type ReadToken, readIdToken } from './id-token.ts';
import { appleIdTokens } from './openid/apple.ts';
import { azureIdTokens } from './openid/azure.ts';
import { googleIdTokens } from './openid/google.ts';
import { idTokensOf } from './openid/issuer.ts';
import { keycloakIdTokens } from './openid/keycloak.ts';
import { facebookIdTokens } from './plain/facebook.ts';
import { kakaoIdTokens } from './plain/kakao.ts';
import type { Client } from './provider.ts';

/** Whose ID token it is, as its bearer says. */
export interface NamedIssuer {
  provider: string;
  /** Both are needed where no provider is named. */
  issuer: string;
  clientId: string;
}

/** Where ID tokens come from that an application got by itself. */
export interface IdTokenSource {
  /** What identities are stored under: a provider, or an issuer. */
  readonly provider: string;
  /** The clients a token may be meant for. */
  readonly clientIds: readonly string[];
  readonly emailOptional: boolean;
  readonly checksNonce: boolean;
  readonly vouchesForParty: boolean;
  /** Checks signature, issuer and times. @throws ProviderRefused */
  read(token: string, signal: AbortSignal): Promise<ReadToken>;
  /** @throws ProviderRefused when the claims speak of nobody */
  describe: IdTokens['describe'];
}

/** All sources of the settings. */
export interface IdTokenSources {
  /** @throws Failure `provider_disabled` or `validation_failed` when there is none of that name */
  find(named: NamedIssuer): IdTokenSource;
}

interface Kind {
  open(client: Client): IdTokens;
  /** How its tokens name it; the first one is shown. */
  issuers(url: string | undefined): readonly string[];
  hasNonce?: false;
  vouchesForParty?: true;
}

const MICROSOFT = /^https:\/\/login\.microsoftonline\.com\/[^/]+\/v2\.0$/;

/** Providers whose ID tokens are taken; those of others are made for us alone, in exchange for a code. */
const kinds: Readonly<Partial<Record<ProviderId, Kind>>> = {
  apple: {
    open: appleIdTokens,
    issuers: (url) => [url ?? 'https://appleid.apple.com', 'https://account.apple.com'],
  },
  google: {
    open: googleIdTokens,
    issuers: (url) => [url ?? 'https://accounts.google.com', 'accounts.google.com'],
    // Android clients ask for tokens meant for the web client of the same project, and Google makes sure of that.
    vouchesForParty: true,
  },
  azure: {
    open: azureIdTokens,
    issuers: (url) => [`${url ?? 'https://login.microsoftonline.com/common'}/v2.0`],
  },
  // Its limited login repeats the nonce as it is, and clients do not agree on which one they send.
  facebook: {
    open: facebookIdTokens,
    issuers: (url) => [url ?? 'https://www.facebook.com'],
    hasNonce: false,
  },
  keycloak: { open: keycloakIdTokens, issuers: (url) => [url ?? ''] },
  kakao: { open: kakaoIdTokens, issuers: (url) => [url ?? 'https://kauth.kakao.com'] },
};

/** Opens the sources of the settings, each when it is first used. */
export function openIdTokens(settings: AuthSettings, http: OutgoingHttp, clock: Clock): IdTokenSources {
  const opened = new Map<string, IdTokens>();
  const once = (name: string, open: () => IdTokens): IdTokens => {
    const idTokens = opened.get(name) ?? open();
    opened.set(name, idTokens);
    return idTokens;
  };
  const plainClient = {
    id: '',
    secret: '',
    redirectUri: '',
    url: undefined,
    skipNonceCheck: true,
    http,
    clock,
  };

  function ofProvider(id: ProviderId, kind: Kind): IdTokenSource {
    const { enabled, clientIds, url, emailOptional, skipNonceCheck } = externalSettings(settings, id);
    if (!enabled) throw failures.idTokenProviderDisabled(kind.issuers(url)[0] ?? id);
    const idTokens = once(id, () => kind.open({ ...plainClient, url }));
    const bundleId = id === 'apple' ? settings.EXTERNAL_IOS_BUNDLE_ID : undefined;
    return {
      provider: id,
      clientIds: bundleId === undefined ? clientIds : [...clientIds, bundleId],
      emailOptional,
      checksNonce: kind.hasNonce !== false && !skipNonceCheck,
      vouchesForParty: kind.vouchesForParty === true,
      ...reading(idTokens, clock),
    };
  }

  function ofIssuer({ provider, issuer, clientId }: NamedIssuer): IdTokenSource {
    const known = settings.EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS.find((one) => one.issuer === issuer);
    if (known === undefined) throw failures.idTokenIssuerNotAllowed(provider || issuer);
    const idTokens = once(issuer, () => idTokensOf(plainClient, issuer));
    return {
      provider: issuer,
      clientIds: known.clientIds.filter((id) => id === clientId),
      emailOptional: false,
      checksNonce: true,
      vouchesForParty: false,
      ...reading(idTokens, clock),
    };
  }

  return {
    find(named) {
      const id = providerOf(settings, named);
      const kind = id === undefined ? undefined : kinds[id];
      return id === undefined || kind === undefined ? ofIssuer(named) : ofProvider(id, kind);
    },
  };
}

function reading(idTokens: IdTokens, clock: Clock): Pick<IdTokenSource, 'read' | 'describe'> {
  return {
    async read(token, signal) {
      return await readIdToken(token, { clock }, await idTokens.trusted(signal), signal);
    },
    describe: (claims) => idTokens.describe(claims),
  };
}

/** The provider that is named, or else the one whose issuer is. */
function providerOf(settings: AuthSettings, { provider, issuer }: NamedIssuer): ProviderId | undefined {
  const wanted = provider.toLowerCase();
  if (wanted !== '') return providerIds.find((id) => id === wanted);
  return providerIds.find((id) => {
    const { enabled, url } = externalSettings(settings, id);
    if (id === 'azure' && MICROSOFT.test(issuer)) return true;
    // Without its URL Keycloak has no issuer.
    if (id === 'keycloak' && !enabled) return false;
    return kinds[id]?.issuers(url).includes(issuer) ?? false;
  });
}
