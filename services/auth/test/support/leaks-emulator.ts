import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the emulator was asked. */
export interface LeakRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A service with the range interface of Have I Been Pwned, on loopback. */
export interface LeaksEmulator extends AsyncDisposable {
  url: string;
  requests: LeakRequest[];
  /** How it answers: as the real one, or badly. */
  mood: 'well' | 'down' | 'page' | 'empty' | 'silent' | 'redirect';
}

/**
 * @param leaked passwords it knows
 * @param padding passwords it names with a count of 0, as padding is
 */
export async function leaksEmulator(
  leaked: readonly string[],
  padding: readonly string[] = [],
): Promise<LeaksEmulator> {
  const requests: LeakRequest[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      requests.push({ method, path, headers, body });
      const prefix = /^\/range\/([0-9A-F]{5})$/.exec(path)?.[1];
      if (emulator.mood === 'silent') return;
      if (emulator.mood === 'down') return void response.writeHead(503).end('Service Unavailable');
      if (emulator.mood === 'page')
        return void response.writeHead(200).end('<html>Log in to the network</html>');
      if (emulator.mood === 'empty') return void response.writeHead(200).end('');
      if (emulator.mood === 'redirect') {
        return void response.writeHead(302, { location: 'http://192.0.2.1/range' }).end();
      }
      if (prefix === undefined || method !== 'GET')
        return void response.writeHead(400).end('The hash prefix was not in a valid format');
      const lines = [...linesOf(prefix, leaked, 3861493), ...linesOf(prefix, padding, 0)];
      const strangers = Array.from(
        { length: 20 },
        () => `${randomBytes(18).toString('hex').toUpperCase().slice(1)}:2`,
      );
      response.writeHead(200, { 'content-type': 'text/plain' }).end([...strangers, ...lines].join('\r\n'));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const emulator: LeaksEmulator = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    mood: 'well',
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return emulator;
}

function linesOf(prefix: string, passwords: readonly string[], count: number): string[] {
  return passwords
    .map((password) => createHash('sha1').update(password).digest('hex').toUpperCase())
    .filter((hash) => hash.startsWith(prefix))
    .map((hash) => `${hash.slice(5)}:${count}`);
}
