import { matchForHooks } from '../commits/match-people.ts';
import type { Context } from '../context.ts';
import { type CommitChanges, readChanges } from '../outside/git/reading/changes.ts';
import { readSmallObjects } from '../outside/git/reading/objects.ts';
import { parseCommit, type Stamp } from '../outside/git/reading/parse-commit.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { wireTime } from '../wire-time.ts';

/** Commits as hooks are told of them, with the files they change; null for what is no commit. */
export async function presentPayloadCommits(
  context: Context,
  { repository, owner }: VisibleRepository,
  ids: readonly string[],
): Promise<(object | null)[]> {
  const { git, links } = context;
  const objects = await readSmallObjects(git, repository.id, ids);
  const parsed = objects.map((object) => (object?.type === 'commit' ? parseCommit(object) : undefined));
  const changes = await readChanges(git, repository.id, [...new Set(ids)], { stats: false, files: true });
  const stamps = parsed.flatMap((commit) => (commit === undefined ? [] : [commit.author, commit.committer]));
  const byAddress = await matchForHooks(
    context,
    stamps.map(({ email }) => email),
  );
  const page = links.repository(owner.login, repository.name);
  const person = ({ name, email }: Stamp) => ({ name, email, username: byAddress(email)?.login ?? '' });
  return parsed.map((commit) =>
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
}

function filesOf(changes: CommitChanges | undefined) {
  const paths = (status: string) =>
    (changes?.files ?? []).filter((file) => file.status === status).map((file) => file.path);
  return { added: paths('added'), removed: paths('removed'), modified: paths('modified') };
}
