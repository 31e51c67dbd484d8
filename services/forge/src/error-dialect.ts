import { Failure, httpStatus } from '@croft/failure';
import type { ErrorDialect, Issue } from '@croft/http';
import { isDatabaseUnavailable } from '@croft/sql';
import * as failures from './failures.ts';
import { API_PREFIX, type Links } from './links.ts';
import { oauthError } from './oauth/oauth-error.ts';
import { OAUTH_PATHS } from './oauth/oauth-paths.ts';
import { movedPath } from './rules/repositories/moved-path.ts';

/** Fields whose names in messages are not the wire's in another spelling. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  due_date: 'Deadline',
  unset_due_date: 'RemoveDeadline',
  head_commit_id: 'HeadCommitID',
  merge_commit_id: 'MergeCommitID',
};

/**
 * git asks its user for a password only when it is challenged. Its credential helpers know forges of the reference's kind by the realm, and
 * sign in there with the ids they have everywhere.
 */
const GIT_CHALLENGE = 'Basic realm="Gitea"';

/** git shows its user an error that is plain text. To whoever has the right password a bare 401 would look like a wrong one. */
const TOLD_TO_GIT = new Set(['second_factor_needed', 'second_factor_missing']);
const GIT_PATH = /^\/[^/]+\/[^/]+\/(?:info\/refs|git-upload-pack|git-receive-pack)$/;

/** Errors as clients of the reference know them: `{message, url}`, and `[Field]: Rule` for values. */
export function forgeDialect(links: Links): ErrorDialect {
  return {
    unreadable: (kind, reason) => new Failure(kind, 'bad_request', reason),
    malformedBody: (reason) => failures.unacceptable(`[]: ${reason}`),
    invalidRequest: (_place, issues) => failures.unacceptable(issues.map(describe).join('; ')),
    bodyTooLarge: (limit) => failures.tooLarge(`the body is larger than ${limit} bytes`),
    unsupportedMediaType: () => failures.unacceptable('[]: Unsupported Content-Type'),
    routeNotFound: () => failures.notFound(),
    methodNotAllowed: (method) =>
      new Failure('not-allowed', 'method_not_allowed', `${method} is not allowed here`),
    timedOut: () => new Failure('timed-out', 'timed_out', 'the request took too long'),
    fromError(error) {
      if (isDatabaseUnavailable(error))
        return new Failure('unavailable', 'database_unavailable', 'the database cannot be reached', {
          retryAfterSeconds: 5,
        });
      if (lacksReferent(error)) return failures.notFound();
      if (lacksSpace(error)) return failures.storageFull();
      return new Failure('unavailable', 'internal', 'Internal Server Error');
    },
    render(failure, request) {
      if (failure instanceof failures.Moved) {
        const path = movedPath(request.url, API_PREFIX, failure.from, failure.to);
        const body = { message: failure.message, url: links.documentation };
        if (path !== undefined) return { status: 307, headers: { location: links.root + path }, body };
      }
      const status = failure.code === 'internal' ? 500 : httpStatus[failure.kind];
      const [path] = request.url.split('?', 1);
      if (path === OAUTH_PATHS.token) return oauthError(status, failure.message);
      const challenge = path === OAUTH_PATHS.userinfo ? 'Bearer realm="Gitea OAuth2"' : GIT_CHALLENGE;
      return {
        status,
        headers:
          status === 401 && !request.url.startsWith(`${API_PREFIX}/`)
            ? { 'www-authenticate': challenge }
            : {},
        body:
          TOLD_TO_GIT.has(failure.code) && GIT_PATH.test(path ?? '')
            ? `${failure.message}\n`
            : { ...failure.body, message: failure.message, url: links.documentation },
      };
    },
  };
}

/**
 * Whether a row was to refer to what went away while the request was carried out, most likely somebody's account: nearly
 * every table refers to accounts, so inserts do not look before. A deletion that leaves such a row behind has the same code
 * and is a bug; where the database does not speak English the two cannot be told apart, and both stay one.
 */
function lacksReferent(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return code === '23503' && String(message).startsWith('insert or update on ');
}

/** Whether there was no room for what was to be written: for us, for git, or for the database (53100). */
function lacksSpace(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return (
    ['ENOSPC', 'EDQUOT', '53100'].includes(String(code)) ||
    /No space left on device|Disk quota exceeded/.test(String(message))
  );
}

function describe({ path, message, code }: Issue): string {
  const field = path.map((part) => fieldName(String(part))).join('.');
  const missing = code === 'invalid_type' && /received (undefined|null)/.test(message);
  return `[${field}]: ${missing ? 'Required' : message}`;
}

function fieldName(name: string): string {
  return (
    FIELD_NAMES[name] ?? name.replace(/(^|_)([a-z])/g, (_, _gap, letter: string) => letter.toUpperCase())
  );
}
