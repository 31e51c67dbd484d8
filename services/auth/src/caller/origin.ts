import type { IncomingHttpHeaders } from 'node:http';
import type { RedirectWish } from '../rules/redirect.ts';
import { clientAddress } from './client-address.ts';

/** A request as far as this file looks at it. */
interface Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Where a request comes from, whether or not the caller is known. */
export interface Origin {
  ip: string | null;
  userAgent: string;
  /** `X-JWT-AUD`: the audience the client wants to act in. */
  audience: string | undefined;
}

const MAX_USER_AGENT_CHARACTERS = 512;

/** Reads what sessions and the audit log keep of a request. */
export function originOf(request: Incoming): Origin {
  return {
    ip: clientAddress(headerOf(request, 'x-forwarded-for'), request.socket.remoteAddress),
    userAgent: (headerOf(request, 'user-agent') ?? '').slice(0, MAX_USER_AGENT_CHARACTERS),
    audience: headerOf(request, 'x-jwt-aud') || undefined,
  };
}

/** Reads where a request wants people to be sent. */
export function redirectWishOf(request: Incoming, parameter: string | undefined): RedirectWish {
  return { header: headerOf(request, 'redirect_to'), parameter, referer: headerOf(request, 'referer') };
}

function headerOf(request: Incoming, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
