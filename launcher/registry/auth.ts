import { authSettings, checkAuthSettings } from '@croft/auth/settings';
import { readSettings, SettingsError } from '@croft/settings';
import type { Service } from './index.ts';

const load = () => import('@croft/auth');

/** Users and sign-in. */
export const auth: Service = {
  name: 'auth',
  table: authSettings,
  usesDatabase: true,
  load,
  configure(environment) {
    const settings = readSettings(authSettings, environment);
    const problems = checkAuthSettings(settings);
    if (problems.length > 0) throw new SettingsError(problems);
    return {
      database: settings.DB_DATABASE_URL,
      start: async (house) => (await load()).startAuth({ ...house, settings }),
      migrate: async (house) => (await load()).migrateAuth({ ...house, settings }),
      createAdministrator: async (house, email, password) =>
        (await load()).createAdministrator({ ...house, settings, email, password }),
      importFromGoTrue: async (house, from, order) =>
        (await load()).importFromGoTrue({ ...house, settings }, from, order),
      adminTasks: async (house) => (await load()).openAdminTasks({ ...house, settings }),
    };
  },
};
