import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Daemon, type DumpedState, startDaemon, temporaryFolder } from './daemon.ts';

/** A daemon and the home of somebody who may put there what he likes. */
export async function withHome(user = 'eve') {
  const daemon = await startDaemon();
  writeFileSync(join(daemon.tree, 'hosts'), 'system');
  const home = join(temporaryFolder(), user);
  // `rmSync` does not get as deep as some of these trees.
  onTestFinished(() => void execFileSync('rm', ['-rf', '--', home]));
  expect((await daemon.call('CreateUserData', { user, homepath: home })).code).toBe(0);
  writeFileSync(join(home, 'file'), 'of the user');
  return { daemon, home };
}

/** A state of the machine, or of one of its users, as the dump has it. */
export const stateOf = async (daemon: Daemon, name: string, user: string | null) =>
  (await daemon.dump()).machines[0]?.states.find(
    (state) => state.name === name && state.user === user,
  ) as DumpedState;
