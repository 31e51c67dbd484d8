import { join } from 'node:path';
import { expect } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from './daemon.ts';

/** All homes, as the dump has them. */
export const homesOf = async (daemon: Daemon) => (await daemon.dump()).homes;

/** A daemon with a user who has a home. */
export async function withHome(user = 'ada') {
  const daemon = await startDaemon();
  const path = join(temporaryFolder(), user);
  const answer = await daemon.call('CreateUserData', { user, homepath: path });
  expect(answer).toMatchObject({ code: 0, lines: [`${path} is the home of ${user} now`], results: [] });
  return { daemon, path, machine: `vault:${daemon.tree}` };
}
