import { boolean, duration, integer, list, secret, text } from '@croft/settings';

/** Access and refresh tokens. */
export const tokenSettings = {
  JWT_SECRET: { kind: secret, required: true, about: 'Key that signs access tokens (HS256).' },
  JWT_KEYS: {
    kind: secret,
    about:
      'JSON array of JSON Web Keys; the one with `sign` in its `key_ops` signs, the others only verify; without one `JWT_SECRET` signs.',
  },
  JWT_KEY_ID: { kind: text, about: '`kid` of tokens that are signed with `JWT_SECRET`.' },
  JWT_EXP: { kind: integer(1), default: '3600', about: 'Seconds an access token is valid.' },
  JWT_AUD: { kind: text, default: 'authenticated', about: 'Audience of new users.' },
  JWT_ISSUER: { kind: text, about: 'Value of the `iss` claim; without it the claim is left out.' },
  JWT_VALID_METHODS: {
    kind: list,
    default: '',
    about: 'Algorithms of accepted tokens; without it HS256 and those of `JWT_KEYS`.',
  },
  JWT_DEFAULT_GROUP_NAME: { kind: text, default: 'authenticated', about: 'Role of new users.' },
  JWT_ADMIN_GROUP_NAME: {
    kind: text,
    default: 'admin',
    about: 'Role of administrators made on the command line, when `JWT_ADMIN_ROLES` lists it.',
  },
  JWT_ADMIN_ROLES: {
    kind: list,
    default: 'service_role,supabase_admin',
    about: 'Roles that may administrate.',
  },

  SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Use of an outdated refresh token revokes its whole family.',
  },
  SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: {
    kind: duration,
    default: '0',
    about:
      'Accepted and without effect: the previous refresh token yields the current one at any time, older ones never.',
  },

  SESSIONS_TIMEBOX: {
    kind: duration,
    default: '0',
    about: 'Age from which a session can no longer be refreshed; 0 is never.',
  },
  SESSIONS_INACTIVITY_TIMEOUT: {
    kind: duration,
    default: '0',
    about: 'Time without a refresh after which a session can no longer be refreshed; 0 is never.',
  },
  SESSIONS_SINGLE_PER_USER: {
    kind: boolean,
    default: 'false',
    about: 'Of the sessions of a user only the one that was begun or refreshed last can be refreshed.',
  },
  SESSIONS_TAGS: {
    kind: list,
    default: '',
    about:
      'Kinds of sessions, such as `web,mobile`: with `SESSIONS_SINGLE_PER_USER` one of each goes on. Your own SQL writes them to `sessions.tag`; a session of none of them is of the first.',
  },
} as const;
