import { matchPeople } from '../commits/match-people.ts';
import type { Context } from '../context.ts';
import { type CommitChanges, readChanges } from '../outside/git/reading/changes.ts';
import { listCommits } from '../outside/git/reading/history.ts';
import { readObjects } from '../outside/git/reading/objects.ts';
import { parseCommit, type Stamp } from '../outside/git/reading/parse-commit.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { wireTime } from '../wire-time.ts';
import type { RefEvent } from './announce.ts';

/** As many are told of; how many there were is told, too. */
const MAX_COMMITS = 5;

/** What a push brought, newest first. */
export interface PushedCommits {
  commits: object[];
  total: number;
  /** Where the ref is now; null when it is gone or is no commit. */
  head: object | null;
}

/**
 * Reads what a push brought. A new branch or tag brought what the default branch does not have; a default branch that
 * is new, everything.
 */
export async function readPushedCommits(
  context: Context,
  { repository, owner }: VisibleRepository,
  { ref, before, after }: Pick<RefEvent, 'ref' | 'before' | 'after'>,
): Promise<PushedCommits> {
  const { git, links } = context;
  if (after === NO_COMMIT) return { commits: [], total: 0, head: null };
  const main = branchRef(repository.default_branch);
  const known = before !== NO_COMMIT || ref === main ? before : await readRef(git, repository.id, main);
  const query = {
    from: after,
    not: known === undefined || known === NO_COMMIT ? [] : [known],
    path: '',
    since: undefined,
    until: undefined,
  };
  const listed = await listCommits(git, repository.id, query, { offset: 0, limit: MAX_COMMITS });
  const ids = listed?.ids ?? [];
  const objects = await readObjects(git, repository.id, [after, ...ids]);
  const parsed = objects.map((object) => (object?.type === 'commit' ? parseCommit(object) : undefined));
  const changes = await readChanges(git, repository.id, [...new Set([after, ...ids])], {
    stats: false,
    files: true,
  });
  const stamps = parsed.flatMap((commit) => (commit === undefined ? [] : [commit.author, commit.committer]));
  const byAddress = await matchPeople(
    context,
    undefined,
    stamps.map(({ email }) => email),
  );
  const page = links.repository(owner.login, repository.name);
  const person = ({ name, email }: Stamp) => ({ name, email, username: byAddress(email)?.login ?? '' });
  const [head = null, ...commits] = parsed.map((commit) =>
    commit === undefined
      ? null
      : {
          id: commit.id,
          message: commit.message,
          url: `${page}/commit/${commit.id}`,
          author: person(commit.author),
          committer: person(commit.committer),
          verification: null,
          timestamp: wireTime(commit.author.at),
          ...filesOf(changes.get(commit.id)),
        },
  );
  return { commits: commits.filter((commit) => commit !== null), total: listed?.total ?? 0, head };
}

function filesOf(changes: CommitChanges | undefined) {
  const paths = (status: string) =>
    (changes?.files ?? []).filter((file) => file.status === status).map((file) => file.path);
  return { added: paths('added'), removed: paths('removed'), modified: paths('modified') };
}
