import { lookup } from 'node:dns';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { assertOutsideTransaction } from '@croft/runtime';
import { type Connections, keptConnections } from './kept-connections.ts';
import { isPublicAddress } from './public-address.ts';

/** One request. Without a method it is a POST when it carries a form or JSON, else a GET. */
export interface OutgoingRequest {
  method?: 'GET' | 'POST';
  headers?: Readonly<Record<string, string>>;
  form?: Readonly<Record<string, string>>;
  json?: unknown;
  /** Bytes that are sent as they are. */
  body?: { type: string; text: string };
  basic?: { user: string; password: string };
  /** For the whole exchange with its redirects; 10 seconds. */
  timeoutMs?: number;
  /** Of the answer's body; 1 MiB. */
  maxBytes?: number;
  /** Whether a longer body is cut there instead of refused. */
  cut?: boolean;
  /** False takes a redirect for the answer. */
  followRedirects?: boolean;
}

/** What came back, whatever its status. */
export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** The body read as JSON; undefined when it is none. */
  json(): unknown;
}

/**
 * Sends a request out of the process.
 * @throws OutgoingFailed when there is no answer, or none that may be taken; the signal's own reason when it is aborted
 */
export type OutgoingHttp = (
  url: string,
  request?: OutgoingRequest,
  signal?: AbortSignal,
) => Promise<OutgoingAnswer>;

export type OutgoingFailure = 'time-out' | 'network' | 'too-large' | 'refused-address' | 'redirect';

/** There is no answer to use. The text names the origin only: a path or query may hold a secret. */
export class OutgoingFailed extends Error {
  override readonly name = 'OutgoingFailed';
  readonly reason: OutgoingFailure;
  constructor(reason: OutgoingFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 1_048_576;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** To whom requests may go, and in whose name. */
export interface OutgoingOptions {
  userAgent: string;
  /** Origins that are allowed wherever they are, by any URL of theirs. */
  trusted: readonly string[];
  /** Whether a host may be connected to at an address that is not public; nobody when it is left out. */
  allowed?: (host: string, address: string) => boolean;
  /**
   * Keeps connections for the next request to the same host. For receivers that know what they have already: a request
   * on a connection that they were just closing is sent once more.
   */
  keepAlive?: boolean;
}

/**
 * The only way a service speaks HTTP to others. An origin the operator configured (`trusted`, any URL of it) is
 * allowed wherever it is; all others, which come from answers or from people, must be public addresses, or ones that
 * `allowed` lets pass. That is judged
 * on the address that is connected to, so a name that resolves differently a moment later gains nothing. Redirects are
 * followed within the origin only: a trusted server cannot lend its trust.
 */
export function outgoingHttp(options: OutgoingOptions): OutgoingHttp {
  const { allowed = () => false } = options;
  const connections = options.keepAlive === true ? keptConnections() : undefined;
  const trusted = new Set(
    options.trusted.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin),
  );
  return async (address, request = {}, signal) => {
    assertOutsideTransaction('an outgoing request');
    signal?.throwIfAborted();
    const timeLimit = AbortSignal.timeout(request.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const either = signal === undefined ? timeLimit : AbortSignal.any([signal, timeLimit]);
    let url = acceptedUrl(address);
    let next = request;
    for (let redirects = 0; ; redirects++) {
      const mayConnect: MayConnect | undefined = trusted.has(url.origin)
        ? undefined
        : (host, address) => isPublicAddress(address) || allowed(host, address);
      const way = { userAgent: options.userAgent, mayConnect, connections };
      const answer = await exchange(url, next, way, either).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw asOutgoingFailed(error, url, timeLimit.aborted);
      });
      const location = answer.headers.get('location');
      if (!REDIRECTS.has(answer.status) || location === null || request.followRedirects === false)
        return answer;
      if (redirects === MAX_REDIRECTS)
        throw new OutgoingFailed('redirect', `${url.origin} redirects without end`);
      const target = redirectTarget(location, url);
      // As browsers do (RFC 9110 §15.4): only 307 and 308 repeat a POST with its body.
      if (answer.status < 307) next = withoutBody(next);
      url = target;
    }
  };
}

function acceptedUrl(address: string): URL {
  if (!URL.canParse(address))
    throw new OutgoingFailed('refused-address', 'what should be requested is no URL');
  const url = new URL(address);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutgoingFailed('refused-address', `${url.protocol} is not http or https`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutgoingFailed('refused-address', `the URL for ${url.host} carries credentials`);
  }
  return url;
}

function redirectTarget(location: string, from: URL): URL {
  const target = URL.canParse(location, from.href) ? new URL(location, from.href) : undefined;
  if (target?.origin !== from.origin || target.username !== '' || target.password !== '') {
    throw new OutgoingFailed('redirect', `${from.origin} redirects to another origin`);
  }
  return target;
}

function withoutBody(request: OutgoingRequest): OutgoingRequest {
  const { form: _form, json: _json, body: _body, ...rest } = request;
  return { ...rest, method: 'GET' };
}

/** The request body with the headers that describe it. */
function bodyOf(request: OutgoingRequest): { type: string; text: string } | undefined {
  if (request.body !== undefined) return request.body;
  if (request.form !== undefined) {
    return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams(request.form).toString() };
  }
  if (request.json === undefined) return undefined;
  return { type: 'application/json', text: JSON.stringify(request.json) };
}

interface Way {
  userAgent: string;
  /** Undefined for a trusted origin, which is at one address or another whoever asks. */
  mayConnect: MayConnect | undefined;
  /** Undefined for a new one each time. */
  connections: Connections | undefined;
}

async function exchange(
  url: URL,
  request: OutgoingRequest,
  { userAgent, mayConnect, connections }: Way,
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An address written in the URL is never looked up, so the check at connect would not see it.
  if (mayConnect !== undefined && isIP(host) !== 0 && !mayConnect(host, host)) throw refusedAddress(url.host);
  const body = bodyOf(request);
  const headers: Record<string, string> = {
    'user-agent': userAgent,
    accept: 'application/json',
    // Asked for as it is: what is not unpacked cannot grow past the limit.
    'accept-encoding': 'identity',
    ...lowerCased(request.headers),
  };
  if (request.basic !== undefined) {
    const { user, password } = request.basic;
    headers['authorization'] = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  }
  if (body !== undefined) {
    headers['content-type'] = body.type;
    headers['content-length'] = String(Buffer.byteLength(body.text));
  }
  const response = await send(
    url,
    {
      method: request.method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      signal,
      agent: (await connections?.(url.protocol)) ?? false,
      ...(mayConnect === undefined ? {} : { lookup: lookupOf(mayConnect) }),
    },
    body?.text,
  );
  const text = await readText(response, request, url.origin);
  return { status: response.statusCode ?? 0, headers: headersOf(response), text, json: () => parsed(text) };
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Sends and waits for the head of the answer. The client is loaded with the first request. */
async function send(url: URL, options: RequestOptions, body: string | undefined): Promise<IncomingMessage> {
  const { request } = url.protocol === 'https:' ? await import('node:https') : await import('node:http');
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(url, options, resolve);
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // It was closed from the other side while nobody used it; a new one tells whether there is anybody.
      const wasStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      if (wasStale) resolve(send(url, { ...options, agent: false }, body));
      else reject(error);
    });
    // An upgrade nobody asked for ends the connection without an answer and without an error.
    outgoing.on('close', () => reject(new Error('the connection was closed without an answer')));
    outgoing.end(body);
  });
}

async function readText(
  response: IncomingMessage,
  { maxBytes = DEFAULT_MAX_BYTES, cut = false }: OutgoingRequest,
  origin: string,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop destroys the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes && cut) return Buffer.concat([...chunks, chunk], maxBytes).toString('utf8');
    if (size > maxBytes)
      throw new OutgoingFailed('too-large', `${origin} answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function headersOf(response: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(response.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a host may be connected to at one of its addresses. */
type MayConnect = (host: string, address: string) => boolean;

/** Resolves a name to those of its addresses that may be connected to; the connection goes to one of these and no other. */
const lookupOf =
  (mayConnect: MayConnect): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const usable = found.filter(({ address }) => mayConnect(hostname, address));
      const [first] = usable;
      if (first === undefined) {
        callback(refusedAddress(hostname), '', 0);
        return;
      }
      if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };

function refusedAddress(host: string): OutgoingFailed {
  return new OutgoingFailed('refused-address', `${host} is not at a public address`);
}

function asOutgoingFailed(error: unknown, url: URL, timeIsUp: boolean): OutgoingFailed {
  if (error instanceof OutgoingFailed) return error;
  if (timeIsUp) return new OutgoingFailed('time-out', `${url.origin} did not answer in time`, error);
  const { code, message } = error as NodeJS.ErrnoException;
  return new OutgoingFailed('network', `${url.origin} cannot be reached: ${code ?? message}`, error);
}
