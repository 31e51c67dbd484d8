import { join } from 'node:path';
import { readSettings } from '@croft/settings';
import { startState, stateSettings } from '@croft/state';
import type { Service } from './index.ts';

/** States of systems and homes. */
export const state: Service = {
  name: 'state',
  table: stateSettings,
  usesDatabase: false,
  configure(environment) {
    const settings = readSettings(stateSettings, environment);
    return {
      database: undefined,
      start: ({ dataFolder, log, version, onStop }) =>
        startState({ settings, folder: join(dataFolder, 'state'), log, version, onStop }),
    };
  },
};
