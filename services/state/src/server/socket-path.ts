import { join, resolve } from 'node:path';
import { StartError } from '@croft/runtime';
import type { StateSettings } from '../settings.ts';
import { MAX_SOCKET_BYTES, shortFolder } from './short-folder.ts';

/**
 * Where the daemon listens and its clients look. A data folder whose path is too long for a socket gets a short folder of its
 * own at a place that follows from the path, so both sides find it.
 * @param folder the daemon's folder, `<data>/state`
 * @throws StartError when the configured path is too long
 */
export function socketPath(settings: Pick<StateSettings, 'SOCKET'>, folder: string): string {
  const path = resolve(settings.SOCKET ?? join(folder, 'statesvc.sock'));
  if (Buffer.byteLength(path) <= MAX_SOCKET_BYTES) return path;
  if (settings.SOCKET !== undefined) {
    throw new StartError(
      `STATESVC_SOCKET: ${path} has ${Buffer.byteLength(path)} bytes, the system allows ${MAX_SOCKET_BYTES} in a socket's path. Choose a shorter one.`,
    );
  }
  return join(shortFolder(path), 'statesvc.sock');
}
