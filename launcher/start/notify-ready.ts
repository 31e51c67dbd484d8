import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Log } from '@croft/runtime';
import type { Environment } from '../environment.ts';

const NOTIFY_MS = 5000;

/** Tells systemd that everything is up (sd_notify(3)), where that was asked for. Node cannot send to such a socket itself. */
export async function notifyReady({ NOTIFY_SOCKET, PATH }: Environment, log: Log): Promise<void> {
  if (NOTIFY_SOCKET === undefined) return;
  try {
    await promisify(execFile)('systemd-notify', ['--ready'], {
      env: { NOTIFY_SOCKET, PATH },
      timeout: NOTIFY_MS,
    });
  } catch (error) {
    log.error({ err: error }, 'systemd could not be told that Croft is up');
  }
}
