import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What stands before a server in the address people give to `createClient`. */
export interface Gateway extends AsyncDisposable {
  url: string;
  /** Methods and paths it was asked for. */
  asked: string[];
}

/** Everything below `/auth/v1` goes to the server, as with the gateways the library is made for; it does nothing else. */
export async function startGateway(server: string): Promise<Gateway> {
  const asked: string[] = [];
  const gateway = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const path = /^\/auth\/v1(\/.*)$/.exec(request.url ?? '')?.[1];
    if (path === undefined) response.writeHead(404).end();
    else forward(new URL(path, server), request, response);
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  return {
    url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      const closed = once(gateway, 'close');
      gateway.close();
      gateway.closeAllConnections();
      await closed;
    },
  };
}

function forward(to: URL, request: IncomingMessage, response: ServerResponse): void {
  const onward = send(to, { method: request.method, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}
