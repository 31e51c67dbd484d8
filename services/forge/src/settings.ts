import {
  boolean,
  defineSettings,
  host,
  integer,
  list,
  port,
  secret,
  text,
  url,
  type Values,
  wait,
} from '@croft/settings';

/** Everything that can be decided about the forge from outside. */
export const forgeSettings = defineSettings('Forge', 'FORGE_', {
  HTTP_HOST: { kind: host, default: '127.0.0.1', about: 'Address the HTTP server listens on.' },
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
  QUERY_TOKENS: {
    kind: boolean,
    default: 'false',
    about:
      'Whether the API takes tokens from `?token=` and `?access_token=`, where proxies and browser histories keep them; each use is warned of.',
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
  AUTO_WATCH_NEW_REPOS: {
    kind: boolean,
    default: 'true',
    about:
      'Whether whoever makes, forks or generates a repository watches it, and so hears of what others do there.',
  },
  DEFAULT_PAGING_NUM: { kind: integer(1, 1000), default: '30', about: 'Entries of a list page.' },
  MAX_RESPONSE_ITEMS: {
    kind: integer(1, 1000),
    default: '50',
    about: 'Most entries a page may be asked for.',
  },
  GIT_COMMAND: {
    kind: text,
    default: 'git',
    about: 'The git program, 2.38 or newer; from 2.39 on merges are faster.',
  },
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
  GIT_MAX_REVIEW_BYTES: {
    kind: integer(1),
    default: '33554432',
    about:
      'Largest pack, in bytes, that somebody may push for review (`refs/for/…`) who may not write to the repository. What is refused of it stays on the disk, unreachable.',
  },
  GIT_MAX_REPOSITORY_BYTES: {
    kind: integer(0),
    default: '0',
    about: 'Most a repository may take on the disk, in bytes; 0 is no limit.',
  },
  GIT_MAINTENANCE_INTERVAL: {
    kind: wait(10),
    default: '1m',
    about:
      'How often the forge looks for a repository that was pushed to and needs tidying up; it tidies one at a time.',
  },
  GIT_HTTP_PROCESSES: {
    kind: integer(1, 10_000),
    default: '32',
    about: 'Clones, fetches and pushes served at once; more wait.',
  },
  GIT_IDLE_TIMEOUT: {
    kind: wait(1000),
    default: '10m',
    about: 'A clone, fetch or push in which nothing moves for this long is ended.',
  },
  GIT_DIFF_TIMEOUT: {
    kind: wait(1000),
    default: '5m',
    about: 'A diff or patch that is not at its client by then is broken off, however much of it moved.',
  },
  GIT_DOWNLOAD_TIMEOUT: {
    kind: wait(1000),
    default: '1h',
    about: 'An archive or file that is not at its client by then is broken off likewise.',
  },
  GIT_WARM_PROCESSES: {
    kind: integer(1, 10_000),
    default: '64',
    about: 'git processes kept at hand for repositories in use.',
  },
  SIGNING_KEY: {
    kind: text,
    default: '',
    about:
      'File of an ed25519 private key of OpenSSH, without a passphrase, that signs the commits of merges; `generate` makes one in the data folder.',
  },
  WEBHOOK_ALLOWED_HOSTS: {
    kind: list,
    default: '',
    about:
      'Hosts outside the public internet that webhooks may be sent to: names or globs of them, addresses, networks such as `10.1.0.0/16`, `loopback`, `private`, or `*`.',
  },
  WEBHOOK_TIMEOUT: {
    kind: wait(1),
    default: '5s',
    about: 'How long the receiver of a webhook may take; at most 20 seconds are waited.',
  },
  WEBHOOK_KEPT_DELIVERIES: {
    kind: integer(1, 10_000),
    default: '100',
    about: 'Deliveries that are kept in the log of each webhook.',
  },
  ATTACHMENT_MAX_BYTES: {
    kind: integer(1),
    default: '52428800',
    about: 'Largest file that can be attached to an issue or comment, in bytes.',
  },
  ATTACHMENT_TYPES: {
    kind: list,
    default: '',
    about: 'Endings of file names that can be attached, such as `.png,.txt`; without any all.',
  },
  RELEASE_FILE_MAX_BYTES: {
    kind: integer(1),
    default: '1073741824',
    about: 'Largest file of a release, in bytes; its name may have any ending.',
  },
});

/** The values of the table. */
export type ForgeSettings = Values<typeof forgeSettings.settings>;
