import type { Context } from '../context.ts';
import { listCommits } from '../outside/git/reading/history.ts';
import { describeObject } from '../outside/git/reading/objects.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { tagOf } from '../rules/git/push-request.ts';
import type { RefEvent } from './announce.ts';
import { presentPayloadCommits } from './payload-commits.ts';

/** As many are told of; how many there were is told, too. */
const MAX_COMMITS = 5;

/** What a push brought, newest first. */
export interface PushedCommits {
  commits: object[];
  total: number;
  /** The commit the ref leads to now; null when it is gone or leads to none. */
  head: object | null;
  /** The commit that they are compared with, of the default branch for a new one; undefined where there is none. */
  since: string | undefined;
}

/**
 * Reads what a push brought. A new branch or tag brought what the default branch does not have; a default branch that
 * is new, everything.
 */
export async function readPushedCommits(
  context: Context,
  found: VisibleRepository,
  { ref, before, after }: Pick<RefEvent, 'ref' | 'before' | 'after'>,
): Promise<PushedCommits> {
  const { git } = context;
  const { repository } = found;
  const nothing = { commits: [], total: 0, head: null, since: undefined };
  if (after === NO_COMMIT) return nothing;
  // An annotated tag is an object of its own.
  const tip =
    tagOf(ref) === undefined ? after : (await describeObject(git, repository.id, `${after}^{commit}`))?.id;
  if (tip === undefined) return nothing;
  // One that is only tried out tells of the commit that is there.
  if (before === after) {
    const [head = null] = await presentPayloadCommits(context, found, [tip]);
    return { commits: head === null ? [] : [head], total: head === null ? 0 : 1, head, since: before };
  }
  const main = branchRef(repository.default_branch);
  const known = before !== NO_COMMIT || ref === main ? before : await readRef(git, repository.id, main);
  const query = {
    from: tip,
    not: known === undefined || known === NO_COMMIT ? [] : [known],
    path: '',
    since: undefined,
    until: undefined,
  };
  const listed = await listCommits(git, repository.id, query, {
    offset: 0,
    limit: MAX_COMMITS,
    isWaitedFor: false,
  });
  const ids = listed?.ids ?? [];
  const [head = null, ...commits] = await presentPayloadCommits(context, found, [tip, ...ids]);
  return {
    commits: commits.filter((commit) => commit !== null),
    total: listed?.total ?? 0,
    head,
    since: known === NO_COMMIT ? undefined : known,
  };
}
