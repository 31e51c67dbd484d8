import { Failure } from '@croft/failure';

/** No credentials where some are needed. */
export const tokenRequired = () => new Failure('unauthenticated', 'token_required', 'token is required');

/** Credentials that are unknown, wrong or expired; which of these is not told. */
export const badCredentials = () =>
  new Failure('unauthenticated', 'bad_credentials', 'invalid username, password or token');

/** A valid access token that belongs to nobody, such as one made by hand for an admin role. */
export const tokenWithoutUser = () =>
  new Failure('unauthenticated', 'token_without_user', 'the access token names no user');

/** The account is fine, but its token was made for less. */
export const scopeMissing = (required: string, scopes: readonly string[]) =>
  new Failure(
    'forbidden',
    'scope_missing',
    `token does not have at least one of required scope(s), required=[${required}], token scope=${scopes.join(',')}`,
  );

/** What the path names does not exist, or the caller may not know that it does. */
export const notFound = (message = "The target couldn't be found.") =>
  new Failure('not-found', 'not_found', message);

/** The caller is known and may not do this. */
export const forbidden = (message: string) => new Failure('forbidden', 'forbidden', message);

/** A value of the request cannot be accepted. */
export const unacceptable = (message: string) => new Failure('unprocessable', 'validation', message);

/** A request that makes no sense, where the reference answers 400. */
export const badRequest = (message: string) => new Failure('invalid', 'bad_request', message);

/** The repository only serves reads. */
export const repositoryArchived = () => new Failure('locked', 'repository_archived', 'repo is archived');

/** The owner has a repository of this name. */
export const repositoryExists = () =>
  new Failure('conflict', 'repository_exists', 'The repository with the same name already exists.');

/** An open pull request has the same branches. */
export const pullExists = (number: number) =>
  new Failure('conflict', 'pull_exists', `pull request already exists for these targets [index: ${number}]`);

/** A merged pull request stays merged. */
export const alreadyMerged = () =>
  new Failure(
    'precondition',
    'already_merged',
    'cannot change state of this pull request, it was already merged',
  );

/** One of the merge checks says no. */
export const notMergeable = (message: string, body: Readonly<Record<string, unknown>> = {}) =>
  new Failure('not-allowed', 'not_mergeable', message, { body });

/** The branches moved while the merge was prepared, or are not where the caller believes. */
export const headMoved = () => new Failure('conflict', 'head_moved', 'head out of date');

/** The merge is done; only the wish to delete its branch was not met. */
export const headKept = () =>
  new Failure('conflict', 'head_kept', 'merged, but the head branch is kept: it was pushed to meanwhile');

/** Somebody pushed to the base branch while the merge was prepared. */
export const baseMoved = () =>
  new Failure('conflict', 'base_moved', 'the base branch was updated meanwhile, please try again');

/** The branches have no common ancestor; members as in the reference's conflict answers. */
export const unrelatedHistories = (style: string) =>
  new Failure('conflict', 'unrelated_histories', 'merge of unrelated histories', {
    body: { Style: style, StdOut: '', StdErr: 'fatal: refusing to merge unrelated histories', Err: {} },
  });

/** The request's body is larger than this route reads. */
export const tooLarge = (message: string) => new Failure('too-large', 'too_large', message);

/** Everything that may run at once does already. */
export const busy = (what: string) =>
  new Failure('unavailable', 'busy', `too many ${what} at once`, { retryAfterSeconds: 5 });
