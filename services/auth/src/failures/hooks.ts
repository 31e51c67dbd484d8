import { Failure, type FailureKind, httpStatus } from '@croft/failure';
import type { HookName } from '../rules/hooks/hook-names.ts';
import { UNEXPECTED } from './request.ts';

// What comes of asking the operator's own code (as in GoTrue). Only a hook's own refusal is told in its
// words; where it is and what it failed with goes to the log.

/** A hook said no, with a status of its own choice. */
export class RefusedByHook extends Failure {
  readonly status: number;

  constructor(status: number, message: string) {
    super(kindOf(status), status === 500 ? UNEXPECTED : 'unknown', message);
    this.status = status;
  }
}

/** The status is the hook's; the kind is what is closest to it, for answers that have no status. */
function kindOf(status: number): FailureKind {
  const exact = (Object.keys(httpStatus) as FailureKind[]).find((kind) => httpStatus[kind] === status);
  return exact ?? (status < 500 ? 'invalid' : 'unavailable');
}

/** What PostgreSQL says of an error that a trigger raised. */
interface Raised {
  code: string;
  message: string;
  hint?: string | undefined;
  detail?: string | undefined;
}

/**
 * A trigger of the operator's on our tables said no, in its own words: `raise exception`, answered 500, or with a code such
 * as `PT422`, which names the status (as in GoTrue and PostgREST).
 */
export class RefusedByTrigger extends Failure {
  readonly status: number;

  constructor({ code, message, hint, detail }: Raised) {
    const status = code === RAISED ? 500 : Number(code.slice(2));
    const words = { code, message, ...(hint ? { hint } : {}), ...(detail ? { detail } : {}) };
    super(kindOf(status), status === 500 ? UNEXPECTED : 'unknown', message, { body: words });
    this.status = status;
  }
}

/** SQLSTATE raise_exception. */
const RAISED = 'P0001';

/** Whether a trigger raised it for whoever asks: nothing of our own does, and functions that are hooks have words of their own. */
export function isRaised(error: object): error is Raised {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && (code === RAISED || /^PT[45]\d\d$/.test(code));
}

export const hookTimedOut = (milliseconds: number, cause?: unknown): Failure =>
  new Failure(
    'unprocessable',
    'hook_timeout',
    `Failed to reach hook within maximum time of ${milliseconds / 1000} seconds`,
    { cause },
  );
export const hookUnreachable = (cause: unknown): Failure =>
  new Failure('unprocessable', 'hook_timeout_after_retry', 'Failed to reach hook after maximum retries', {
    cause,
  });
export const hookAnswerTooLarge = (limitBytes: number, cause?: unknown): Failure =>
  new Failure(
    'unprocessable',
    'hook_payload_over_size_limit',
    `Payload size exceeded size limit of ${limitBytes} bytes`,
    { cause },
  );
export const hookAnswerIsNoJson = (cause: string): Failure =>
  new Failure(
    'invalid',
    'hook_payload_invalid_content_type',
    'Invalid JSON response: the hook must answer application/json',
    { cause },
  );
export const hookUnavailable = (cause: string): Failure =>
  new Failure('unavailable', UNEXPECTED, 'Service currently unavailable due to hook', { cause });
export const hookStatusUnexpected = (status: number): Failure =>
  new Failure('unavailable', UNEXPECTED, hookStatusText(status), { cause: `the hook answered ${status}` });
export const hookOutputUnusable = (message: string): Failure =>
  new Failure('unavailable', UNEXPECTED, message, { cause: message });
export const hookFailed = (name: HookName, cause: unknown): Failure =>
  new Failure('unavailable', UNEXPECTED, `Error running hook ${name}`, { cause });

function hookStatusText(status: number): string {
  if (status === 400) return 'Invalid payload sent to hook';
  if (status === 401) return 'Hook requires authorization token';
  return `Unexpected status code returned from hook: ${status}`;
}

/**
 * What a hook failed with where a session is refreshed. Clients sign out whom a 4xx refuses there (GoTrue's 400s and
 * 422s as well), and come again after a 5xx: a hook that is out of order ends nobody's session, only its refusal may.
 */
export function outOfOrderAtRefresh(error: unknown): unknown {
  if (!(error instanceof Failure) || error instanceof RefusedByHook || error.kind === 'unavailable')
    return error;
  return new Failure('unavailable', error.code, error.message, { retryAfterSeconds: 2, cause: error.cause });
}

// What hooks decide
export const mfaAttemptRejected = (message: string): Failure =>
  new Failure('forbidden', 'mfa_verification_rejected', message);
export const passwordAttemptRejected = (message: string): Failure =>
  new Failure('invalid', 'invalid_credentials', message);
