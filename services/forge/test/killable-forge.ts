import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@croft/runtime';
import { openDatabase, type Tx } from '@croft/sql';
import { bundledProgram, git, temporaryFolder, testDatabase } from '@croft/testing';
import { afterAll, beforeAll } from 'vitest';
import { MIGRATIONS, type Person, personWith, pushedRepository, SECRET, tokenFor } from './forge.ts';
import type { Report } from './steps.ts';

const PROGRAM = fileURLToPath(new URL('./forge-process.ts', import.meta.url));

/** A forge in a process of its own. */
export interface ForgeProcess extends AsyncDisposable {
  readonly address: string;
  readonly child: ChildProcess;
  /** Ends it as `kill -9` does; returns when it is gone. */
  kill(): Promise<void>;
}

/** Starts a forge in a process of its own and returns once it can be asked. */
export async function startForgeProcess(databaseUrl: string, dataFolder: string): Promise<ForgeProcess> {
  // Nothing of how the tests themselves are run.
  const child = fork(await bundledProgram(PROGRAM), [databaseUrl, dataFolder, SECRET], { execArgv: [] });
  const kill = async () => {
    if (child.signalCode !== null || child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  const failed = once(child, 'exit').then(() => {
    throw new Error('the forge did not start');
  });
  const [report] = (await Promise.race([once(child, 'message'), failed])) as [Report];
  failed.catch(() => {});
  return { address: report.address ?? '', child, kill, [Symbol.asyncDispose]: kill };
}

/** A forge to kill, with a database and folders that outlive it, and Ada, who has pushed a repository `work`. */
export interface KillableForge {
  readonly sql: Tx;
  readonly databaseUrl: string;
  readonly folder: string;
  readonly dataFolder: string;
  readonly ada: Person;
  /** A work tree of `ada/work`, and the forge's own repository. */
  readonly tree: string;
  readonly bare: string;
  person(name: string): Person;
  kill(): Promise<void>;
  /** Starts it after it was killed. The work tree pushes to its new address. */
  start(): Promise<void>;
  /** Settles with what the named request was about to do when it was stopped; see steps.ts. */
  stopped(request: string): Promise<string>;
}

/** Runs a forge that the tests of a file may kill. */
export function useKillableForge(): KillableForge {
  const stack = new AsyncDisposableStack();
  let running: ForgeProcess;
  const run = async () => {
    running = await startForgeProcess(forge.databaseUrl, forge.dataFolder);
  };
  const person = (name: string) => personWith(name, tokenFor(name), () => running.address);
  const forge = {
    ada: person('ada'),
    person,
    kill: () => running.kill(),
    async start() {
      await run();
      await git(forge.tree, 'remote', 'set-url', 'origin', forge.ada.remote('ada/work'));
    },
    stopped: (request: string) =>
      new Promise((resolve) => {
        running.child.on('message', ({ stopped, before = '' }: Report) => {
          if (stopped === request) resolve(before);
        });
      }),
  } as { -readonly [K in keyof KillableForge]: KillableForge[K] };
  beforeAll(async () => {
    const { url } = stack.use(await testDatabase({ schema: 'forge', migrations: MIGRATIONS }));
    const database = openDatabase({ url, schema: 'forge', log: silentLog });
    stack.defer(() => database.close());
    forge.sql = database.autocommit();
    forge.databaseUrl = url;
    forge.dataFolder = stack.use(await temporaryFolder()).path;
    forge.folder = stack.use(await temporaryFolder()).path;
    stack.defer(() => running.kill());
    await run();
    forge.tree = await pushedRepository(forge.ada, 'work', forge.folder);
    const row = await forge.sql.row<{ id: number }>`select id from :schema.repositories`;
    forge.bare = join(forge.dataFolder, 'repositories', `${row?.id}.git`);
  }, 60_000);
  afterAll(() => stack.disposeAsync());
  return forge;
}

/**
 * Kills the forge while statements of a kind wait, such as `update on forge.pulls`; none of them happens.
 * @param work what leads to such a statement; returns when the time has come
 */
export async function killDuring(
  forge: KillableForge,
  statements: string,
  work: () => Promise<void>,
): Promise<void> {
  await forge.sql.script(`
    create function forge.slow() returns trigger language plpgsql as 'begin perform pg_sleep(30); return new; end';
    create trigger slow before ${statements} for each row execute function forge.slow()`);
  await work();
  await forge.kill();
  await forge.sql.script(`
    select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database();
    drop function forge.slow() cascade`);
}
