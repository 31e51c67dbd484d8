import type { Failure } from '@croft/failure';

/** What a failure looks like on the wire. */
export interface ErrorAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  /** Undefined sends an empty body, a string is plain text, all else JSON. */
  body?: unknown;
}

/** The request as far as the shape of an error depends on it. */
export interface ErrorContext {
  id: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  url: string;
}

/**
 * How one service speaks of errors: the failures that arise before its own code runs, in its own words, and the one
 * place where a failure becomes an answer.
 */
export interface ErrorDialect {
  /** What came is no request that can be read. */
  unreadable(kind: 'invalid' | 'headers-too-large' | 'too-slow', reason: string): Failure;
  /** The body is no JSON; `reason` is the parser's text. */
  malformedBody(reason: string): Failure;
  /** The body, query or path does not fit the schema; `place` is `body`, `querystring` or `params`. */
  invalidRequest(place: string, issues: readonly Issue[]): Failure;
  bodyTooLarge(limitBytes: number): Failure;
  /** The `Content-Type` is none the route reads. */
  unsupportedMediaType(mediaType: string): Failure;
  routeNotFound(method: string, path: string): Failure;
  methodNotAllowed(method: string, allow: readonly string[]): Failure;
  timedOut(): Failure;
  /**
   * Whatever else was thrown: `unavailable` when a necessity such as the database is away, otherwise a bug, about
   * which the answer says nothing and the log, under the request's id, everything.
   */
  fromError(error: Error): Failure;
  render(failure: Failure, request: ErrorContext): ErrorAnswer;
}

/** One thing wrong with a request. */
export interface Issue {
  /** Names and indexes from the outside in; empty when the whole is of the wrong type. */
  path: readonly (string | number)[];
  message: string;
  /** zod's code, such as `invalid_type`. */
  code: string;
}
