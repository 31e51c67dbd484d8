import type { NamesGiven, RouteParameters } from './route-types.ts';

/** What a header may be given as; `null` takes a default away. A date is no text of HTTP before its `toUTCString()`. */
export type HeaderValue = string | number | boolean | bigint | readonly string[] | null | undefined;

/** Headers as an object, or as anything that yields pairs: `Headers`, a `Map`, a list. */
export type HeaderInput = Readonly<Record<string, HeaderValue>> | Iterable<readonly [string, HeaderValue]>;

/** Headers by lower-case name. */
export type RequestHeaders = Record<string, string>;

/** What amends the `accept` header. */
export interface MediaType {
  /** For example `raw`, `diff` or `text+json`. */
  format?: string | undefined;
  /** Names of previews, for `/graphql` only. */
  previews?: readonly string[] | undefined;
}

// `AbortSignal` where the platform has one; its bare name would not compile elsewhere.
type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : unknown;

/** Meta information of a request, returned as it was given; `toFetch` takes what `fetch` knows from it. */
export interface RequestSettings {
  /** Refuse a missing or empty value of a required placeholder instead of expanding it to nothing. */
  strict?: boolean | undefined;
  signal?: Signal | undefined;
  [setting: string]: unknown;
}

/** Options besides method, url and parameters. */
export interface Settings {
  baseUrl?: string | null | undefined;
  headers?: HeaderInput | null | undefined;
  mediaType?: MediaType | null | undefined;
  /** The body itself, instead of an object of the parameters. */
  data?: unknown;
  request?: RequestSettings | null | undefined;
}

/** Options besides method and url; every other key is a parameter. */
export interface RequestParameters extends Settings {
  // An object typed by an interface fits an index of any, none other.
  // oxlint-disable-next-line typescript/no-explicit-any
  [parameter: string]: any;
}

/** Everything a call takes. */
export interface EndpointOptions extends RequestParameters {
  method?: string | undefined;
  url?: string | undefined;
}

/** Options with all defaults in place, as `endpoint.merge` returns them; `null` where a call or a default took one away. */
export interface MergedOptions {
  method: string;
  baseUrl: string | null;
  url?: string;
  headers: RequestHeaders;
  mediaType: MediaType | null;
  request?: RequestSettings | null;
  [parameter: string]: unknown;
}

/** Options as a builder keeps them: of its defaults nothing can be written to. */
export interface Defaults extends Readonly<MergedOptions> {
  readonly headers: Readonly<RequestHeaders>;
  readonly mediaType: Readonly<MediaType> | null;
  readonly request?: Readonly<RequestSettings> | null;
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

// Every text is a route; those that are known an editor can offer.
type RouteName<Routes> = [keyof Routes] extends [never] ? string : (keyof Routes & string) | (string & {});

// What all of a union ask for: either of its routes may be taken.
type All<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never;

// `Parameters` with those optional that are `Given` by defaults
type Lightened<Parameters, Given> = [keyof Parameters & Given] extends [never]
  ? Parameters
  : { [Name in keyof Parameters as Exclude<Name, Given>]: Parameters[Name] } & {
      [Name in keyof Parameters & Given]?: Parameters[Name] | undefined;
    };

// Of a known route exactly its parameters, or `data` instead of those of the body; of another what its text says.
type OptionsOf<Route, Routes, Given> = [Route] extends [keyof Routes & string]
  ?
      | (Settings & Lightened<All<Routes[Route]>, Given>)
      | (Settings & { data: {} | null } & RouteParameters<Route, Given>)
  : [Route] extends [string]
    ? EndpointOptions & RouteParameters<Route, Given>
    : never;

// Options are optional only where the route asks for no parameter.
type Rest<Options> = [Options] extends [never]
  ? []
  : {} extends Options
    ? [options?: Options]
    : [options: Options];

/**
 * Turns routes and parameters into request options, over defaults of its own. `Routes` has the parameters of known
 * routes by their text: `const forge: Endpoint<ForgeRoutes> = endpoint`. `Given` are the names the defaults fill.
 */
export interface Endpoint<Routes extends object = object, Given = never> {
  <const Route extends RouteName<Routes> | EndpointOptions>(
    route?: Route & (Route extends { url: infer Url extends string } ? RouteParameters<Url, Given> : unknown),
    ...options: Rest<OptionsOf<Route, Routes, Given>>
  ): RequestOptions;
  /** The current defaults, frozen to the ground. */
  readonly DEFAULTS: Defaults;
  /** A builder with `options` as defaults on top of these. */
  defaults<const Options extends EndpointOptions>(
    options: Options,
  ): Endpoint<Routes, Given | NamesGiven<Options>>;
  /** The options with all defaults in place, not yet turned into a request. */
  merge(route: string, options?: EndpointOptions): MergedOptions;
  merge(options?: EndpointOptions): MergedOptions;
  /** Turns merged options into request options; needs no defaults and keeps no state. */
  parse(options: EndpointOptions): RequestOptions;
}

/** The second argument of the platform's `fetch`, where it has one. */
export type FetchInit = typeof globalThis extends {
  Request: new (input: never, init?: infer Init) => unknown;
}
  ? NonNullable<Init>
  : Record<string, unknown>;
