import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Log, StartError } from '@croft/runtime';
import { isAlive } from './keeper.ts';

/**
 * Stops a server that somebody left running on this cluster; there must never be two. Returns the number in a
 * stale `postmaster.pid` that meanwhile belongs to an unrelated process, which PostgreSQL itself would take for
 * a running server.
 */
export async function stopOrphan(cluster: string, log: Log): Promise<number | undefined> {
  const pid = Number(
    (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n')[0],
  );
  if (!Number.isInteger(pid) || pid <= 1 || !isAlive(pid)) return undefined;
  if (!(await serves(pid, cluster))) return pid;

  log.warn({ pid }, 'stopping a PostgreSQL that an earlier run left behind');
  for (const [signal, seconds] of [
    ['SIGINT', 10],
    ['SIGQUIT', 10],
  ] as const) {
    process.kill(pid, signal);
    for (let waited = 0; waited < seconds * 50; waited++) {
      if (!isAlive(pid)) return undefined;
      await sleep(20);
    }
  }
  throw new StartError(
    `PostgreSQL (process ${pid}) still runs on ${cluster} and does not stop. End it with "kill -9 ${pid}" and start again.`,
  );
}

/** PostgreSQL works inside its cluster and has its path among its arguments; a process that reused the number does not. */
async function serves(pid: number, cluster: string): Promise<boolean> {
  if (process.platform === 'linux') {
    const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return cwd === cluster || command.split('\0').includes(cluster);
  }
  const shown = await promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return shown.stdout.includes(cluster);
}
