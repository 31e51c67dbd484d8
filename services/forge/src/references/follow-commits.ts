import type { Tx } from '@croft/sql';
import type { Context } from '../context.ts';
import type { Git } from '../outside/git/git.ts';
import { walkNewCommits } from '../outside/git/merging/merge-base.ts';
import { listCommits } from '../outside/git/reading/history.ts';
import { readSmallObjects } from '../outside/git/reading/objects.ts';
import { type CommitData, parseCommit } from '../outside/git/reading/parse-commit.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import { readReferences } from '../rules/texts/references.ts';
import * as references from '../store/issues/references.ts';
import type { RefMove } from '../store/repositories/pushes.ts';
import type * as repositories from '../store/repositories/repositories.ts';
import { changeByCommit } from './change-by-commit.ts';
import { findTargetsFrom, limitToAuthor, type Source, type Target } from './find-targets.ts';

/** The newest of what a branch got; whoever imports a history does not mean to speak to anybody. */
const MAX_COMMITS = 50;
/** More than this is not told of for one push, however many issues its messages name. */
const MAX_REFERENCES = 100;
/** Longest subject that is shown. */
const MAX_SUBJECT = 255;

/**
 * Tells of the commits that came to a branch in the timelines of the issues their messages name, in the name of whoever
 * moved the branch. On the default branch, `closes #1` closes what he may close, and `reopens #1` opens it again; in other
 * repositories, where the commits are somebody else's, what that one may, too. Doing it again does nothing again.
 * @param findSource says in whose name; asked where a message names something, which few do
 * @param signal ends it between two references
 */
export async function followCommits(
  context: Context,
  repository: repositories.RepositoryRow,
  { ref, before, after, authorId }: RefMove,
  findSource: () => Promise<Source | undefined>,
  signal: AbortSignal,
): Promise<void> {
  if (!ref.startsWith('refs/heads/') || after === NO_COMMIT) return;
  const isDefault = ref === branchRef(repository.default_branch);
  const commits = await readNewCommits(context, repository, { isDefault, before, after });
  const telling = commits.filter(({ message }) => readReferences(message, context.links.root).length > 0);
  const source = telling.length === 0 ? undefined : await findSource();
  if (source === undefined) return;
  let room = MAX_REFERENCES;
  for (const commit of telling) {
    signal.throwIfAborted();
    const found = await findTargetsFrom(context, source, commit.message);
    const targets =
      authorId === undefined
        ? found
        : await limitToAuthor(context, found, { authorId, repositoryId: repository.id }, commit.message);
    for (const target of targets.slice(0, room)) {
      signal.throwIfAborted();
      room--;
      await noteCommit(context, source.writer.userId, commit, target, isDefault);
    }
    if (room === 0) return;
  }
}

/** What the branch got and the default branch did not have, oldest first; of the default branch everything it got. */
async function readNewCommits(
  { git }: Context,
  repository: repositories.RepositoryRow,
  { isDefault, before, after }: { isDefault: boolean; before: string; after: string },
): Promise<CommitData[]> {
  const main = isDefault
    ? undefined
    : await readRef(git, repository.id, branchRef(repository.default_branch));
  const not = [before, main].filter((id) => id !== undefined && id !== NO_COMMIT && id !== after);
  const ids = await listNew(git, repository.id, after, not as string[]);
  const objects = await readSmallObjects(git, repository.id, ids.reverse());
  return objects.flatMap((object) => {
    if (object?.type !== 'commit') return [];
    const commit = parseCommit(object);
    // PostgreSQL keeps no NUL.
    return [{ ...commit, message: commit.message.replaceAll('\0', '') }];
  });
}

/** Most pushes bring a few commits, and merges do: for those no process is started. */
async function listNew(git: Git, id: number, from: string, not: string[]): Promise<string[]> {
  const walked = not.length === 0 ? undefined : await walkNewCommits(git, id, from, not);
  if (walked !== undefined) return walked.slice(0, MAX_COMMITS);
  const query = { from, not, path: '', since: undefined, until: undefined };
  return (
    (await listCommits(git, id, query, { offset: 0, limit: MAX_COMMITS, isWaitedFor: false }))?.ids ?? []
  );
}

async function noteCommit(
  { database }: Context,
  actorId: number,
  commit: CommitData,
  target: Target,
  isDefault: boolean,
): Promise<void> {
  // On another branch it is an intention, which counts when the commit arrives.
  const action = isDefault && !target.is_pull ? target.action : 'none';
  const change = target.mayChange ? action : 'none';
  const note = (tx: Tx) =>
    references.add(tx, {
      issueId: target.id,
      kind: 'commit_ref',
      posterId: actorId,
      key: references.commitKey(target.sourceRepositoryId, commit.id),
      action,
      repositoryId: target.sourceRepositoryId,
      commitSha: commit.id,
      body: commit.message.split('\n', 1)[0]?.slice(0, MAX_SUBJECT) ?? '',
    });
  if (change === 'none') {
    await note(database.autocommit());
    return;
  }
  await database.transaction(async (tx) => {
    const by = { actorId, commitSha: commit.id, repositoryId: target.sourceRepositoryId };
    if (await note(tx)) await changeByCommit(tx, target.id, change, by);
  });
}
