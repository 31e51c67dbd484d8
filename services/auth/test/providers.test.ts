import { verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type ProviderId, providerIds } from '../src/rules/external/provider-ids.ts';
import { startSubject } from './harness.ts';
import { comeBack, leave, signInWith } from './support/external-flow.ts';
import { externalSubject } from './support/external-subject.ts';
import { ACCESS_TOKEN, applePrivateKey, json, REFRESH_TOKEN } from './support/provider-emulator.ts';
import { shapes } from './support/provider-shapes.ts';

const { emulator, subject } = await externalSubject(providerIds, {
  AUTHSVC_EXTERNAL_SNAPCHAT_EMAIL_OPTIONAL: 'true',
  AUTHSVC_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
});

const PICTURE = 'https://pictures.example/ada.png';
const both = { picture: PICTURE, avatar_url: PICTURE };
const named = { name: 'Ada Lovelace', full_name: 'Ada Lovelace' };
const first = { given_name: 'Ada', family_name: 'Lovelace' };

interface Row {
  /** Whether the provider vouches for the address when it can say so, and when it says it does not. */
  verified: [boolean, boolean];
  /** Identity data besides sub, provider_id, email and the flags. */
  data: Record<string, unknown>;
  parameters?: Record<string, string>;
  emails?: boolean;
  refresh?: boolean;
}

/** One row a provider: what is stored of somebody who comes from there. */
const table: Record<ProviderId, Row> = {
  apple: {
    verified: [true, true],
    data: {
      ...named,
      iss: 'https://appleid.apple.com',
      custom_claims: { is_private_email: 'false', auth_time: 1_700_000_000 },
    },
  },
  azure: {
    verified: [true, false],
    data: {
      ...named,
      iss: '{base}/11111111-2222-3333-4444-555555555555/v2.0',
      preferred_username: '{email}',
      custom_claims: {
        tid: '11111111-2222-3333-4444-555555555555',
        oid: '00000000-0000-0000-0000-00000000000a',
        xms_edov: true,
      },
    },
  },
  bitbucket: { verified: [true, false], data: { ...named, ...both, iss: 'https://api.bitbucket.org' } },
  discord: {
    verified: [true, false],
    data: {
      iss: 'https://discord.com/api',
      name: 'Ada Lovelace#1337',
      full_name: 'Ada Lovelace',
      picture: 'https://cdn.discordapp.com/avatars/{id}/a_abc.gif',
      avatar_url: 'https://cdn.discordapp.com/avatars/{id}/a_abc.gif',
      custom_claims: { global_name: 'Ada' },
    },
  },
  facebook: {
    verified: [true, true],
    data: {
      ...named,
      ...both,
      ...first,
      iss: 'https://graph.facebook.com',
      nickname: 'Ada Lovelace',
      slug: 'Ada Lovelace',
    },
  },
  figma: { verified: [true, true], data: { ...named, iss: 'https://api.figma.com', avatar_url: PICTURE } },
  fly: {
    verified: [true, true],
    data: {
      ...named,
      iss: 'https://api.fly.io',
      custom_claims: {
        resource_owner_id: 'owner',
        scope: ['read'],
        application: { uid: 'app' },
        created_at: 1_700_000_000,
        organizations: [{ id: 'org', role: 'admin' }],
      },
    },
  },
  github: {
    verified: [true, false],
    data: {
      ...named,
      iss: '{base}/api/v3',
      avatar_url: PICTURE,
      preferred_username: 'ada',
      user_name: 'ada',
    },
  },
  gitlab: { verified: [true, false], data: { ...named, ...both, iss: '{base}' } },
  google: {
    verified: [true, false],
    data: { ...named, ...both, iss: 'https://accounts.google.com', custom_claims: { hd: 'example.com' } },
  },
  kakao: {
    verified: [true, false],
    data: {
      ...named,
      ...both,
      iss: 'https://kapi.kakao.com',
      preferred_username: 'Ada Lovelace',
      user_name: 'Ada Lovelace',
    },
  },
  keycloak: {
    verified: [true, false],
    data: {
      ...named,
      iss: '{base}',
      preferred_username: 'ada',
      custom_claims: { groups: ['/mathematicians'] },
    },
  },
  linkedin: {
    verified: [true, true],
    data: { ...named, ...both, ...first, iss: 'https://api.linkedin.com' },
  },
  linkedin_oidc: {
    verified: [true, false],
    data: { ...named, ...both, ...first, iss: 'https://www.linkedin.com/oauth', locale: 'en_US' },
  },
  notion: { verified: [true, true], data: { ...named, ...both, iss: 'https://api.notion.com' } },
  slack: {
    verified: [true, false],
    data: {
      ...named,
      ...both,
      iss: 'https://slack.com',
      custom_claims: { 'https://slack.com/team_id': 'T1' },
    },
  },
  slack_oidc: {
    verified: [true, false],
    data: {
      ...named,
      ...both,
      iss: 'https://slack.com',
      custom_claims: { 'https://slack.com/team_id': 'T1' },
    },
  },
  snapchat: {
    verified: [false, false],
    data: { ...named, ...both, iss: 'https://accounts.snapchat.com' },
    emails: false,
  },
  spotify: { verified: [false, false], data: { ...named, ...both, iss: 'https://accounts.spotify.com' } },
  twitch: {
    verified: [true, true],
    data: {
      ...named,
      ...both,
      iss: 'https://api.twitch.tv',
      nickname: 'AdaL',
      slug: 'AdaL',
      custom_claims: { broadcaster_type: 'partner', description: 'numbers', view_count: 5 },
    },
  },
  twitter: {
    verified: [true, true],
    data: { ...named, ...both, iss: 'https://api.twitter.com', preferred_username: 'ada', user_name: 'ada' },
    refresh: false,
  },
  workos: {
    verified: [true, false],
    data: { ...named, iss: '{base}', custom_claims: { connection_id: 'conn_1', organization_id: 'org_1' } },
    parameters: { workos_provider: 'GoogleOAuth' },
  },
  x: {
    verified: [true, true],
    data: {
      ...named,
      ...both,
      iss: 'https://api.x.com',
      preferred_username: 'ada',
      user_name: 'ada',
      profile: 'https://x.com/ada',
      custom_claims: { created_at: '2010-01-01T00:00:00.000Z' },
    },
  },
  zoom: { verified: [true, false], data: { ...named, ...both, iss: 'https://api.zoom.us' } },
};

let last = 100;
function somebodyNew(id: ProviderId, verified: boolean): void {
  last++;
  emulator.somebody = {
    id: String(last),
    email: `${id}-${last}@example.com`,
    verified,
    name: 'Ada Lovelace',
  };
}

describe.each(Object.entries(table) as [ProviderId, Row][])('%s', (id, row) => {
  test('signs somebody new in, with its metadata and its tokens', async () => {
    somebodyNew(id, true);
    const { somebody } = emulator;
    const answer = await signInWith(subject, emulator, id, row.parameters);
    expect([emulator.complaints, answer.status, answer.query.get('error_description')]).toEqual([
      [],
      302,
      null,
    ]);
    expect(answer.location.split('#')[0]).toBe('https://site.example');
    expect([...answer.fragment.keys()]).toEqual([
      'access_token',
      'expires_at',
      'expires_in',
      'provider',
      ...(row.refresh === false ? [] : ['provider_refresh_token']),
      'provider_token',
      'refresh_token',
      'sb',
      'token_type',
    ]);
    expect(answer.fragment.get('provider')).toBe(id);
    expect(answer.fragment.get('provider_token')).toBe(ACCESS_TOKEN);
    if (row.refresh !== false) expect(answer.fragment.get('provider_refresh_token')).toBe(REFRESH_TOKEN);

    const known = (text: unknown) =>
      typeof text === 'string'
        ? text
            .replace('{base}', emulator.baseOf(id))
            .replace('{email}', somebody.email)
            .replace('{id}', somebody.id)
        : text;
    const data = Object.fromEntries(Object.entries(row.data).map(([name, value]) => [name, known(value)]));
    const verified = row.verified[0];
    const authorization = `Bearer ${answer.fragment.get('access_token')}`;
    const { body } = await subject.get('/user', { authorization });
    const identityData = {
      ...data,
      sub: somebody.id,
      provider_id: somebody.id,
      ...(row.emails === false ? {} : { email: somebody.email }),
      email_verified: verified,
      phone_verified: false,
    };
    expect(body).toMatchObject({
      email: row.emails === false ? '' : somebody.email,
      app_metadata: { provider: id, providers: [id] },
      user_metadata: identityData,
      identities: [{ provider: id, id: somebody.id, identity_data: identityData }],
      is_anonymous: false,
    });
    expect(body['user_metadata']).toEqual(identityData);
    expect('email_confirmed_at' in body).toBe(verified);
  });

  test('vouches for an address only when the provider does', async () => {
    somebodyNew(id, false);
    const answer = await signInWith(subject, emulator, id, row.parameters);
    expect([emulator.complaints, answer.status]).toEqual([[], 302]);
    const authorization = `Bearer ${answer.fragment.get('access_token')}`;
    const { body } = await subject.get('/user', { authorization });
    expect(['email_confirmed_at' in body, body['user_metadata'] as object]).toMatchObject([
      row.verified[1],
      { email_verified: row.verified[1] },
    ]);
  });

  test('is asked for its scopes, and for those of the application', async () => {
    if (id === 'twitter') return;
    const plain = new URL((await leave(subject, id, row.parameters)).location);
    expect(plain.href.startsWith(emulator.baseOf(id) + shapes[id].authorize)).toBe(true);
    expect(plain.searchParams.get('scope') ?? '').toBe(shapes[id].scopes);
    const more = new URL((await leave(subject, id, { ...row.parameters, scopes: 'one,two' })).location);
    const isFixed = ['bitbucket', 'notion', 'workos'].includes(id);
    const asked = isFixed ? shapes[id].scopes : `${shapes[id].scopes} one two`.trim();
    expect(more.searchParams.get('scope') ?? '').toBe(asked);
  });

  test('refuses the code: the application is told, and nothing was written', async () => {
    somebodyNew(id, true);
    const path = id === 'twitter' ? '/oauth/access_token' : shapes[id].token;
    const left = await leave(subject, id, row.parameters);
    const back = emulator.agree(left.location);
    const before = await subject.snapshot();
    emulator.instead.set(id + path, json({ error: 'invalid_grant' }, 400));
    const answer = await comeBack(subject, back, left.cookie);
    const code = back.fields['code'] ?? back.fields['oauth_verifier'] ?? '';
    const told = {
      error: 'server_error',
      error_code: 'unexpected_failure',
      error_description: `Unable to exchange external code: ${code.slice(0, 4)}`,
    };
    expect(Object.fromEntries(answer.query)).toEqual(told);
    expect(Object.fromEntries(answer.fragment)).toEqual({ ...told, sb: '' });
    expect(await subject.snapshot()).toBe(before);
  });
});

describe('without EXTERNAL_X_URL', () => {
  const hosts: Record<string, string> = {
    apple: 'https://appleid.apple.com/auth/authorize',
    azure: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    bitbucket: 'https://bitbucket.org/site/oauth2/authorize',
    discord: 'https://discord.com/api/oauth2/authorize',
    facebook: 'https://www.facebook.com/dialog/oauth',
    figma: 'https://www.figma.com/oauth',
    fly: 'https://api.fly.io/oauth/authorize',
    github: 'https://github.com/login/oauth/authorize',
    gitlab: 'https://gitlab.com/oauth/authorize',
    google: 'https://accounts.google.com/o/oauth2/v2/auth',
    kakao: 'https://kauth.kakao.com/oauth/authorize',
    linkedin: 'https://api.linkedin.com/oauth/v2/authorization',
    linkedin_oidc: 'https://www.linkedin.com/oauth/v2/authorization',
    notion: 'https://api.notion.com/v1/oauth/authorize',
    slack: 'https://slack.com/oauth/authorize',
    slack_oidc: 'https://slack.com/openid/connect/authorize',
    snapchat: 'https://accounts.snapchat.com/accounts/oauth2/auth',
    spotify: 'https://accounts.spotify.com/authorize',
    twitch: 'https://id.twitch.tv/oauth2/authorize',
    workos: 'https://api.workos.com/sso/authorize',
    x: 'https://x.com/i/oauth2/authorize',
    zoom: 'https://zoom.us/oauth/authorize',
  };

  test('people are sent to the providers themselves', async () => {
    const ids = Object.keys(hosts) as ProviderId[];
    const settings = Object.entries(emulator.settings(...ids)).filter(
      ([name]) => !/(?<!REDIRECT)_URL$/.test(name),
    );
    await using plain = await startSubject(Object.fromEntries(settings));
    const found: Record<string, string> = {};
    for (const id of ids) {
      const { location } = await leave(plain, id, { organization: 'org_1' });
      found[id] = location.split('?')[0] ?? '';
    }
    expect(found).toEqual(hosts);
    expect(emulator.received).toEqual([]);
  });
});

describe('particulars', () => {
  test('apple: a private key signs a client secret for each request', async () => {
    const { pem, publicKey } = applePrivateKey();
    await using withKey = await startSubject({
      ...emulator.settings('apple'),
      AUTHSVC_EXTERNAL_APPLE_SECRET: pem.replaceAll('\n', '\\n'),
      AUTHSVC_EXTERNAL_APPLE_TEAM_ID: 'TEAM',
      AUTHSVC_EXTERNAL_APPLE_KEY_ID: 'KEY',
    });
    somebodyNew('apple', true);
    const answer = await signInWith(withKey, emulator, 'apple');
    expect(answer.fragment.get('provider')).toBe('apple');
    const sent = emulator.received.find(({ path }) => path === '/apple/auth/token');
    const [header = '', claims = '', signature = ''] = (sent?.form['client_secret'] ?? '').split('.');
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const now = Math.floor(withKey.clock.now().getTime() / 1000);
    expect(read(header)).toEqual({ alg: 'ES256', kid: 'KEY' });
    expect(read(claims)).toEqual({
      iss: 'TEAM',
      iat: now,
      exp: now + 300,
      aud: 'https://appleid.apple.com',
      sub: 'client of apple',
    });
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('sha256', signed, key, Buffer.from(signature, 'base64url'))).toBe(true);
  });

  test('apple: a ready client secret is passed on, and the name of the first sign-in is kept', async () => {
    somebodyNew('apple', true);
    await signInWith(subject, emulator, 'apple');
    const sent = emulator.received.find(({ path }) => path === '/apple/auth/token');
    expect(sent?.form['client_secret']).toBe('secret+of/apple');
    const left = await leave(subject, 'apple');
    expect(left.setCookie).toContain('; HttpOnly; SameSite=None; Secure');
    const back = emulator.agree(left.location);
    delete back.fields['user'];
    const again = await comeBack(subject, back, left.cookie);
    const authorization = `Bearer ${again.fragment.get('access_token')}`;
    const { body } = await subject.get('/user', { authorization });
    expect(body['user_metadata']).toMatchObject(named);
  });

  test('apple: a form whose user is no JSON is refused', async () => {
    somebodyNew('apple', true);
    const left = await leave(subject, 'apple');
    const back = emulator.agree(left.location);
    const before = await subject.snapshot();
    const answer = await comeBack(subject, { ...back, fields: { ...back.fields, user: '{' } }, left.cookie);
    expect(answer.query.get('error_description')).toBe('Error getting user profile from external provider');
    expect(await subject.snapshot()).toBe(before);
  });

  test.each([
    ['false', false],
    ['0', false],
    ['true', true],
    [true, true],
    ['1', true],
    // A tenant of which nothing is known: its administrator may have written anybody's address.
    [undefined, false],
  ])('azure: an address with xms_edov %j is verified: %j', async (edov, verified) => {
    somebodyNew('azure', true);
    emulator.tamper = { claims: (claims) => Object.assign(claims, { xms_edov: edov }) };
    const answer = await signInWith(subject, emulator, 'azure');
    const authorization = `Bearer ${answer.fragment.get('access_token')}`;
    const { body } = await subject.get('/user', { authorization });
    expect('email_confirmed_at' in body).toBe(verified);
  });

  test('google: without an id_token the profile tells', async () => {
    somebodyNew('google', true);
    emulator.instead.set('google/token', json({ access_token: ACCESS_TOKEN }));
    const answer = await signInWith(subject, emulator, 'google');
    const authorization = `Bearer ${answer.fragment.get('access_token')}`;
    const { body } = await subject.get('/user', { authorization });
    expect(body).toMatchObject({
      email: emulator.somebody.email,
      identities: [{ id: emulator.somebody.id }],
    });
    expect(answer.fragment.has('provider_refresh_token')).toBe(false);
  });

  test('keys and discovery are asked for once an hour', async () => {
    somebodyNew('google', true);
    await signInWith(subject, emulator, 'google');
    await signInWith(subject, emulator, 'google');
    const asked = emulator.received.filter(({ path }) => /certs|openid-configuration/.test(path));
    expect(asked.length).toBeLessThanOrEqual(2);
  });

  test('workos: one of its three parameters is needed', async () => {
    const answer = await leave(subject, 'workos');
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      400,
      { error_code: 'validation_failed' },
    ]);
    const { location } = await leave(subject, 'workos', { workos_provider: 'GoogleOAuth' });
    expect(new URL(location).searchParams.get('provider')).toBe('GoogleOAuth');
  });

  test('discord: accounts without a discriminator have their plain name, and one of six pictures', async () => {
    somebodyNew('discord', true);
    const user = {
      ...emulator.somebody,
      id: '80351110224678912',
      username: 'ada',
      discriminator: '0',
      avatar: null,
    };
    emulator.instead.set('discord/api/users/@me', json(user));
    const answer = await signInWith(subject, emulator, 'discord');
    const authorization = `Bearer ${answer.fragment.get('access_token')}`;
    const { body } = await subject.get('/user', { authorization });
    const index = Number((80351110224678912n >> 22n) % 6n);
    expect(body['user_metadata']).toMatchObject({
      name: 'ada',
      full_name: 'ada',
      picture: `https://cdn.discordapp.com/embed/avatars/${index}.png`,
    });
  });
});
