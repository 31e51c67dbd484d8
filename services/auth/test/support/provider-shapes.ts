import type { ProviderId } from '../../src/rules/external/provider-ids.ts';

/** Somebody with an account at every provider. */
export interface Somebody {
  id: string;
  email: string;
  verified: boolean;
  name: string;
}

/** What the emulator knows of one provider that speaks OAuth 2, written down from the provider's own documents. */
export interface Shape {
  /** Paths below the base. */
  authorize: string;
  token: string;
  secretIn: 'header' | 'body';
  /** Scopes the service asks for by itself. */
  scopes: string;
  pkce?: boolean;
  /** Query parameters the authorize request must have besides OAuth's. */
  wants?: Readonly<Record<string, string>>;
  /** Members of the token answer besides the token. */
  tokenAnswer?: (who: Somebody) => object;
  /** Claims of the id_token, where it is what identifies people. */
  claims?: (who: Somebody, base: string) => Record<string, unknown>;
  keys?: string;
  discovery?: string;
  /** Answers with the access token, by path and query. */
  profile: (who: Somebody) => Readonly<Record<string, unknown>>;
  /** Headers every profile request must have. */
  profileHeaders?: Readonly<Record<string, string>>;
}

const oidcClaims = ({ id, email, name, verified }: Somebody) => ({
  sub: id,
  email,
  email_verified: verified,
  name,
  picture: 'https://pictures.example/ada.png',
});
const [given, family] = ['Ada', 'Lovelace'];

/** Every provider but `twitter`. */
export const shapes: Readonly<Record<Exclude<ProviderId, 'twitter'>, Shape>> = {
  apple: {
    authorize: '/auth/authorize',
    token: '/auth/token',
    secretIn: 'body',
    scopes: 'email name',
    wants: { response_mode: 'form_post' },
    keys: '/auth/keys',
    claims: ({ id, email }, _base) => ({
      iss: 'https://appleid.apple.com',
      sub: id,
      email,
      email_verified: 'true',
      is_private_email: 'false',
      auth_time: 1_700_000_000,
      nonce_supported: true,
    }),
    profile: () => ({}),
  },
  azure: {
    authorize: '/oauth2/v2.0/authorize',
    token: '/oauth2/v2.0/token',
    secretIn: 'body',
    scopes: 'openid email profile',
    pkce: true,
    discovery: '/v2.0/.well-known/openid-configuration',
    keys: '/discovery/v2.0/keys',
    claims: ({ id, email, verified, name }, base) => ({
      iss: `${base}/11111111-2222-3333-4444-555555555555/v2.0`,
      tid: '11111111-2222-3333-4444-555555555555',
      oid: '00000000-0000-0000-0000-00000000000a',
      sub: id,
      email,
      name,
      preferred_username: email,
      xms_edov: verified,
      ver: '2.0',
    }),
    profile: () => ({}),
  },
  bitbucket: {
    authorize: '/site/oauth2/authorize',
    token: '/site/oauth2/access_token',
    secretIn: 'header',
    scopes: 'account email',
    profile: ({ id, email, verified, name }) => ({
      '/2.0/user': {
        uuid: id,
        display_name: name,
        links: { avatar: { href: 'https://pictures.example/ada.png' } },
      },
      '/2.0/user/emails': {
        values: [
          { email: `second-${email}`, is_primary: false, is_confirmed: false, type: 'email' },
          { email, is_primary: true, is_confirmed: verified, type: 'email' },
        ],
      },
    }),
  },
  discord: {
    authorize: '/api/oauth2/authorize',
    token: '/api/oauth2/token',
    secretIn: 'body',
    scopes: 'email identify',
    pkce: true,
    profile: ({ id, email, verified, name }) => ({
      '/api/users/@me': {
        id,
        username: name,
        discriminator: '1337',
        global_name: 'Ada',
        avatar: 'a_abc',
        email,
        verified,
      },
    }),
  },
  facebook: {
    authorize: '/dialog/oauth',
    token: '/oauth/access_token',
    secretIn: 'body',
    scopes: 'email',
    profile: ({ id, email, name }) => ({
      '/me?fields=email,first_name,last_name,name,picture&appsecret_proof={proof}': {
        id,
        email,
        name,
        first_name: given,
        last_name: family,
        picture: { data: { url: 'https://pictures.example/ada.png' } },
      },
    }),
  },
  figma: {
    authorize: '/oauth',
    token: '/v1/oauth/token',
    secretIn: 'header',
    scopes: 'current_user:read',
    pkce: true,
    profile: ({ id, email, name }) => ({
      '/v1/me': { id, email, handle: name, img_url: 'https://pictures.example/ada.png' },
    }),
  },
  fly: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    secretIn: 'body',
    scopes: 'read',
    profile: ({ id, email, name }) => ({
      '/oauth/token/info': {
        resource_owner_id: 'owner',
        scope: ['read'],
        expires_in: 7200,
        application: { uid: 'app' },
        created_at: 1_700_000_000,
        user_id: id,
        user_name: name,
        email,
        organizations: [{ id: 'org', role: 'admin' }],
      },
    }),
  },
  github: {
    authorize: '/login/oauth/authorize',
    token: '/login/oauth/access_token',
    secretIn: 'body',
    scopes: 'user:email',
    pkce: true,
    profile: ({ id, email, verified, name }) => ({
      '/api/v3/user': {
        id: Number(id),
        login: 'ada',
        name,
        email: 'public@elsewhere.example',
        avatar_url: 'https://pictures.example/ada.png',
      },
      '/api/v3/user/emails': [
        { email: `second-${email}`, primary: false, verified: false, visibility: null },
        { email, primary: true, verified, visibility: 'private' },
      ],
    }),
  },
  gitlab: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    secretIn: 'body',
    scopes: 'read_user',
    pkce: true,
    profile: ({ id, email, verified, name }) => ({
      '/api/v4/user': {
        id: Number(id),
        username: 'ada',
        name,
        email,
        confirmed_at: verified ? '2020-01-01T00:00:00Z' : null,
        avatar_url: 'https://pictures.example/ada.png',
      },
      '/api/v4/user/emails': [{ id: 1, email: `second-${email}` }],
    }),
  },
  google: {
    authorize: '/o/oauth2/v2/auth',
    token: '/token',
    secretIn: 'body',
    scopes: 'email profile',
    pkce: true,
    discovery: '/.well-known/openid-configuration',
    keys: '/oauth2/v3/certs',
    claims: (who) => ({ ...oidcClaims(who), iss: 'https://accounts.google.com', hd: 'example.com' }),
    profile: ({ id, email, verified, name }) => ({
      '/userinfo/v2/me': { id, email, verified_email: verified, name, hd: 'example.com' },
    }),
  },
  kakao: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    secretIn: 'body',
    scopes: 'account_email profile_image profile_nickname',
    profile: ({ id, email, verified, name }) => ({
      '/v2/user/me': {
        id: Number(id),
        kakao_account: {
          email,
          is_email_valid: true,
          is_email_verified: verified,
          profile: { nickname: name, profile_image_url: 'https://pictures.example/ada.png' },
        },
      },
    }),
  },
  keycloak: {
    authorize: '/protocol/openid-connect/auth',
    token: '/protocol/openid-connect/token',
    secretIn: 'header',
    scopes: 'profile email openid',
    pkce: true,
    profile: (who) => ({
      '/protocol/openid-connect/userinfo': {
        ...oidcClaims(who),
        preferred_username: 'ada',
        groups: ['/mathematicians'],
      },
    }),
  },
  linkedin: {
    authorize: '/oauth/v2/authorization',
    token: '/oauth/v2/accessToken',
    secretIn: 'body',
    scopes: 'r_emailaddress r_liteprofile',
    profile: ({ id, email }) => ({
      '/v2/me?projection=(id,firstName,lastName,profilePicture(displayImage~:playableStreams))': {
        id,
        firstName: { localized: { en_US: given }, preferredLocale: { country: 'US', language: 'en' } },
        lastName: { localized: { en_US: family }, preferredLocale: { country: 'US', language: 'en' } },
        profilePicture: {
          'displayImage~': {
            elements: [{ identifiers: [{ identifier: 'https://pictures.example/ada.png' }] }],
          },
        },
      },
      '/v2/emailAddress?q=members&projection=(elements*(handle~))': {
        elements: [{ handle: 'urn:li:emailAddress:1', 'handle~': { emailAddress: email } }],
      },
    }),
  },
  linkedin_oidc: {
    authorize: '/oauth/v2/authorization',
    token: '/oauth/v2/accessToken',
    secretIn: 'body',
    scopes: 'openid email profile',
    keys: '/oauth/openid/jwks',
    claims: (who) => ({
      ...oidcClaims(who),
      iss: 'https://www.linkedin.com/oauth',
      email_verified: String(who.verified),
      given_name: given,
      family_name: family,
      locale: { country: 'US', language: 'en' },
    }),
    profile: () => ({}),
  },
  notion: {
    authorize: '/v1/oauth/authorize',
    token: '/v1/oauth/token',
    secretIn: 'header',
    scopes: '',
    wants: { owner: 'user' },
    tokenAnswer: () => ({ bot_id: 'bot', workspace_name: 'Work' }),
    profileHeaders: { 'notion-version': '2021-08-16' },
    profile: ({ id, email, name }) => ({
      '/v1/users/me': {
        object: 'user',
        type: 'bot',
        bot: {
          owner: {
            type: 'user',
            user: { id, name, avatar_url: 'https://pictures.example/ada.png', person: { email } },
          },
        },
      },
    }),
  },
  slack: {
    authorize: '/oauth/authorize',
    token: '/api/oauth.access',
    secretIn: 'body',
    scopes: 'profile email openid',
    tokenAnswer: () => ({ ok: true }),
    profile: (who) => ({ '/api/openid.connect.userInfo': slackUser(who) }),
  },
  slack_oidc: {
    authorize: '/openid/connect/authorize',
    token: '/api/openid.connect.token',
    secretIn: 'body',
    scopes: 'profile email openid',
    tokenAnswer: () => ({ ok: true }),
    profile: (who) => ({ '/api/openid.connect.userInfo': slackUser(who) }),
  },
  snapchat: {
    authorize: '/accounts/oauth2/auth',
    token: '/accounts/oauth2/token',
    secretIn: 'header',
    scopes: ['user.display_name', 'user.external_id', 'user.bitmoji.avatar']
      .map((name) => `https://auth.snapchat.com/oauth2/api/${name}`)
      .join(' '),
    profile: ({ id, name }) => ({
      '/v1/me?query={me{externalId displayName bitmoji{avatar}}}': {
        data: {
          me: { externalId: id, displayName: name, bitmoji: { avatar: 'https://pictures.example/ada.png' } },
        },
        errors: [],
      },
    }),
  },
  spotify: {
    authorize: '/authorize',
    token: '/api/token',
    secretIn: 'header',
    scopes: 'user-read-email',
    pkce: true,
    profile: ({ id, email, name }) => ({
      '/v1/me': {
        id,
        email,
        display_name: name,
        images: [
          { url: 'https://pictures.example/small.png', width: 64, height: 64 },
          { url: 'https://pictures.example/ada.png', width: 300, height: 300 },
        ],
      },
    }),
  },
  twitch: {
    authorize: '/oauth2/authorize',
    token: '/oauth2/token',
    secretIn: 'body',
    scopes: 'user:read:email',
    profileHeaders: { 'client-id': 'client of twitch' },
    profile: ({ id, email, name }) => ({
      '/helix/users': {
        data: [
          {
            id,
            login: name,
            display_name: 'AdaL',
            email,
            type: '',
            broadcaster_type: 'partner',
            description: 'numbers',
            profile_image_url: 'https://pictures.example/ada.png',
            offline_image_url: '',
            view_count: 5,
          },
        ],
      },
    }),
  },
  workos: {
    authorize: '/sso/authorize',
    token: '/sso/token',
    secretIn: 'body',
    scopes: '',
    tokenAnswer: ({ id, email, verified }) => ({
      profile: {
        id,
        email,
        connection_type: verified ? 'GoogleOAuth' : 'OktaSAML',
        first_name: given,
        last_name: family,
        connection_id: 'conn_1',
        organization_id: 'org_1',
      },
    }),
    profile: () => ({}),
  },
  x: {
    authorize: '/i/oauth2/authorize',
    token: '/2/oauth2/token',
    secretIn: 'header',
    scopes: 'users.email tweet.read users.read offline.access',
    pkce: true,
    profile: ({ id, email, name }) => ({
      '/2/users/me?user.fields=confirmed_email,created_at,name,profile_image_url,url,username': {
        data: {
          id,
          name,
          username: 'ada',
          confirmed_email: email,
          profile_image_url: 'https://pictures.example/ada.png',
          created_at: '2010-01-01T00:00:00.000Z',
        },
      },
    }),
  },
  zoom: {
    authorize: '/oauth/authorize',
    token: '/oauth/token',
    secretIn: 'header',
    scopes: '',
    pkce: true,
    profile: ({ id, email, verified }) => ({
      '/v2/users/me': {
        id,
        email,
        first_name: given,
        last_name: family,
        login_type: 100,
        verified: verified ? 1 : 0,
        pic_url: 'https://pictures.example/ada.png',
      },
    }),
  },
};

function slackUser({ id, email, verified, name }: Somebody) {
  return {
    ok: true,
    sub: id,
    'https://slack.com/user_id': id,
    'https://slack.com/team_id': 'T1',
    email,
    email_verified: verified,
    name,
    picture: 'https://pictures.example/ada.png',
  };
}
