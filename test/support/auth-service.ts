import { authSettings, startAuth } from '@croft/auth';
import type { Clock, Log, RunningService } from '@croft/runtime';
import { readSettings, Secret } from '@croft/settings';

/** What auth shares with a forge beside it. */
export interface SharedByServices {
  databaseUrl: string;
  dataFolder: string;
  log: Log;
  version: string;
  clock?: Clock;
}

/** Starts auth on a free port, where addresses count without a mail. */
export function startAuthBeside(
  shared: SharedByServices,
  secret: string,
  settings: Record<string, string> = {},
): Promise<RunningService> {
  return startAuth({
    ...shared,
    settings: readSettings(authSettings, {
      AUTHSVC_SITE_URL: 'https://site.example',
      AUTHSVC_API_EXTERNAL_URL: 'http://127.0.0.1:1',
      AUTHSVC_API_PORT: '0',
      AUTHSVC_JWT_SECRET: secret,
      AUTHSVC_MAILER_AUTOCONFIRM: 'true',
      ...settings,
    }),
    secrets: { atRestKey: new Secret('key') },
  });
}
