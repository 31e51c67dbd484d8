import type { ZodObject, ZodType, z } from 'zod';
import type { Caller } from './caller/caller.ts';
import type { Context } from './context.ts';
import type { ScopeArea } from './rules/access/token-scope.ts';

/** Who may call: anybody; whoever may read (everybody signed in, and the rest when sign-in is not required); the signed in. */
export type Access = 'public' | 'reader' | 'caller';

/** A request after parsing and validation. */
export interface Call<Params, Query, Body, Who extends Access> {
  params: Params;
  query: Query;
  body: Body;
  caller: Who extends 'caller' ? Caller : Caller | undefined;
  /** Path and query as they came. */
  url: string;
  accept: string;
}

/** A text, bytes or a stream are sent as they are, nothing as an empty body, the rest as JSON. */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: unknown;
  /** Media type of a text, bytes or a stream; plain text when it is not given. */
  type?: string;
}

/** One endpoint of the API besides its method and path: those stand in endpoints/, in lists. */
export interface Endpoint<
  Params extends ZodType = ZodType,
  Query extends ZodType = ZodType,
  Body extends ZodObject = ZodObject,
  Who extends Access = Access,
> {
  summary: string;
  access: Who;
  /** The part of the API that a token must have been made for. */
  area: ScopeArea;
  params?: Params;
  query?: Query;
  body?: Body;
  /** What it answers by status, for the OpenAPI document. */
  answers: Readonly<Record<number, ZodType>>;
  /** Whether its answers carry an `ETag`. */
  tagged?: boolean;
  /** For one that takes an `Idempotency-Key`: throws 404 for whoever may not see any more what was made under it. */
  keyed?: (context: Context, caller: Caller, params: never) => Promise<unknown>;
  /** Bytes of a body, where it may be larger than usual. */
  bodyBytes?: number;
  handle(
    call: Call<z.output<Params>, z.output<Query>, z.output<Body>, Who>,
    context: Context,
  ): Promise<Answer>;
}

/** Lets TypeScript infer an endpoint's types from its schemas. */
export function endpoint<
  Params extends ZodType,
  Query extends ZodType,
  Body extends ZodObject,
  const Who extends Access,
>(definition: Endpoint<Params, Query, Body, Who>): Endpoint {
  return definition as unknown as Endpoint;
}
