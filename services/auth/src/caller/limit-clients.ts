import { createHash } from 'node:crypto';
import type { App, Request } from '@croft/http';
import type { AuthContext } from '../context.ts';
import { onBehalfOf } from '../limits/asking-client.ts';
import type { BucketName } from '../limits/limits.ts';
import { lastField } from '../requests.ts';
import { addressKey, comesFromProxy, readAddress, trustedProxies } from './client-address.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * What the clients of this route are limited in. Known by the route alone, a request is counted before its body is
     * read; told by its body, which is not validated yet, after it was parsed.
     */
    limit?: BucketName | ((request: Request) => BucketName | undefined);
    /** Whether those who ask, administrators, may use all mails of the hour. */
    unshared?: boolean;
  }
}

/**
 * Refuses what a client asks for too often, by the `limit` of the route's config, and lets what is done for a request
 * know its client, for the share that each has of the mails of an hour.
 */
export function limitClients(app: App, context: Pick<AuthContext, 'settings' | 'limits' | 'log'>): void {
  const { limits } = context;
  const clientOf = clientsTeller(context);
  app.addHook('onRequest', (request, _reply, done) => {
    const { limit } = request.routeOptions.config;
    if (typeof limit !== 'string') return done();
    limits.take(limit, clientOf(request)).then(() => done(), done);
  });
  app.addHook('preValidation', (request, _reply, done) => {
    const { limit } = request.routeOptions.config;
    const bucket = typeof limit === 'function' ? limit(request) : undefined;
    if (bucket === undefined) return done();
    limits.take(bucket, clientOf(request)).then(() => done(), done);
  });
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.routeOptions.config.unshared === true) return done();
    onBehalfOf(() => clientOf(request), done);
  });
}

/** `limit` of POST /signup: without an address it makes an anonymous user, of which there are fewer. */
export function signUpBucket(request: Request): BucketName {
  const { body } = request;
  const isAnonymous = [lastField(body, 'email'), lastField(body, 'phone')].every((value) => !value);
  return isAnonymous ? 'anonymous' : 'signup';
}

/**
 * How clients are told apart: by the header the operator named, when a proxy sent it, else by their address. Without
 * that condition whoever reaches the service past the proxy would choose a new name for every request.
 */
function clientsTeller(context: Pick<AuthContext, 'settings' | 'log'>): (request: Request) => string | null {
  const { settings, log } = context;
  const proxies = trustedProxies(settings.TRUSTED_PROXIES);
  const nearby = trustedProxies(['loopback', 'private']);
  const header = settings.RATE_LIMIT_HEADER?.toLowerCase();
  let warned = false;
  let told = false;
  /** Most likely a proxy nobody named: everybody behind it is one client, and they are refused together. */
  const tellOfProxy = (peer: string | undefined): void => {
    if (told || !comesFromProxy(peer, nearby) || proxies.count !== undefined || comesFromProxy(peer, proxies))
      return;
    told = true;
    log.warn(
      { peer },
      'X-Forwarded-For is ignored: it was sent by an address that TRUSTED_PROXIES does not include',
    );
  };
  return (request) => {
    if (request.headers['x-forwarded-for'] !== undefined) tellOfProxy(request.socket.remoteAddress);
    const address = request.clientAddress === null ? null : addressKey(request.clientAddress);
    // This one has a rule of its own, which clients cannot write around.
    if (header === undefined || header === 'x-forwarded-for') return address;
    const named = lastValue(request.headers[header]);
    if (named === '') return address;
    if (comesFromProxy(request.socket.remoteAddress, proxies)) return nameKey(named);
    if (!warned) {
      log.warn(
        { header, peer: request.socket.remoteAddress },
        'RATE_LIMIT_HEADER is ignored: it was sent by an address that TRUSTED_PROXIES does not include',
      );
      warned = true;
    }
    return address;
  };
}

/** Of several values the last: a proxy that appends instead of overwriting wrote that one. */
function lastValue(header: string | string[] | undefined): string {
  return [header ?? ''].flat().join(',').split(',').at(-1)?.trim() ?? '';
}

/**
 * A name is kept in mind for a while, so it is as short as an address. One that is an address counts as that client's own
 * would: with every connection a proxy may write another port behind it.
 */
function nameKey(name: string): string {
  const address = readAddress(name);
  if (address !== null) return addressKey(address);
  return name.length <= 64 ? name : createHash('sha256').update(name).digest('base64url');
}
