// What a literal route says about its parameters, read by the compiler with the rules of target.ts and template.ts.

/** A single value of a url. */
type Scalar = string | number | boolean | bigint | Date | { toJSON(): string };
type Map = { readonly [key: string]: Scalar | null | undefined };
type List = readonly (Scalar | null | undefined)[];

type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
// biome-ignore format: one line of letters
type Letter = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z' | '_';
type OptionalSign = '#' | '.' | '/' | ';' | '?' | '&';

// The url of a route, without the host of an absolute one
type Path<Route extends string> = Route extends `${string} ${infer Url}`
  ? Path<Url>
  : Route extends `${string}://${infer Rest}`
    ? Rest extends `${string}/${infer P}`
      ? P
      : Rest extends `${string}{${infer P}`
        ? `{${P}`
        : ''
    : Route;

// The inside of every `{…}`
type Expressions<Url extends string, Found = never> = Url extends `${string}{${infer Inside}}${infer Rest}`
  ? Expressions<Rest, Found | Inside>
  : Found;

// The names of every `:name`
type Colons<Url extends string, Found = never> = Url extends `${infer Before}{${string}}${infer Rest}`
  ? Colons<Rest, Found | Colons<Before>>
  : Url extends `${string}:${infer Rest}`
    ? Colons<Rest, Rest extends `${Digit}${string}` ? Found : Found | Exclude<Word<Rest>, ''>>
    : Found;

type Word<Text extends string, Read extends string = ''> = Text extends `${infer First}${infer Rest}`
  ? Lowercase<First> extends Letter | Digit
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
  ? List | Map
  : Spec extends `${string}:${string}`
    ? Scalar
    : Scalar | List | Map;

type Required<Url extends string> = RequiredSpecs<Expressions<Url>> | Colons<Url>;

/**
 * The parameters a literal route asks for: `{name}`, `{+name}` and `:name` must be given unless they are among the
 * defaults, the other expressions may be; `{name*}` wants a list or a map. A route that is not literal asks for none.
 */
export type RouteParameters<Route extends string, Defaults = unknown> = string extends Route
  ? unknown
  : { [Spec in Required<Path<Route>> as Exclude<NameOf<Spec>, keyof Defaults>]: ValueOf<Spec> } & {
      [Spec in OptionalSpecs<Expressions<Path<Route>>> as NameOf<Spec>]?: ValueOf<Spec> | null | undefined;
    } & {
      [Spec in Required<Path<Route>> as Extract<NameOf<Spec>, keyof Defaults>]?: ValueOf<Spec> | undefined;
    };
