import { authSettings, createAdministrator, migrateAuth, startAuth } from '@croft/auth';
import { readSettings } from '@croft/settings';
import type { Service } from './index.ts';

/** Users and sign-in. */
export const auth: Service = {
  name: 'auth',
  table: authSettings,
  usesDatabase: true,
  configure(environment) {
    const settings = readSettings(authSettings, environment);
    return {
      database: settings.DB_DATABASE_URL,
      start: (house) => startAuth({ ...house, settings }),
      migrate: (house) => migrateAuth({ ...house, settings }),
      createAdministrator: (house, email, password) =>
        createAdministrator({ ...house, settings, email, password }),
    };
  },
};
