import { join } from 'node:path';
import { readSettings } from '@croft/settings';
import { stateSettings } from '@croft/state/settings';
import type { Environment } from '../environment.ts';
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
      start: async ({ dataFolder, log, version, onStop, secrets, adminRoles }) =>
        (await load()).startState({
          settings,
          folder: join(dataFolder, 'state'),
          log,
          version,
          onStop,
          activatedSocket: activatedSocket(environment),
          tokens: { secret: secrets.jwtSecret, adminRoles },
        }),
    };
  },
};

/** The first of the sockets that systemd passes, as sd_listen_fds(3) tells it; `LISTEN_PID` says that they are meant for us. */
function activatedSocket({ LISTEN_PID, LISTEN_FDS }: Environment): number | undefined {
  return LISTEN_PID === String(process.pid) && Number(LISTEN_FDS) >= 1 ? 3 : undefined;
}
