import { layer } from './layer.ts';
import { merge } from './merge.ts';
import { isParameter } from './options.ts';
import { build, parse } from './parse.ts';
import type { RouteParameters } from './route-types.ts';
import type { EndpointOptions, MergedOptions, RequestOptions, RequestParameters } from './types.ts';
import { version } from './version.ts';

// Options are optional only where the route asks for no parameter.
type RouteOptions<Route extends string, Defaults> =
  unknown extends RouteParameters<Route, Defaults>
    ? [options?: RequestParameters]
    : // biome-ignore lint/complexity/noBannedTypes: asks whether an empty object would do
      {} extends RouteParameters<Route, Defaults>
      ? [options?: RequestParameters & RouteParameters<Route, Defaults>]
      : [options: RequestParameters & RouteParameters<Route, Defaults>];

/** Turns routes and parameters into request options, over defaults of its own. */
export interface Endpoint<Defaults = unknown> {
  <const Route extends string>(route: Route, ...options: RouteOptions<Route, Defaults>): RequestOptions;
  <const Url extends string = string>(
    options?: EndpointOptions & { url?: Url | undefined } & RouteParameters<Url, Defaults>,
  ): RequestOptions;
  /** The current defaults, frozen to the ground. */
  readonly DEFAULTS: Readonly<MergedOptions>;
  /** A builder with `options` as defaults on top of these. */
  defaults<const Options extends EndpointOptions>(options: Options): Endpoint<Defaults & Options>;
  /** The options with all defaults in place, not yet turned into a request. */
  merge(route: string, options?: EndpointOptions): MergedOptions;
  merge(options?: EndpointOptions): MergedOptions;
  /** Turns merged options into request options; needs no defaults and keeps no state. */
  parse(options: EndpointOptions): RequestOptions;
}

function endpointOver(options: MergedOptions): Endpoint {
  const DEFAULTS = layer(options, undefined, true) as MergedOptions;
  // Without parameters among the defaults, those of a call are read where they are.
  const isWhole = Object.keys(DEFAULTS).some((key) => isParameter(key) || key === 'request');
  const endpoint = (route: unknown, options?: unknown) => {
    const merged = merge(DEFAULTS, route, options, isWhole);
    const given = isWhole ? merged : typeof route === 'string' ? options : route;
    return build(merged, merged.headers, (given ?? {}) as EndpointOptions);
  };
  return Object.assign(endpoint, {
    DEFAULTS,
    defaults: (options: EndpointOptions) => endpointOver(merge(DEFAULTS, options, undefined, true)),
    merge: (route?: unknown, options?: unknown) => merge(DEFAULTS, route, options, true),
    parse,
  });
}

/** The builder over the defaults of a Croft server on this machine. */
export const endpoint = endpointOver({
  method: 'GET',
  baseUrl: 'http://127.0.0.1:3000/api/v1',
  headers: { accept: 'application/vnd.croft.v3+json', 'user-agent': `croft-endpoint/${version}` },
  mediaType: { format: '' },
});
