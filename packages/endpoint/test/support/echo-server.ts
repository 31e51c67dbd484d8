import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request as the server received it. */
export interface Echo {
  method: string;
  url: string;
  headers: Partial<Record<string, string>>;
  body: string;
}

type Page = [type: string, content: string];

/** A server on loopback that answers with what it received, but for `/never` and pages under a strict policy. */
export async function startEchoServer(
  pages: Readonly<Record<string, Page>> = {},
): Promise<{ base: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    if (page) showPage(page, response);
    else if (request.url !== '/never') void echo(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function showPage([type, content]: Page, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': type, 'content-security-policy': "default-src 'self'" });
  response.end(content);
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '', headers } = request;
  const body = await text(request);
  response.writeHead(200, { 'content-type': 'application/json', 'x-method': method, 'x-url': url });
  response.end(JSON.stringify({ method, url, headers, body }));
}
