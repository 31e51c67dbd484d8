import { Readable } from 'node:stream';
import type { DirectBody } from '@croft/http';
import type { Context } from '../context.ts';
import type { RunningProgram } from '../outside/git/broker.ts';
import type { DirectOutput } from '../outside/git/direct-output.ts';
import { startFetch } from '../outside/git/smart-http.ts';
import { readProtocol, speaksVersion2 } from '../rules/git/git-protocol.ts';
import type { GitVisitor } from './admit-git.ts';
import { checkWants, WantRefused } from './check-wants.ts';
import { readFetch } from './read-fetch.ts';
import { feed } from './request-body.ts';
import { runForClient } from './run-for-client.ts';

/** A request for one of git's programs. */
export interface GitCall {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
  onGone(listener: () => void): void;
}

/** Connects a client that fetches with the git program for it, without keeping anything of what it gets. */
export async function serveFetch(
  context: Context,
  { found: { repository }, share }: GitVisitor,
  call: GitCall,
): Promise<DirectBody> {
  const { git } = context;
  const protocol = readProtocol('git-upload-pack', call.headers['git-protocol']);
  const { body, done } = await readFetch(context, share, {
    body: call.body,
    encoding: encodingOf(call),
  });
  const start = async () => {
    // As git does by itself in older versions only.
    if (speaksVersion2(protocol)) await checkWants(git, repository.id, body);
    return await startFetch(git, repository.id, { protocol });
  };
  let program: RunningProgram<DirectOutput>;
  try {
    program = await runForClient(context, share, start);
  } catch (error) {
    if (!(error instanceof WantRefused)) throw error;
    const { answer } = error;
    const chunk = { memory: answer, start: 0, end: answer.length };
    return { copyTo: async (target) => void target.take(chunk, () => {}) };
  } finally {
    done();
  }
  call.onGone(() => program.kill());
  void program.exited.then((exit) => {
    if (exit.code !== 0)
      context.log.info(
        { service: 'git-upload-pack', repository: repository.id, ...exit },
        'git ended with an error',
      );
  });
  const request = Readable.from([body], { objectMode: false });
  const fed = program.stdin === undefined ? Promise.resolve() : feed(request, program.stdin);
  try {
    // Until git says something, a bad request can still be answered as one.
    await Promise.race([program.stdout.begun, failureOf(fed)]);
  } catch (failure) {
    program.kill();
    program.stdout.destroy();
    throw failure;
  }
  // A request that turns bad now breaks off the answer.
  fed.catch(() => program.kill());
  return program.stdout;
}

/** How the body of a request is packed. */
export function encodingOf({ headers }: GitCall): string {
  return String(headers['content-encoding'] ?? 'identity').toLowerCase();
}

/** Settles only when the promise fails, with its error. */
export function failureOf(promise: Promise<void>): Promise<never> {
  return new Promise((_, reject) => {
    promise.catch(reject);
  });
}
