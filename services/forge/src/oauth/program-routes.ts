import type { App } from '@croft/http';
import { textsOf } from '@croft/http';
import { apiCredentialsOf } from '../caller/api-credentials.ts';
import { authenticate } from '../caller/authenticate.ts';
import type { Context } from '../context.ts';
import { tokenRequired } from '../failures.ts';
import { exchangeGrant } from './exchange-grant.ts';
import { readClient } from './find-client.ts';
import { OAUTH_PATHS } from './oauth-paths.ts';
import { OauthRefusal } from './oauth-refusal.ts';
import { readProfile } from './read-profile.ts';

const HEADERS = { 'cache-control': 'no-store', pragma: 'no-cache', 'access-control-allow-origin': '*' };
const hidden = { schema: { hide: true } };

/** What programs ask themselves, those in browsers too: for tokens, and whose they are. */
export function programRoutes(app: App, context: Context): void {
  app.post(OAUTH_PATHS.token, { ...hidden, config: { form: true } }, async (request, reply) => {
    reply.headers(HEADERS);
    try {
      const fields = textsOf(request.body);
      const presented = readClient(request.headers.authorization, fields);
      return await reply.send(await exchangeGrant(context, fields, presented));
    } catch (error) {
      if (!(error instanceof OauthRefusal)) throw error;
      const isChallenged = error.code === 'invalid_client' && request.headers.authorization !== undefined;
      if (isChallenged) reply.header('www-authenticate', 'Basic realm="Croft"');
      return await reply
        .code(isChallenged ? 401 : 400)
        .send({ error: error.code, error_description: error.message });
    }
  });

  app.route({
    method: ['GET', 'POST'],
    url: OAUTH_PATHS.userinfo,
    ...hidden,
    async handler(request, reply) {
      reply.headers(HEADERS);
      // Of whatever scope: who has a token may know whose it is, as in the reference.
      const caller = await authenticate(context, apiCredentialsOf(context, request));
      if (caller === undefined) throw tokenRequired();
      return await reply.send(await readProfile(context, caller));
    },
  });

  // Browsers ask before a script sends Authorization to another site.
  for (const [url, methods] of [
    [OAUTH_PATHS.token, 'POST'],
    [OAUTH_PATHS.userinfo, 'GET, POST'],
  ] as const) {
    app.options(url, hidden, async (_request, reply) =>
      reply
        .headers({
          ...HEADERS,
          allow: `${methods}, OPTIONS`,
          'access-control-allow-methods': methods,
          'access-control-allow-headers': 'authorization, content-type',
        })
        .code(204)
        .send(),
    );
  }
}
