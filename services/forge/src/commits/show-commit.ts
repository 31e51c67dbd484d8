import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { startCommitDiff } from '../outside/git/reading/commit-diff.ts';
import { findRepository } from '../repositories/find-repository.ts';
import type { CommitParts, commitSchema } from './commit-json.ts';
import { presentCommits } from './present-commits.ts';
import { resolveCommit } from './resolve-commit.ts';
import { streamFromGit } from './stream-from-git.ts';

/** The path of a commit, or of what is named like one. */
export interface CommitPath {
  owner: string;
  repo: string;
  sha: string;
}

/** One commit as its viewer gets it. */
export async function showCommit(
  context: Context,
  viewer: Caller | undefined,
  path: CommitPath,
  parts: CommitParts,
): Promise<z.output<typeof commitSchema>> {
  const found = await findRepository(context, viewer, path, 'code');
  const { commit } = await resolveCommit(context, found, path.sha);
  const [shown] = await presentCommits(context, viewer, found, [commit], parts);
  if (shown === undefined) throw notFound('the commit cannot be read');
  return shown;
}

/** What a commit changed, as text. */
export async function showCommitChanges(
  context: Context,
  viewer: Caller | undefined,
  path: CommitPath,
  format: 'diff' | 'patch',
): Promise<Readable> {
  const { git } = context;
  const found = await findRepository(context, viewer, path, 'code');
  const { commit } = await resolveCommit(context, found, path.sha);
  const start = () => startCommitDiff(git, found.repository.id, commit, format);
  return (await streamFromGit(context, viewer, start, context.settings.GIT_DIFF_TIMEOUT)).body;
}
