import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import { startDiff } from '../outside/git/diff.ts';
import { findMergeBase } from '../outside/git/merge.ts';
import { listCommits } from '../outside/git/reading/history.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { splitComparison } from '../rules/git/comparison.ts';
import { readPage } from '../rules/requests/paging.ts';
import type { commitSchema } from './commit-json.ts';
import { presentCommits, readParts } from './present-commits.ts';
import { resolveCommit } from './resolve-commit.ts';
import { streamFromGit } from './stream-from-git.ts';

/** More commits than this are not shown at once; `total_commits` counts all. */
const PAGE = { fallback: 250, maximum: 250 };

/** Where two names stand apart. */
export interface ComparisonPath {
  owner: string;
  repo: string;
  /** `base...head`. */
  basehead: string;
}

/** Commits that the head has and the base has not, newest first. */
export async function compareCommits(
  context: Context,
  viewer: Caller | undefined,
  path: ComparisonPath,
  query: { page?: string | undefined; limit?: string | undefined; files?: string | undefined },
): Promise<{ total_commits: number; commits: z.output<typeof commitSchema>[] }> {
  const { found, base, head } = await findBoth(context, viewer, path);
  const range = { from: head, not: [base], path: '', since: undefined, until: undefined };
  const history = await listCommits(context.git, found.repository.id, range, readPage(query, PAGE));
  if (history === undefined) throw unacceptable('the history cannot be read');
  const parts = readParts(query);
  return {
    total_commits: history.total,
    commits: await presentCommits(context, viewer, found, history.ids, parts),
  };
}

/** The same as text: from where the two parted to the head. */
export async function showComparison(
  context: Context,
  viewer: Caller | undefined,
  path: ComparisonPath,
  format: 'diff' | 'patch',
): Promise<Readable> {
  const { git } = context;
  const { found, base, head } = await findBoth(context, viewer, path);
  const { id } = found.repository;
  // With unrelated histories everything is a change.
  const from = (await findMergeBase(git, id, base, head)) ?? base;
  return (await streamFromGit(context, viewer, () => startDiff(git, id, { from, to: head }, format))).body;
}

async function findBoth(
  context: Context,
  viewer: Caller | undefined,
  path: ComparisonPath,
): Promise<{ found: VisibleRepository; base: string; head: string }> {
  const found = await findRepository(context, viewer, path, 'code');
  const names = splitComparison(path.basehead);
  if (names === undefined) throw notFound('expected two names with three dots between them');
  const [base, head] = await Promise.all(
    names.map(async (name) => (await resolveCommit(context, found, name)).commit),
  );
  return { found, base: base as string, head: head as string };
}
