import { Failure } from '@croft/failure';

/** No credentials where some are needed. */
export const tokenRequired = () => new Failure('unauthenticated', 'token_required', 'token is required');

/** Credentials that are unknown, wrong or expired; which of these is not told. */
export const badCredentials = () =>
  new Failure('unauthenticated', 'bad_credentials', 'invalid username, password or token');

/** The password is right, and its owner has a second factor; `hasApp` when that is an authenticator app. */
export const secondFactorNeeded = (hasApp: boolean) =>
  new Failure(
    'unauthenticated',
    'second_factor_needed',
    `this account has a second factor, so its password is not enough: use an access token in its place${
      hasApp ? ', or on the API send the code of the authenticator app as X-Gitea-OTP' : ''
    }`,
  );

/** An access token of a session that was opened without its owner's second factor. */
export const secondFactorMissing = () =>
  new Failure(
    'unauthenticated',
    'second_factor_missing',
    'this account has a second factor, and the access token is of a session that has not shown it (aal1)',
  );

/** The password is right, and the code beside it is not, or not any more. */
export const secondFactorWrong = () =>
  new Failure(
    'unauthenticated',
    'second_factor_wrong',
    'the code of the second factor is wrong or was used before',
  );

/** A personal access token where it takes a password or an access token of the auth service. */
export const authRequired = () => new Failure('unauthenticated', 'auth_required', 'auth required');

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

/** Some account has the name. */
export const nameTaken = (login: string) => unacceptable(`user already exists [name: ${login}]`);

/** A request that makes no sense, where the reference answers 400. */
export const badRequest = (message: string, body: Readonly<Record<string, unknown>> = {}) =>
  new Failure('invalid', 'bad_request', message, { body });

/** The repository only serves reads. */
export const repositoryArchived = () => new Failure('locked', 'repository_archived', 'repo is archived');

/** The owner has a repository of this name. */
export const repositoryExists = () =>
  new Failure('conflict', 'repository_exists', 'The repository with the same name already exists.');

/** An open pull request has the same branches. */
export const pullExists = (twin: Twin) =>
  new Failure(
    'conflict',
    'pull_exists',
    `pull request already exists for these targets [id: ${twin.id}, issue_id: ${twin.issue_id}, head_repo_id: ${twin.head_repository_id}, base_repo_id: ${twin.repository_id}, head_branch: ${twin.head_branch}, base_branch: ${twin.base_branch}]`,
  );

interface Twin {
  id: number;
  issue_id: number;
  head_repository_id: number | null;
  repository_id: number;
  head_branch: string;
  base_branch: string;
}

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

/** The caller may not merge into this branch, whatever its state. */
export const mayNotMerge = () => new Failure('not-allowed', 'may_not_merge', 'User not allowed to merge PR');

/** The merge happens by itself already, once everything is there. */
export const alreadyScheduled = (pullId: number) =>
  new Failure(
    'conflict',
    'already_scheduled',
    `pull request is already scheduled to auto merge when checks succeed [pull_id: ${pullId}]`,
  );

/** The branches moved while the merge was prepared, or are not where the caller believes. */
export const headMoved = () => new Failure('conflict', 'head_moved', 'head out of date');

/** The merge is done; only the wish to delete its branch was not met. */
export const headKept = () =>
  new Failure('conflict', 'head_kept', 'merged, but the head branch is kept: it was pushed to meanwhile');

/** Somebody pushed to the base branch while the merge was prepared. */
export const baseMoved = () =>
  new Failure('conflict', 'base_moved', 'the base branch was updated meanwhile, please try again');

/** The base of a pull request was to change, and it was merged first. */
export const mergedMeanwhile = () =>
  new Failure(
    'conflict',
    'merged_meanwhile',
    'the pull request was merged meanwhile, its base stays what it was',
  );

/** What the pull request stands on was merged, closed or exchanged while the merge waited for its turn. */
export const stackChanged = () =>
  new Failure('conflict', 'stack_changed', 'the stack was changed meanwhile, please look at it again');

/** The branches have no common ancestor; members as in the reference's conflict answers. */
export const unrelatedHistories = (style: string) =>
  new Failure('conflict', 'unrelated_histories', 'merge of unrelated histories', {
    body: { Style: style, StdOut: '', StdErr: 'fatal: refusing to merge unrelated histories', Err: {} },
  });

/** A commit of the head does not fit on the base; members as in the reference's conflict answers. */
export const rebaseConflicts = (style: string, commit: string, files: readonly string[]) =>
  new Failure(
    'conflict',
    'rebase_conflicts',
    `commit ${commit.slice(0, 10)} conflicts with the base branch`,
    {
      body: { Style: style, StdOut: '', StdErr: '', CommitSHA: commit, Err: {}, conflicted_files: files },
    },
  );

/** The base does not fit on the head; members as in the reference's conflict answers. */
export const mergeConflicts = (style: string, files: readonly string[]) =>
  new Failure('conflict', 'merge_conflicts', 'merge failed because of conflict', {
    body: { Style: style, StdOut: '', StdErr: '', Err: {}, conflicted_files: files },
  });

/** A protection keeps the head branch from being updated by the caller. */
export const headProtected = (reason: string) => new Failure('conflict', 'head_protected', reason);

/** The base branch has commits that the head has not, so it cannot just follow. */
export const notFastForward = () =>
  new Failure(
    'conflict',
    'not_fast_forward',
    'the head branch is behind the base branch: update it, or merge in another style',
  );

/** What was to be taken for a merge commit is none of the base branch. */
export const wrongCommit = () => new Failure('conflict', 'wrong_commit', 'Wrong commit ID');

/** The request's body is larger than this route reads. */
export const tooLarge = (message: string) => new Failure('too-large', 'too_large', message);

/** Everything that may run at once does already. */
export const busy = (what: string) =>
  new Failure('unavailable', 'busy', `too many ${what} at once`, { retryAfterSeconds: 5 });

/** The database gave a search up. */
export const searchTooWide = () =>
  new Failure('unavailable', 'search_too_wide', 'the search took too long, please use a longer word', {
    retryAfterSeconds: 5,
  });

/** What the path names has another name now: the same request belongs to another path. */
export class Moved extends Failure {
  /** Segments of the path, one behind the other, as they were asked for. */
  readonly from: readonly string[];
  readonly to: readonly string[];

  constructor(from: readonly string[], to: readonly string[]) {
    super('conflict', 'moved', `moved to ${to.join('/')}`);
    this.from = from;
    this.to = to;
  }
}

/** There is no commit yet to answer from. */
export const repositoryEmpty = () => new Failure('conflict', 'repository_empty', 'Git Repository is empty.');

/** The auth service banned or deleted the account's owner. */
export const accountRefused = () =>
  new Failure('forbidden', 'account_refused', 'This account is prohibited from signing in.');

/** The owner has a fork of this repository. */
export const alreadyForked = (owner: string) =>
  new Failure('conflict', 'already_forked', `repository is already forked by user [uname: ${owner}]`);

/** Somebody else changed the same files of the branch meanwhile. */
export const fileMoved = () =>
  new Failure('conflict', 'file_moved', 'the files were changed meanwhile, please look at them again');

/** A branch or tag has the name, or one in the way of it such as `a` of `a/b`. */
export const refExists = (
  what: 'branch' | 'tag',
  name: string,
  kind: 'conflict' | 'unprocessable' = 'conflict',
) => new Failure(kind, 'ref_exists', `The ${what} already exists. [name: ${name}]`);

/** The tag has a release, perhaps one that is not published yet. */
export const releaseExists = (tag: string) =>
  new Failure('conflict', 'release_exists', `The release already exists. [tag_name: ${tag}]`);

/** A release is of the tag: whoever wants it gone deletes that first. */
export const tagHasRelease = (tag: string) =>
  new Failure(
    'conflict',
    'tag_has_release',
    `The tag has a release, which is to be deleted first. [name: ${tag}]`,
  );

/** A protection of tags lists others, or nobody. */
export const tagProtected = (what: 'create' | 'delete') =>
  new Failure('unprocessable', 'tag_protected', `user not allowed to ${what} protected tag`);

/** The administration of the whole site. */
export const siteAdminsOnly = () =>
  new Failure('forbidden', 'site_admins_only', 'user should be the site admin');

/** Something else has to be closed first. */
export const openDependencies = (kind: 'issue' | 'pull') =>
  new Failure(
    'precondition',
    'open_dependencies',
    `cannot close this ${kind === 'pull' ? 'pull request' : 'issue'} because it still has open dependencies`,
  );

/** Somebody else edited the text since the editor read it. */
export const contentChanged = () =>
  new Failure('conflict', 'content_changed', 'the content was changed by somebody else meanwhile');

/** A push deletes a branch that has just become the default one: what was decided of it holds no more. */
export const becameDefault = () =>
  new Failure(
    'conflict',
    'became_default',
    'the branch has become the default branch meanwhile, please try again',
  );

/** The client sends nothing any more. */
export const timedOut = () => new Failure('timed-out', 'timed_out', 'the request took too long');

/** Nobody notes time in the repository. */
export const trackingDisabled = () => badRequest('time tracking disabled');

/** Somebody's stopwatch runs on the issue. */
export const stopwatchRuns = () =>
  new Failure('conflict', 'stopwatch_runs', 'cannot start a stopwatch again if it already exists');

/** No stopwatch of the caller runs on the issue. */
export const stopwatchMissing = (what: 'stop' | 'cancel') =>
  new Failure('conflict', 'stopwatch_missing', `cannot ${what} a non existent stopwatch`);

/** There is no room left for what people send. */
export const storageFull = () =>
  new Failure('unavailable', 'storage_full', 'there is no space left', { retryAfterSeconds: 600 });

/** What was on the disk before stays; the next repository has another number. */
export const folderTaken = () =>
  new Failure(
    'unavailable',
    'folder_taken',
    'the folder of the new repository is taken by an older one: ask again, and have the operator run "croft forge doctor"',
    { retryAfterSeconds: 1 },
  );

/** The pull request waits in the merge queue of its base. */
export const alreadyQueued = (branch: string) =>
  new Failure('conflict', 'already_queued', `pull request is already in the merge queue of ${branch}`);

/** Nobody knows how far the first request under an idempotency key got. */
export const keyInUse = () =>
  new Failure(
    'conflict',
    'key_in_use',
    'the first request under this Idempotency-Key did not end; look whether it was done',
  );
