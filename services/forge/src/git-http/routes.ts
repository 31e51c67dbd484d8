import { Readable } from 'node:stream';
import { Failure } from '@croft/failure';
import { type App, answerDirectly } from '@croft/http';
import { withShare } from '@croft/runtime';
import { credentialsOf } from '../caller/authenticate.ts';
import type { Context } from '../context.ts';
import type { GitService } from '../rules/git/git-protocol.ts';
import { admitGit } from './admit-git.ts';
import { advertiseRefs } from './advertise-refs.ts';
import { serveFetch } from './serve-git.ts';
import { servePush } from './serve-push.ts';

const NO_CACHE = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  pragma: 'no-cache',
  expires: '0',
};
const NO_LFS =
  'this server does not keep Git LFS objects: push the files themselves, or set lfs.url to a server that does';
const SERVICES: readonly GitService[] = ['git-upload-pack', 'git-receive-pack'];

interface RepositoryPath {
  owner: string;
  repo: string;
}

/**
 * git's smart protocol over HTTP (gitprotocol-http(5)) under `/{owner}/{repo}` with and without `.git`. Bodies are
 * streams here, in both directions: nothing of a pack is kept.
 */
export async function gitRoutes(app: App, context: Context): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    const options = { schema: { hide: true }, config: { timeoutMs: 0 } };

    scope.get('/:owner/:repo/info/refs', options, async (request, reply) => {
      const { service } = request.query as { service?: unknown };
      const known = SERVICES.find((name) => name === service);
      // The "dumb" protocol would serve files by their path; nobody needs it any more.
      if (known === undefined)
        throw new Failure('forbidden', 'dumb_protocol', 'only the smart protocol is served');
      const visitor = await admitGit(
        context,
        credentialsOf(request),
        request.params as RepositoryPath,
        known,
      );
      const version = request.headers['git-protocol'];
      const refs = await withShare(visitor.share, () => advertiseRefs(context, visitor, known, version));
      return reply.headers(NO_CACHE).type(`application/x-${known}-advertisement`).send(refs);
    });

    // Said to everybody alike, so that it says nothing of the repository.
    scope.route({
      method: ['GET', 'POST', 'PUT'],
      url: '/:owner/:repo/info/lfs/*',
      ...options,
      async handler(_request, reply) {
        reply.code(501).type('application/vnd.git-lfs+json');
        return reply.send(
          JSON.stringify({ message: NO_LFS, documentation_url: context.links.documentation }),
        );
      },
    });

    for (const service of SERVICES) {
      scope.post(`/:owner/:repo/${service}`, options, async (request, reply) => {
        const path = request.params as RepositoryPath;
        const visitor = await admitGit(context, credentialsOf(request), path, service);
        const call = {
          headers: request.headers,
          body: request.body instanceof Readable ? request.body : Readable.from([]),
          // Told when the client goes away.
          onGone: (listener: () => void) => void reply.raw.once('close', listener),
        };
        const { caller } = visitor;
        reply.headers(NO_CACHE);
        if (service === 'git-receive-pack' && caller !== undefined) {
          const result = await withShare(visitor.share, () =>
            servePush(context, { ...visitor, caller }, call),
          );
          return reply.type(`application/x-${service}-result`).send(result);
        }
        const pack = await withShare(visitor.share, () => serveFetch(context, visitor, call));
        return await answerDirectly(reply.type(`application/x-${service}-result`), pack);
      });
    }
  });
}
