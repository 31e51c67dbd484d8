import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { matchPeople } from '../commits/match-people.ts';
import type { Context } from '../context.ts';
import { readObjects } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { mayWrite, type VisibleRepository } from '../repositories/find-repository.ts';
import * as branchProtections from '../store/repositories/branch-protections.ts';
import { branchJson, type branchSchema } from './branch-json.ts';

/** Branches as their viewer gets them: three statements, and one look at the commits for all. */
export async function presentBranches(
  context: Context,
  viewer: Caller | undefined,
  found: VisibleRepository,
  branches: readonly { name: string; commit: string }[],
): Promise<z.output<typeof branchSchema>[]> {
  const { git, database, links } = context;
  const { repository, owner } = found;
  const tx = database.autocommit();
  const [objects, protections, pusher] = await Promise.all([
    readObjects(
      git,
      repository.id,
      branches.map(({ commit }) => commit),
    ),
    branchProtections.list(tx, repository.id),
    branchProtections.findPusher(tx, viewer?.userId ?? 0, owner.id, mayWrite(found, 'code')),
  ]);
  const commits = objects.map((object) => (object?.type === 'commit' ? parseCommit(object) : undefined));
  const people = await matchPeople(
    context,
    viewer,
    commits.flatMap((commit) => (commit ? [commit.author.email, commit.committer.email] : [])),
  );
  const { signingKey } = context.identity;
  const around = { found, protections, viewer: pusher, people, signingKey };
  return branches.map(({ name }, index) => branchJson(name, commits[index], around, links));
}
