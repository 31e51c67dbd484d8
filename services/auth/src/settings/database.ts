import { boolean, choice, integer, secret, text, wait } from '@croft/settings';

/** The database and what is swept out of it. */
export const databaseSettings = {
  DB_DRIVER: { kind: choice('postgres'), default: 'postgres', about: 'The one SQL dialect.' },
  DB_DATABASE_URL: {
    kind: secret,
    alsoNamed: ['AUTHSVC_DATABASE_URL', 'DATABASE_URL'],
    about: 'Connection string of the database; without one the embedded server is used.',
  },
  DB_MAX_POOL_SIZE: {
    kind: integer(0, 10_000),
    default: '0',
    about:
      'Database connections at most, besides two for look-ups and one for notices; 0 takes the default of 20.',
  },
  DB_NAMESPACE: {
    kind: text,
    default: 'auth',
    alsoNamed: ['DB_NAMESPACE'],
    about: 'Schema of all tables.',
  },
  DB_PREPARE: {
    kind: boolean,
    default: 'true',
    about: 'Prepared statements; set to false behind pgbouncer in transaction mode.',
  },
  DB_CLEANUP_ENABLED: {
    kind: boolean,
    default: 'true',
    about: 'Expired codes, sessions and flows are deleted.',
  },
  DB_CLEANUP_INTERVAL: { kind: wait(10), default: '1m', about: 'Time between two clean-ups.' },
} as const;
