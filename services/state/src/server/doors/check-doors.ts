import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartError } from '@croft/runtime';
import type { StateSettings } from '../../settings.ts';
import { checkSocketPlace } from './listen-on-socket.ts';
import type { Doors } from './open-doors.ts';

/**
 * Whether a daemon can listen where it is to. It listens when its states are read and what a crash left is settled; a start that is
 * refused only then has changed what it was not to touch.
 * @throws StartError
 */
export async function checkDoors(
  { socket, tls }: Pick<Doors, 'socket' | 'tls'>,
  { METRICS_LISTEN: metrics }: Pick<StateSettings, 'METRICS_LISTEN'>,
): Promise<void> {
  await checkSocketPlace(socket);
  if (tls !== undefined) await checkAddress(tls, 'STATESVC_LISTEN');
  if (metrics !== undefined) await checkAddress(metrics, 'STATESVC_METRICS_LISTEN');
}

async function checkAddress(
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<void> {
  const probe = createServer((socket) => socket.destroy());
  probe.listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // At boot the network may come later, and that is waited for.
    if (code === 'EADDRNOTAVAIL') return;
    throw new StartError(`cannot listen on ${host}:${port}: ${message}. ${setting} chooses another place.`, {
      cause: error,
    });
  }
  const closed = once(probe, 'close');
  probe.close();
  await closed;
}
