// What a literal route says about its parameters, read by the compiler with the rules of target.ts and template.ts.

/** What a placeholder can be filled with. */
type UrlValue = Scalar | UrlList | UrlMap;
type Scalar = string | number | boolean | bigint | Date | { toJSON(): string };
type UrlList = readonly (Scalar | null | undefined)[];
type UrlMap = { readonly [key: string]: Scalar | null | undefined };
/** What `{name*}` spreads. */
type Exploded = UrlList | UrlMap;

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
// biome-ignore format: one line of letters
type Lower = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z';
type OptionalSign = '#' | '.' | '/' | ';' | '?' | '&';
/** Names that are never parameters, as in options.ts. */
// biome-ignore format: one line of names
type Setting = 'method' | 'baseUrl' | 'url' | 'headers' | 'mediaType' | 'request' | '__proto__';

// The inside of every `{…}`
type Expressions<Url extends string, Found = never> = Url extends `${string}{${infer Inside}}${infer Rest}`
  ? Expressions<Rest, Found | Inside>
  : Found;

// The name of every `:name` outside of `{…}`; the colons of a scheme, a port and a password are none.
type Colons<Route extends string> = Route extends `${string}:${string}`
  ? Route extends `${infer Scheme}://${infer Rest}`
    ? Scheme extends `${string}${'/' | '?' | '#' | '{' | ':'}${string}`
      ? ColonNames<Route>
      : ColonNames<BelowHost<Rest>>
    : ColonNames<Route>
  : never;

// A host ends at the first of `/`, `?`, `#` and `{`.
type BelowHost<Url extends string> = Url extends `${infer First}${infer Rest}`
  ? First extends '/' | '?' | '#' | '{'
    ? Url
    : BelowHost<Rest>
  : '';

type ColonNames<Url extends string, Found = never> = Url extends `${infer Before}{${string}}${infer Rest}`
  ? ColonNames<Rest, Found | ColonNames<Before>>
  : Url extends `${string}:${infer Rest}`
    ? ColonNames<Rest, Rest extends `${Lower}${string}` ? Found | Word<Rest> : Found>
    : Found;

type Word<Text extends string, Read extends string = ''> = Text extends `${infer First}${infer Rest}`
  ? Lowercase<First> extends Lower | Digit | '_'
    ? Word<Rest, `${Read}${First}`>
    : Read
  : Read;

type Specs<Inside extends string> = Inside extends `${infer First},${infer Rest}`
  ? First | Specs<Rest>
  : Inside;
type RequiredSpecs<Inside extends string> = Inside extends `${OptionalSign}${string}`
  ? never
  : Specs<Inside extends `+${infer Rest}` ? Rest : Inside>;
type OptionalSpecs<Inside extends string> = Inside extends `${OptionalSign}${infer Rest}`
  ? Specs<Rest>
  : never;

type NameOf<Spec extends string> = Spec extends `${infer Name}*`
  ? Name
  : Spec extends `${infer Name}:${string}`
    ? Name
    : Spec;
type ValueOf<Spec extends string> = Spec extends `${string}*`
  ? Exploded
  : Spec extends `${string}:${string}`
    ? Scalar
    : UrlValue;

// The specs whose names are among `Names`, and the others
type Among<Spec extends string, Names> = Spec extends unknown
  ? NameOf<Spec> extends Names
    ? Spec
    : never
  : never;
type Beside<Spec extends string, Names> = Spec extends unknown
  ? NameOf<Spec> extends Names
    ? never
    : Spec
  : never;

// Where there is nothing to say, `unknown` keeps messages short.
type Demanded<Spec extends string> = [Spec] extends [never]
  ? unknown
  : { [One in Spec as NameOf<One>]: ValueOf<One> };
type Allowed<Spec extends string, Nothing> = [Spec] extends [never]
  ? unknown
  : { [One in Spec as NameOf<One>]?: ValueOf<One> | Nothing };
type Parameters<Required extends string, Optional extends string, Given> = Demanded<Beside<Required, Given>> &
  Allowed<Among<Required, Given>, undefined> &
  Allowed<Optional, null | undefined>;

/**
 * The parameters a literal route asks for: `{name}`, `{+name}` and `:name` must be given unless defaults have `Given`
 * their names, the other expressions may be; `{name*}` wants a list or a map. A route that is not literal asks for none.
 */
export type RouteParameters<Route extends string, Given = never> = string extends Route
  ? unknown
  : Parameters<
      Beside<RequiredSpecs<Expressions<Route>> | Colons<Route>, Setting>,
      Beside<OptionalSpecs<Expressions<Route>>, Setting>,
      Given
    >;

/** The names for which `Options` surely has a value: neither an optional one nor one of unknown type. */
export type NamesGiven<Options> = keyof {
  [Name in keyof Options as string extends Name
    ? never
    : unknown extends Options[Name]
      ? never
      : [Extract<Options[Name], null | undefined>] extends [never]
        ? Name
        : never]: true;
};
