import type { RouteParameters } from './route-types.ts';

/** What a header may be given as; `null` takes a default away. */
export type HeaderValue = string | number | boolean | bigint | Date | readonly string[] | null | undefined;

/** Headers as an object, or as anything that yields pairs: `Headers`, a `Map`, a list. */
export type HeaderInput = Readonly<Record<string, HeaderValue>> | Iterable<readonly [string, HeaderValue]>;

/** Headers by lower-case name. */
export type RequestHeaders = Record<string, string | number | boolean | bigint>;

/** What amends the `accept` header. */
export interface MediaType {
  /** For example `raw`, `diff` or `text+json`. */
  format?: string | undefined;
  /** Names of previews, for `/graphql` only. */
  previews?: string[] | undefined;
}

/** Meta information of a request, returned as it was given; `toFetch` takes what `fetch` knows from it. */
export interface RequestSettings {
  /** Refuse a missing or empty value of a required placeholder instead of expanding it to nothing. */
  strict?: boolean | undefined;
  signal?: AbortSignal | undefined;
  [setting: string]: unknown;
}

/** Options besides method and url; every other key is a parameter. */
export interface RequestParameters {
  baseUrl?: string | null | undefined;
  headers?: HeaderInput | null | undefined;
  mediaType?: MediaType | null | undefined;
  /** The body itself, instead of an object of the parameters. */
  data?: unknown;
  request?: RequestSettings | null | undefined;
  [parameter: string]: unknown;
}

/** Everything a call takes. */
export interface EndpointOptions extends RequestParameters {
  method?: string | undefined;
  url?: string | undefined;
}

/** Options with all defaults in place, as `endpoint.merge` returns them. */
export interface MergedOptions {
  method: string;
  baseUrl: string;
  url?: string;
  headers: RequestHeaders;
  mediaType: MediaType;
  request?: RequestSettings;
  [parameter: string]: unknown;
}

/** What any HTTP client needs to send the request. */
export interface RequestOptions {
  /** In lower case. */
  method: string;
  url: string;
  headers: RequestHeaders;
  body?: unknown;
  request?: RequestSettings;
}

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
