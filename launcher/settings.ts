import { logLevels } from '@croft/runtime';
import { choice, defineSettings, secret, text, type Values } from '@croft/settings';

/** What concerns the whole of Croft; each service has a table of its own. */
export const launcherSettings = defineSettings('Croft', '', {
  CROFT_DATA: {
    kind: text,
    default: './data',
    about:
      'Folder of all data: database, repositories, states, captured mail, secrets. One Croft has it at a time.',
  },
  DATABASE_URL: {
    kind: secret,
    about:
      'PostgreSQL 15 or later to use, `postgresql://…`; without it an embedded one runs in the data folder.',
  },
  CROFT_AT_REST_KEY: {
    kind: secret,
    about:
      'Key of what auth and forge keep encrypted in the database (codes, mails, secrets of webhooks); the same for every Croft on that database. Without it the one in `<data>/secrets.json`.',
  },
  LOG_LEVEL: {
    kind: choice(...logLevels),
    default: 'info',
    alsoNamed: ['AUTHSVC_LOG_LEVEL'],
    about: 'How much is logged, one JSON line an event.',
  },
  LOG_FILE: {
    kind: text,
    alsoNamed: ['AUTHSVC_LOG_FILE'],
    about:
      'File of the log. Without it the log goes to standard error, or, when that is a terminal and `LOG_LEVEL` is not set, to `<data>/croft.log`.',
  },
});

/** The values of {@link launcherSettings}. */
export type LauncherSettings = Values<typeof launcherSettings.settings>;
