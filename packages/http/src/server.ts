import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { StartError } from '@croft/runtime';
import type { App } from './types.ts';

/**
 * Starts listening and returns once the service has answered a request of its own, so "ready" is an observation.
 * @param probe path of a route that answers 200 without credentials
 * @throws StartError naming a busy, forbidden or missing address and the setting that chooses another
 */
export async function listen(
  app: App,
  at: { host: string; port: number; portSetting: string },
  probe: string,
): Promise<string> {
  try {
    await app.listen({ host: at.host, port: at.port });
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, at);
  }
  const bound = app.server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : at.port;
  const host = at.host === '0.0.0.0' || at.host === '::' || at.host === '' ? '127.0.0.1' : at.host;
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const status = await ask(address + probe);
  if (status !== 200) throw new StartError(`${address}${probe} answers ${status} to its own first request`);
  return address;
}

function explain(
  error: NodeJS.ErrnoException,
  at: { host: string; port: number; portSetting: string },
): Error {
  const { host, port, portSetting } = at;
  const hostSetting = portSetting.replace(/PORT$/, 'HOST');
  switch (error.code ?? '') {
    case 'EADDRINUSE':
      return new StartError(
        `The address ${host}:${port} is in use. Stop what uses it, or choose another with ${portSetting}.`,
      );
    case 'EACCES':
      return new StartError(
        `The port ${port} is not allowed to this user. Choose one from 1024 on with ${portSetting}.`,
      );
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
      return new StartError(
        `The address ${host} does not exist on this machine. Choose another with ${hostSetting}.`,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartError(
        `The name ${host} leads to no address (${error.code}). Choose another with ${hostSetting}.`,
      );
    default:
      return error;
  }
}

/**
 * The status of a first request. Not by `fetch`, and not by an import of `node:http`, which loads what belongs to
 * `fetch` as well: that takes 60 ms, a service's own start 100.
 */
async function ask(url: string): Promise<number | undefined> {
  const { get } = process.getBuiltinModule('node:http');
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

/** Refuses new connections, lets requests in flight finish for at most `graceMs`, then cuts what is left. */
export async function closeGracefully(app: App, graceMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  // A kept-alive connection becomes idle when its request is answered, which may be after the server began to close.
  const hangUp = setInterval(() => app.server.closeIdleConnections(), 50);
  const closed = app.server.listening ? once(app.server, 'close') : Promise.resolve();
  await app.close();
  await closed;
  clearTimeout(cut);
  clearInterval(hangUp);
}
