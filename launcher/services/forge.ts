import { forgeSettings, migrateForge, startForge } from '@croft/forge';
import { readSettings, SettingsError } from '@croft/settings';
import type { Service } from './index.ts';

/** Issues and pull requests over git repositories. */
export const forge: Service = {
  name: 'forge',
  table: forgeSettings,
  usesDatabase: true,
  configure(environment, onItsOwn) {
    const settings = readSettings(forgeSettings, environment);
    if (onItsOwn && settings.JWT_SECRET === undefined) {
      throw new SettingsError([`FORGE_JWT_SECRET is required: ${forgeSettings.settings.JWT_SECRET.about}`]);
    }
    return {
      database: settings.DATABASE_URL,
      git: settings.GIT_COMMAND,
      start: (house) =>
        startForge({
          ...house,
          settings,
          tokens: { secret: settings.JWT_SECRET ?? house.secrets.jwtSecret, adminRoles: house.adminRoles },
        }),
      migrate: (house) => migrateForge({ ...house, settings }),
    };
  },
};
