import type { App } from '@croft/http';
import type { Links } from '../links.ts';

/** A repository, or a package somewhere in it; of names only what they may have, as they are said again in HTML. */
const IMPORT_PATH = /^\/(?!api\/)([\w.-]+)\/([\w.-]+)(?:\/[^?]*)?\?(?:.*&)?go-get=1(?:&|$)/;

/**
 * Tells the go command where a module is: it asks at every import path without `.git` in it (`go help importpath`). Said to
 * everybody alike, so that it says nothing of the repository; whether there is one, git tells who may know.
 */
export function answerGo(app: App, links: Links): void {
  app.addHook('onRequest', async (request, reply) => {
    // A package may be called like something that is served.
    const [, owner, repo] = IMPORT_PATH.exec(request.url) ?? [];
    if (owner === undefined || repo === undefined) return;
    const address = links.repository(owner, repo);
    const [, prefix] = address.split('://');
    return reply
      .type('text/html; charset=utf-8')
      .send(`<meta name="go-import" content="${prefix} git ${address}.git">\n`);
  });
}
