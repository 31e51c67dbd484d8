import { join } from 'node:path';
import { readSettings } from '@croft/settings';
import { stateSettings } from '@croft/state/settings';
import type { Service } from './index.ts';

const load = () => import('@croft/state');

/** States of systems and homes. */
export const state: Service = {
  name: 'state',
  table: stateSettings,
  usesDatabase: false,
  load,
  configure(environment) {
    const settings = readSettings(stateSettings, environment);
    return {
      database: undefined,
      start: async ({ dataFolder, log, version, onStop }) =>
        (await load()).startState({ settings, folder: join(dataFolder, 'state'), log, version, onStop }),
    };
  },
};
