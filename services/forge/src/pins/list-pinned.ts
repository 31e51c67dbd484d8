import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { presentIssues } from '../issues/present-issues.ts';
import { presentPulls } from '../pulls/present-pulls.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { MAX_PINNED } from '../rules/issues/pin-order.ts';
import * as issues from '../store/issues/issues.ts';
import * as pins from '../store/issues/pins.ts';
import * as pulls from '../store/pulls/pulls.ts';

interface RepositoryPath {
  owner: string;
  repo: string;
}

/** The pinned issues of a repository, in their order: so few that each is loaded by itself. */
export async function listPinnedIssues(context: Context, viewer: Caller | undefined, path: RepositoryPath) {
  const found = await findRepository(context, viewer, path, 'issues');
  const { id } = found.repository;
  const tx = context.database.autocommit();
  const numbers = await pins.listNumbers(tx, { repositoryId: id, isPull: false });
  const rows = await Promise.all(numbers.map((number) => issues.findByNumber(tx, id, number)));
  return await presentIssues(
    context,
    viewer,
    found,
    rows.filter((row) => row !== undefined),
  );
}

/** The pinned pull requests of a repository, in their order. */
export async function listPinnedPulls(context: Context, viewer: Caller | undefined, path: RepositoryPath) {
  const found = await findRepository(context, viewer, path, 'pulls');
  const { id } = found.repository;
  const tx = context.database.autocommit();
  const numbers = await pins.listNumbers(tx, { repositoryId: id, isPull: true });
  const rows = await Promise.all(numbers.map((number) => pulls.findByNumber(tx, id, number)));
  return await presentPulls(
    context,
    viewer,
    found,
    rows.filter((row) => row !== undefined),
  );
}

/** Whether there is room for another pin of each kind. */
export async function showPinRoom(context: Context, viewer: Caller | undefined, path: RepositoryPath) {
  const found = await findRepository(context, viewer, path);
  const tx = context.database.autocommit();
  const [onIssues, onPulls] = await Promise.all(
    [false, true].map((isPull) => pins.count(tx, { repositoryId: found.repository.id, isPull })),
  );
  return { issues: (onIssues ?? 0) < MAX_PINNED, pull_requests: (onPulls ?? 0) < MAX_PINNED };
}
