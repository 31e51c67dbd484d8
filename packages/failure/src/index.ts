/**
 * What went wrong, in the terms every protocol shares. One table per protocol maps a kind to its
 * status: `httpStatus` for HTTP, the state service's `rpc.ts` for gRPC.
 */
export type FailureKind =
  | 'invalid' // the request itself is malformed
  | 'unauthenticated' // no or unusable credentials
  | 'forbidden' // known caller, not allowed
  | 'not-found'
  | 'not-allowed' // the method or the style of the action is not available here
  | 'conflict' // somebody else got there first, or the thing exists
  | 'precondition' // the state of the thing forbids it
  | 'too-large'
  | 'headers-too-large'
  | 'too-slow' // the request did not come whole in time
  | 'unprocessable' // well-formed, but the values cannot be accepted
  | 'locked' // read-only for now, such as an archived repository
  | 'exhausted' // a limit of rate, space or quota
  | 'unavailable' // try again later
  | 'timed-out';

/** Everything about a failure besides its kind, code and message. */
export interface FailureDetails {
  /** Seconds after which a retry can succeed; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** Further members of the protocol's error body, already in its spelling. */
  body?: Readonly<Record<string, unknown>>;
  /** The private reason: logged, never sent. */
  cause?: unknown;
}

/** The one way a request ends early on purpose. Anything else thrown is a bug and answered without details. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  /** Machine-readable code of the service's catalogue, such as `user_not_found`. */
  readonly code: string;
  readonly retryAfterSeconds: number | undefined;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(kind: FailureKind, code: string, message: string, details: FailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.code = code;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.body = details.body ?? {};
  }
}

/** HTTP status of each kind (RFC 9110, RFC 4918 for 422 and 423, RFC 6585 for 429). */
export const httpStatus: Readonly<Record<FailureKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'not-allowed': 405,
  conflict: 409,
  precondition: 412,
  'too-large': 413,
  'headers-too-large': 431,
  'too-slow': 408,
  unprocessable: 422,
  locked: 423,
  exhausted: 429,
  unavailable: 503,
  'timed-out': 504,
};
