import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import pg from 'pg';
import type { Forge } from './service.ts';

/**
 * Starts the least that can answer with fifty issues of a repository, in a process of its own: one statement by an index,
 * its rows as JSON, no rights, no people, no labels. What the same clients wait for it is what this machine allows.
 */
export async function startPlainList(databaseUrl: string): Promise<Forge> {
  const server = fork(import.meta.filename, [databaseUrl]);
  const [address] = (await once(server, 'message')) as [string];
  return {
    address,
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'exit');
      if (server.exitCode === null && server.kill()) await ended;
    },
  };
}

// Forked by `startPlainList`.
if (import.meta.main) {
  const pool = new pg.Pool({ connectionString: process.argv[2], max: 2 * availableParallelism() });
  const server = createServer((request, response) => {
    const repository = Number(request.url?.split('/').at(-1));
    const newest = {
      name: 'newest',
      text: 'select * from forge.issues where repository_id = $1 order by created_at desc, id desc limit 50',
      values: [repository],
    };
    pool.query(newest).then(
      ({ rows }) => response.setHeader('content-type', 'application/json').end(JSON.stringify(rows)),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  });
  process.once('SIGTERM', () => process.exit(0));
}
