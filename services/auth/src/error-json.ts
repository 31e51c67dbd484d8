import { type Failure, httpStatus } from '@croft/failure';
import type { ErrorAnswer, ErrorContext, ErrorDialect, Issue } from '@croft/http';
import { isDatabaseUnavailable } from '@croft/sql';
import * as failures from './failures.ts';

/** The first version in which errors carry their code in `code`. */
const VERSIONED = '2024-01-01';

/** How auth speaks of errors (as in GoTrue): one shape by default, another for those who ask. */
export const errorDialect: ErrorDialect = {
  unreadable: (kind, reason) => failures.unreadable(kind, reason),
  malformedBody: (reason) => failures.bodyIsNoJson(reason),
  invalidRequest: (_place, issues) => failures.bodyIsNoJson(describeIssue(issues[0])),
  bodyTooLarge: (limitBytes) => failures.bodyTooLarge(limitBytes),
  // Every body is read as JSON, so this can only mean a body that is none.
  unsupportedMediaType: (mediaType) => failures.bodyIsNoJson(`${mediaType} cannot be read`),
  routeNotFound: (_method, path) => failures.routeNotFound(path),
  methodNotAllowed: (method) => failures.methodNotAllowed(method),
  timedOut: () => failures.requestTimedOut(),
  fromError(error) {
    if (isDatabaseUnavailable(error)) return failures.databaseUnavailable(error);
    if (failures.isRaised(error)) return new failures.RefusedByTrigger(error);
    return hasTimedOut(error) ? failures.requestTimedOut() : failures.unexpected();
  },
  render: renderError,
};

/** Whether the database ended a statement that took as long as a request may (SQLSTATE query_canceled). */
function hasTimedOut(error: Error): boolean {
  return (error as { code?: unknown }).code === '57014';
}

/** The wording of Go's decoder as far as clients can depend on it. */
function describeIssue(issue: Issue | undefined): string {
  const problem = issue?.message.replace(/^Invalid input: /, '') ?? 'it has the wrong type';
  if (issue === undefined || issue.path.length === 0) {
    return /received (undefined|null)$/.test(problem)
      ? 'unexpected end of JSON input'
      : `json: cannot unmarshal the body: ${problem}`;
  }
  return `json: cannot unmarshal field ${issue.path.join('.')}: ${problem}`;
}

function renderError(failure: Failure, request: ErrorContext): ErrorAnswer {
  const status = statusOf(failure);
  if (asksForVersion(request)) {
    return {
      status,
      headers: { 'x-sb-error-code': failure.code, 'x-supabase-api-version': VERSIONED },
      body: { code: failure.code, message: failure.message, ...failure.body },
    };
  }
  // The contract shows 400 for this one, and clients of its time look for that number in the body.
  const code = failure.code === 'user_already_exists' ? 400 : status;
  const trace = status >= 500 ? { error_id: request.id } : {};
  return {
    status: code,
    headers: { 'x-sb-error-code': failure.code },
    body: { code, error_code: failure.code, msg: failure.message, ...trace, ...failure.body },
  };
}

function statusOf(failure: Failure): number {
  if (failure instanceof failures.RefusedByHook || failure instanceof failures.RefusedByTrigger)
    return failure.status;
  return failure.code === failures.UNEXPECTED ? 500 : httpStatus[failure.kind];
}

/** A malformed or older date falls back to the default shape; any later date means the newest we know. */
function asksForVersion(request: ErrorContext): boolean {
  const asked = request.headers['x-supabase-api-version'];
  if (typeof asked !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(asked)) return false;
  return !Number.isNaN(Date.parse(asked)) && asked >= VERSIONED;
}
