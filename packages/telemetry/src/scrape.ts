import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { StartError } from '@croft/runtime';
import type { Scrape } from './options.ts';

/** Writes the metrics as an answer. */
type Render = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that is asked for metrics. */
export interface ScrapeServer {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Answers `GET /` with the metrics and everything else with 404 or 405. It is a server of its own, because metrics are
 * for the operator's network, not for the clients of the service.
 * @throws StartError when the address cannot be used
 */
export async function serveMetrics({ scrape }: Scrape, render: Render): Promise<ScrapeServer> {
  const server = createServer((request, response) => answer(request, response, render));
  server.requestTimeout = 10_000;
  server.maxConnections = 64;
  server.listen(scrape.port, scrape.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code ?? message})`;
    throw new StartError(
      `The address ${scrape.host}:${scrape.port} for metrics ${why}. Choose another with ${scrape.portSetting}.`,
      { cause: error },
    );
  }
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : scrape.port;
  const host = scrape.host === '0.0.0.0' || scrape.host === '::' ? '127.0.0.1' : scrape.host;
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, render: Render): void {
  const path = (request.url ?? '').split('?', 1)[0];
  if (path !== '/') response.writeHead(404).end();
  else if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end();
  } else render(request, response);
}
