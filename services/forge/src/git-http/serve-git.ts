import { Readable } from 'node:stream';
import type { Context } from '../context.ts';
import { startServing } from '../outside/git/smart-http.ts';
import { type GitService, readProtocol } from '../rules/git-protocol.ts';
import type { RepositoryRow } from '../store/repositories.ts';
import { beginPush, recordPush } from './record-push.ts';
import { feed, plainBody } from './request-body.ts';
import { outputOf, runForClient } from './run-for-client.ts';

/** Wants and haves of a fetch: a hundred thousand refs take 5 MB. */
const MAX_FETCH_REQUEST_BYTES = 32 * 1024 * 1024;
/** What comes before the pack of a push: its commands. */
const MAX_COMMANDS_BYTES = 32 * 1024 * 1024;

/** A request for one of git's programs. */
export interface GitCall {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
  onGone(listener: () => void): void;
}

/** Connects a client with the git program it asked for, without keeping anything of what passes. */
export async function serveGit(
  context: Context,
  repository: RepositoryRow,
  service: GitService,
  call: GitCall,
): Promise<Readable> {
  const { git, settings, queues } = context;
  const pushing = service === 'git-receive-pack';
  const maxPushBytes = settings.GIT_MAX_PUSH_BYTES;
  const request = { service, protocol: readProtocol(service, call.headers['git-protocol']), maxPushBytes };
  // The intent: should we die during the push, the next start looks at what it changed.
  const push = pushing ? await beginPush(context, repository.id) : undefined;
  const program = await runForClient(context, () => startServing(git, repository.id, request));
  call.onGone(() => program.kill());
  // Also when the client is gone: its branches may have moved all the same.
  const recorded = queues.track(
    program.exited.then(async (exit) => {
      if (exit.code !== 0)
        context.log.info({ service, repository: repository.id, ...exit }, 'git ended with an error');
      if (push !== undefined) await recordPush(context, repository.id, push);
    }),
  );

  const encoding = String(call.headers['content-encoding'] ?? 'identity').toLowerCase();
  const limit = pushing ? maxPushBytes + MAX_COMMANDS_BYTES : MAX_FETCH_REQUEST_BYTES;
  const fed =
    program.stdin === undefined
      ? Promise.resolve()
      : feed(plainBody(call.body, encoding, limit), program.stdin);
  const output = outputOf(program);
  try {
    // Until git says something, a bad request can still be answered as one.
    const first = await Promise.race([output.next(), failureOf(fed)]);
    return Readable.from(answer(first), { objectMode: false });
  } catch (failure) {
    program.kill();
    throw failure;
  }

  async function* answer(first: IteratorResult<Buffer, void>) {
    // A request that turns bad now breaks off the answer.
    fed.catch(() => program.kill());
    if (!first.done) yield first.value;
    yield* output;
    // The client's next request must see what its push did.
    await recorded;
  }
}

/** Settles only when the promise fails, with its error. */
function failureOf(promise: Promise<void>): Promise<never> {
  return new Promise((_, reject) => {
    promise.catch(reject);
  });
}
