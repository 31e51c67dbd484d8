import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { App } from '@croft/http';
import type { Context } from '../context.ts';
import { ping } from '../store/server.ts';
import { wireTime } from '../wire-time.ts';

/** Whoever has not answered by then does not count as answering. */
const PATIENCE_MS = 3_000;

type Looked = Pick<Context, 'database' | 'git' | 'clock' | 'log'>;

/** `GET /api/healthz`, beside the API as the reference has it: 200 when requests can be served, 503 when not. */
export function serveHealth(app: App, context: Looked): void {
  // However many ask, one look is under way.
  let looking: Promise<readonly Check[]> | undefined;
  app.get('/api/healthz', { schema: { hide: true } }, async (_request, reply) => {
    looking ??= look(context).finally(() => {
      looking = undefined;
    });
    const checks = await looking;
    const passes = checks.every(({ failure }) => failure === undefined);
    const time = wireTime(context.clock.now());
    const body = {
      status: statusOf(passes),
      description: 'Croft Forge: issues and pull requests over git repositories',
      checks: Object.fromEntries(
        checks.map(({ name, failure }) => [
          name,
          [
            {
              status: statusOf(failure === undefined),
              time,
              ...(failure === undefined ? {} : { output: failure }),
            },
          ],
        ]),
      ),
    };
    return reply
      .code(passes ? 200 : 503)
      .header('cache-control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(body));
  });
}

const statusOf = (passes: boolean) => (passes ? 'pass' : 'fail');

interface Check {
  name: string;
  /** For everybody to read, so without any details. */
  failure: string | undefined;
}

async function look({ database, git, log }: Looked): Promise<Check[]> {
  const check = async (name: string, failure: string, work: Promise<void>): Promise<Check> => {
    try {
      await inTime(work);
      return { name, failure: undefined };
    } catch (error) {
      log.warn({ check: name, reason: error instanceof Error ? error.message : String(error) }, failure);
      return { name, failure };
    }
  };
  return await Promise.all([
    check('database:ping', 'the database cannot be reached', ping(database.autocommit())),
    check(
      'repositories:access',
      'the folder of the repositories cannot be used',
      access(git.folder, constants.R_OK | constants.W_OK | constants.X_OK),
    ),
  ]);
}

async function inTime(work: Promise<void>): Promise<void> {
  let waiting: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    waiting = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(waiting);
  }
}
