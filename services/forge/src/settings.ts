import {
  boolean,
  defineSettings,
  duration,
  integer,
  list,
  port,
  secret,
  text,
  url,
  type Values,
} from '@croft/settings';

/** Everything that can be decided about the forge from outside. */
export const forgeSettings = defineSettings('Forge', 'FORGE_', {
  HTTP_HOST: { kind: text, default: '127.0.0.1', about: 'Address the HTTP server listens on.' },
  HTTP_PORT: { kind: port, default: '3000', about: 'Port the HTTP server listens on; 0 takes a free one.' },
  ROOT_URL: {
    kind: url,
    about: 'Public address, used in every link; by default the address the server listens on.',
  },
  REQUIRE_SIGNIN: {
    kind: boolean,
    default: 'true',
    about: 'Whether reading public repositories needs credentials too.',
  },
  DATABASE_URL: {
    kind: secret,
    alsoNamed: ['DATABASE_URL'],
    about: 'PostgreSQL to use; without it the embedded one.',
  },
  DB_SCHEMA: { kind: text, default: 'forge', about: 'Schema of the tables.' },
  DB_MAX_POOL_SIZE: {
    kind: integer(1, 1000),
    default: '20',
    about: 'Database connections at most, besides two for look-ups and one for notices.',
  },
  DB_PREPARE: {
    kind: boolean,
    default: 'true',
    about: 'Named prepared statements; `false` behind pgbouncer in transaction mode.',
  },
  JWT_SECRET: {
    kind: secret,
    alsoNamed: ['AUTHSVC_JWT_SECRET'],
    about:
      'Secret that signs the access tokens of the auth service; required when forge runs without it, unless `JWT_KEYS` verify them.',
  },
  JWT_KEYS: {
    kind: secret,
    alsoNamed: ['AUTHSVC_JWT_KEYS'],
    about:
      'Keys that access tokens are verified with besides the secret, as JSON Web Keys; public parts suffice.',
  },
  JWT_VALID_METHODS: {
    kind: list,
    default: '',
    alsoNamed: ['AUTHSVC_JWT_VALID_METHODS'],
    about: 'Algorithms of access tokens that are accepted; without any all that the keys have.',
  },
  DEFAULT_BRANCH: { kind: text, default: 'main', about: 'Default branch of new repositories.' },
  DEFAULT_PAGING_NUM: { kind: integer(1, 1000), default: '30', about: 'Entries of a list page.' },
  MAX_RESPONSE_ITEMS: {
    kind: integer(1, 1000),
    default: '50',
    about: 'Most entries a page may be asked for.',
  },
  GIT_COMMAND: { kind: text, default: 'git', about: 'The git program, 2.39 or newer.' },
  GIT_SEARCH_PATH: {
    kind: text,
    default: '/usr/local/bin:/usr/bin:/bin',
    alsoNamed: ['PATH'],
    about: 'Folders in which git and stdbuf are looked for.',
  },
  GIT_MAX_PUSH_BYTES: {
    kind: integer(1),
    default: '2147483648',
    about: 'Largest pack that a push may carry, in bytes.',
  },
  GIT_HTTP_PROCESSES: {
    kind: integer(1, 10_000),
    default: '32',
    about: 'Clones, fetches and pushes served at once; more wait.',
  },
  GIT_IDLE_TIMEOUT: {
    kind: duration,
    default: '10m',
    about: 'A clone, fetch or push in which nothing moves for this long is ended.',
  },
  GIT_WARM_PROCESSES: {
    kind: integer(1, 10_000),
    default: '64',
    about: 'git processes kept at hand for repositories in use.',
  },
});

/** The values of the table. */
export type ForgeSettings = Values<typeof forgeSettings.settings>;
