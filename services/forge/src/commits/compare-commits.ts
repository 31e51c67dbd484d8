import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { notFound, unacceptable } from '../failures.ts';
import type { ListPage } from '../list-answer.ts';
import { startDiff } from '../outside/git/diff.ts';
import { findMergeBase } from '../outside/git/merging/merge.ts';
import { listCommits } from '../outside/git/reading/history.ts';
import {
  accessTo,
  findRepository,
  mayRead,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import { splitComparison, splitHead } from '../rules/git/comparison.ts';
import { readPage } from '../rules/requests/paging.ts';
import * as network from '../store/repositories/network.ts';
import type { commitSchema } from './commit-json.ts';
import { presentCommits, readParts } from './present-commits.ts';
import { resolveCommit } from './resolve-commit.ts';
import { streamFromGit } from './stream-from-git.ts';

/** More commits than this are not shown at once. */
const PAGE = { fallback: 250, maximum: 250 };

/** Where two names stand apart. */
export interface ComparisonPath {
  owner: string;
  repo: string;
  /** `base...head`; the head may be of another repository, as `owner:name` or `owner/repo:name`. */
  basehead: string;
}

/** Commits that the head has and the base has not, newest first. */
export async function compareCommits(
  context: Context,
  viewer: Caller | undefined,
  path: ComparisonPath,
  query: { page?: string | undefined; limit?: string | undefined; files?: string | undefined },
): Promise<ListPage<z.output<typeof commitSchema>>> {
  const { found, beside, base, head } = await findBoth(context, viewer, path);
  const range = { from: head, not: [base], path: '', since: undefined, until: undefined, beside };
  const page = readPage(query, PAGE);
  const history = await listCommits(context.git, found.repository.id, range, page);
  if (history === undefined) throw unacceptable('the history cannot be read');
  const items = await presentCommits(context, viewer, found, history.ids, readParts(query));
  return { page, total: history.total, items };
}

/** The same as text: from where the two parted to the head. */
export async function showComparison(
  context: Context,
  viewer: Caller | undefined,
  path: ComparisonPath,
  format: 'diff' | 'patch',
): Promise<Readable> {
  const { git } = context;
  const { found, beside, base, head } = await findBoth(context, viewer, path);
  const { id } = found.repository;
  // With unrelated histories everything is a change.
  const from = (await findMergeBase(git, id, base, head, beside)) ?? base;
  const start = () => startDiff(git, id, { from, to: head }, format, beside);
  return (await streamFromGit(context, viewer, start, context.settings.GIT_DIFF_TIMEOUT)).body;
}

/** Two commits to compare. */
interface Both {
  /** The repository of the head. */
  found: VisibleRepository;
  /** Id of the repository of the base, where that is another. */
  beside: number | undefined;
  base: string;
  head: string;
}

async function findBoth(context: Context, viewer: Caller | undefined, path: ComparisonPath): Promise<Both> {
  const ofBase = await findRepository(context, viewer, path, 'code');
  const names = splitComparison(path.basehead);
  if (names === undefined) throw notFound('expected two names with three dots between them');
  const { name, ...place } = splitHead(names[1]);
  const found = await findInNetwork(context, viewer, ofBase, place);
  const [base, head] = await Promise.all([
    resolveCommit(context, ofBase, names[0]),
    resolveCommit(context, found, name),
  ]);
  const { id } = ofBase.repository;
  const beside = found.repository.id === id ? undefined : id;
  return { found, beside, base: base.commit, head: head.commit };
}

/**
 * The repository of the head: the one of the base, or another one that goes back to the same original.
 * @throws 404 also when the viewer may not read its code
 */
async function findInNetwork(
  { database }: Context,
  viewer: Caller | undefined,
  ofBase: VisibleRepository,
  place: { owner?: string; repo?: string },
): Promise<VisibleRepository> {
  const { owner, repo } = place;
  if (owner === undefined) return ofBase;
  const sought = { repositoryId: ofBase.repository.id, owner, repo };
  const rows = await network.list(database.autocommit(), sought, viewer?.userId ?? 0);
  const readable = rows.flatMap((row) => accessTo(row, viewer) ?? []).filter((one) => mayRead(one, 'code'));
  const [found] = readable;
  if (found === undefined) throw notFound();
  return found;
}
