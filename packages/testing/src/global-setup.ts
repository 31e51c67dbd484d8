import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@croft/runtime';
import { startEmbeddedPostgres } from '@croft/sql/embedded';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the run's server, its maintenance database. */
    postgresUrl: string;
  }
}

/** Starts the one PostgreSQL of a test run; `CROFT_TEST_DATABASE_URL` names a server that is there already. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['CROFT_TEST_DATABASE_URL'];
  if (given !== undefined) {
    project.provide('postgresUrl', given);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'croft-pg-'));
  const server = await startEmbeddedPostgres({
    folder: join(folder, 'postgres'),
    log: silentLog,
    tuning: 'test',
  });
  project.provide('postgresUrl', server.url('croft'));
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
