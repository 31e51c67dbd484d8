import type { IncomingHttpHeaders } from 'node:http';
import type { App } from '@croft/http';
import type { RedirectWish } from '../rules/redirects/redirect.ts';
import type { AuthSettings } from '../settings.ts';
import { clientAddress, trustedProxies } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address the request comes from, whatever proxies are between; null when the connection is gone. */
    readonly clientAddress: string | null;
  }
}

/** A request as far as this file looks at it. */
interface Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly clientAddress: string | null;
}

/** Where a request comes from, whether or not the caller is known. */
export interface Origin {
  ip: string | null;
  userAgent: string;
  /** `X-JWT-AUD`: the audience the client wants to act in. */
  audience: string | undefined;
}

const MAX_USER_AGENT_CHARACTERS = 512;

/** Gives every request its `clientAddress`. */
export function recogniseClients(app: App, settings: Pick<AuthSettings, 'TRUSTED_PROXIES'>): void {
  const proxies = trustedProxies(settings.TRUSTED_PROXIES);
  app.decorateRequest('clientAddress', {
    getter() {
      return clientAddress(headerOf(this, 'x-forwarded-for'), this.socket.remoteAddress, proxies);
    },
  });
}

/** Reads what sessions and the audit log keep of a request. */
export function originOf(request: Incoming): Origin {
  return {
    ip: request.clientAddress,
    userAgent: (headerOf(request, 'user-agent') ?? '').slice(0, MAX_USER_AGENT_CHARACTERS),
    audience: headerOf(request, 'x-jwt-aud') || undefined,
  };
}

/** Reads where a request wants people to be sent. */
export function redirectWishOf(
  request: Pick<Incoming, 'headers'>,
  parameter: string | undefined,
): RedirectWish {
  return { header: headerOf(request, 'redirect_to'), parameter, referer: headerOf(request, 'referer') };
}

/** The first value of a header field. */
export function headerOf(request: Pick<Incoming, 'headers'>, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
