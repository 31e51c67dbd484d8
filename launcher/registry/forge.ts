import { forgeSettings } from '@croft/forge/settings';
import { readSettings, SettingsError } from '@croft/settings';
import type { Service } from './index.ts';

const load = () => import('@croft/forge');

/** Issues and pull requests over git repositories. */
export const forge: Service = {
  name: 'forge',
  table: forgeSettings,
  usesDatabase: true,
  load,
  configure(environment, onItsOwn) {
    const settings = readSettings(forgeSettings, environment);
    if (onItsOwn && settings.JWT_SECRET === undefined && settings.JWT_KEYS === undefined) {
      throw new SettingsError([`FORGE_JWT_SECRET is required: ${forgeSettings.settings.JWT_SECRET.about}`]);
    }
    return {
      database: settings.DATABASE_URL,
      git: { command: settings.GIT_COMMAND, searchPath: settings.GIT_SEARCH_PATH },
      start: async (house) =>
        (await load()).startForge({
          ...house,
          settings,
          atRestKey: house.secrets.atRestKey,
          tokens: {
            // The house's own secret belongs to the house's own auth service.
            secret: settings.JWT_SECRET ?? (onItsOwn ? undefined : house.secrets.jwtSecret),
            keys: settings.JWT_KEYS,
            algorithms: settings.JWT_VALID_METHODS,
            adminRoles: house.adminRoles,
          },
        }),
      migrate: async (house) => (await load()).migrateForge({ ...house, settings }),
      checkForge: async (house) => (await load()).checkForge({ ...house, settings }),
      forgeTasks: async (house) => (await load()).openForgeTasks({ ...house, settings }),
    };
  },
};
