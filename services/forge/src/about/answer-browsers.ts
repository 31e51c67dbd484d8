import type { App } from '@croft/http';
import { API_PREFIX, type Links } from '../links.ts';

/**
 * Answers are full of addresses of pages, as the reference has them, and here are none. A person who follows one, such as that
 * for a pull request which a push prints, is told how it goes; programs get what is not there as they get it everywhere.
 */
export function answerBrowsers(app: App, links: Links): void {
  app.get('/', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(explain(links)),
  );
  app.addHook('onRequest', async (request, reply) => {
    const isPage =
      request.is404 && request.method === 'GET' && request.headers.accept?.includes('text/html') === true;
    if (!isPage || request.url.startsWith('/api/')) return;
    return reply.code(404).type('text/plain; charset=utf-8').send(explain(links));
  });
}

const explain = (
  links: Links,
) => `Croft has no pages; the API is at ${links.root}${API_PREFIX} (${links.documentation}).

To open a pull request:

  curl -H 'Authorization: token TOKEN' -d '{"title":"TITLE","head":"BRANCH","base":"main"}' ${links.api('/repos/OWNER/REPOSITORY/pulls')}
`;
