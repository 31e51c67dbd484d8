import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { readChanges } from '../outside/git/reading/changes.ts';
import { readSmallObjects } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { type CommitParts, commitJson, type commitSchema } from './commit-json.ts';
import { matchPeople } from './match-people.ts';

/** Commits as their viewer gets them: one statement, and one process where changes are wanted, for all. */
export async function presentCommits(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  ids: readonly string[],
  parts: CommitParts,
): Promise<z.output<typeof commitSchema>[]> {
  const { git, links } = context;
  const { signingKey } = context.identity;
  const { id } = found.repository;
  const [objects, changes] = await Promise.all([
    readSmallObjects(git, id, ids),
    readChanges(git, id, ids, { stats: parts.stat, files: parts.files }),
  ]);
  const commits = objects.flatMap((object) => (object?.type === 'commit' ? [parseCommit(object)] : []));
  const people = await matchPeople(
    context,
    viewer,
    commits.flatMap(({ author, committer }) => [author.email, committer.email]),
  );
  return commits.map((commit) =>
    commitJson(commit, { found, people, parts, changes: changes.get(commit.id), signingKey }, viewer, links),
  );
}

/** Which expensive parts a query asks for: all but those it switches off. */
export function readParts(query: {
  stat?: string | undefined;
  files?: string | undefined;
  verification?: string | undefined;
}): CommitParts {
  const wanted = (value: string | undefined) => !/^(0|f|false)$/i.test(value ?? '');
  return {
    stat: wanted(query.stat),
    files: wanted(query.files),
    verification: wanted(query.verification),
  };
}
