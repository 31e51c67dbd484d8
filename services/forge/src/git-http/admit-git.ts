import { admit } from '../admit.ts';
import type { Credentials } from '../caller/authenticate.ts';
import { type Caller, shareOf } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, tokenRequired } from '../failures.ts';
import {
  findRepository,
  mayRead,
  mayWrite,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import type { GitService } from '../rules/git/git-protocol.ts';
import * as pulls from '../store/pulls/pulls.ts';

/** Who uses a repository with git. */
export interface GitVisitor {
  found: VisibleRepository;
  caller: Caller | undefined;
  /** Of somebody who may not write to the repository: the branches he may push to all the same. */
  lent?: ReadonlySet<string>;
  /** Whose share of the git programs it counts for. */
  share: string;
}

/**
 * Lets a git client in: pushing needs credentials and write permission, or at least that for pull requests; fetching what
 * reading needs.
 * @throws 401 so that git asks for a password, 403, 404
 */
export async function admitGit(
  context: Context,
  credentials: Credentials,
  path: { owner: string; repo: string },
  service: GitService,
): Promise<GitVisitor> {
  const pushing = service === 'git-receive-pack';
  const needs = {
    area: 'repository',
    intent: pushing ? 'write' : 'read',
    access: pushing ? 'caller' : 'reader',
  } as const;
  const caller = await admit(context, needs, credentials);
  const found = await findRepository(
    context,
    caller,
    {
      owner: path.owner,
      repo: path.repo.replace(/\.git$/, ''),
    },
    'code',
  ).catch((failure: unknown) => {
    // Somebody unknown may turn out to be somebody who can see it.
    throw caller === undefined && isNotFound(failure) ? tokenRequired() : failure;
  });
  const lent = pushing ? await lentTo(context, caller, found) : undefined;
  // Whoever may make pull requests may push for review, and which refs he wants to push shows only later.
  if (lent?.size === 0 && !mayRead(found, 'pulls'))
    throw forbidden('user should have a permission to write to a repo');
  if (pushing && found.repository.archived) throw forbidden('repo is archived');
  return { found, caller, share: shareOf(caller), ...(lent === undefined ? {} : { lent }) };
}

/**
 * Branches of pull requests whose posters let those push who may write to the base; undefined for who may write here, who
 * needs no such leave.
 */
export async function lentTo(
  { database }: Context,
  caller: Caller | undefined,
  found: VisibleRepository,
): Promise<ReadonlySet<string> | undefined> {
  if (mayWrite(found, 'code')) return undefined;
  if (caller === undefined) return new Set();
  const { repository } = found;
  return new Set(await pulls.listLentBranches(database.autocommit(), repository.id, caller.userId));
}

const isNotFound = (failure: unknown) => (failure as { kind?: unknown }).kind === notFound().kind;
