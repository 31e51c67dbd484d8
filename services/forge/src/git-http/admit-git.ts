import { admit } from '../admit.ts';
import type { Credentials } from '../caller/authenticate.ts';
import type { Context } from '../context.ts';
import { forbidden, notFound, tokenRequired } from '../failures.ts';
import { findRepository, mayWrite } from '../repositories/find-repository.ts';
import type { GitService } from '../rules/git-protocol.ts';
import type { RepositoryRow } from '../store/repositories.ts';

/**
 * Lets a git client in: pushing needs credentials and write permission, fetching what reading needs.
 * @throws 401 so that git asks for a password, 403, 404
 */
export async function admitGit(
  context: Context,
  credentials: Credentials,
  path: { owner: string; repo: string },
  service: GitService,
): Promise<RepositoryRow> {
  const pushing = service === 'git-receive-pack';
  const needs = {
    area: 'repository',
    intent: pushing ? 'write' : 'read',
    access: pushing ? 'caller' : 'reader',
  } as const;
  const caller = await admit(context, needs, credentials);
  const found = await findRepository(context, caller, {
    owner: path.owner,
    repo: path.repo.replace(/\.git$/, ''),
  }).catch((failure: unknown) => {
    // Somebody unknown may turn out to be somebody who can see it.
    throw caller === undefined && isNotFound(failure) ? tokenRequired() : failure;
  });
  if (pushing && !mayWrite(found)) throw forbidden('user should have a permission to write to a repo');
  if (pushing && found.repository.archived) throw forbidden('repo is archived');
  return found.repository;
}

const isNotFound = (failure: unknown) => (failure as { kind?: unknown }).kind === notFound().kind;
