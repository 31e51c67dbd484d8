import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { forbidden, notFound, unacceptable } from '../failures.ts';
import { findIssue, type NumberedPath, type VisibleIssue } from '../issues/find-issue.ts';
import { resolveWishes } from '../issues/resolve-wishes.ts';
import { labelEntry } from '../issues/timeline-entries.ts';
import { checkNotArchived, mayWrite } from '../repositories/find-repository.ts';
import { planLabels } from '../rules/issues/label.ts';
import { readId } from '../rules/requests/read-id.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as labels from '../store/issues/labels.ts';

/** What to do with the labels of an issue; they are named by id or by name. */
export interface WantedLabels {
  how: 'add' | 'replace' | 'clear';
  labels: readonly (number | string)[];
}

/**
 * Adds labels to an issue or pull request, or replaces them; those of other repositories and unknown ones are dropped.
 * @throws 403 for others than writers, 404, 423
 */
export async function changeIssueLabels(
  context: Context,
  caller: Caller,
  path: NumberedPath,
  wanted: WantedLabels,
): Promise<{ found: VisibleIssue; labels: labels.LabelCard[] }> {
  const found = await findIssueToLabel(context, caller, path);
  const { labels: known = [] } = await resolveWishes(context, found.repository, { labels: wanted.labels });
  const result = await context.database.transaction(async (tx) => {
    const current = await issues.lockById(tx, found.issue.id);
    if (current === undefined) throw notFound();
    const after = await applyLabels(tx, current, caller.userId, { how: wanted.how, labels: known });
    if (after.changed) await issues.touch(tx, current.id);
    return after.labels;
  });
  const byName = (a: labels.LabelCard, b: labels.LabelCard) =>
    a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1;
  return { found, labels: result.sort(byName) };
}

/**
 * Takes a label, by id or name, from an issue or pull request.
 * @throws 403 for others than writers, 404, 422 for a label the repository does not have, 423
 */
export async function removeIssueLabel(
  context: Context,
  caller: Caller,
  path: NumberedPath & { id: string },
): Promise<void> {
  const found = await findIssueToLabel(context, caller, path);
  const id = readId(path.id);
  const named = id === 0 ? [path.id] : [id, path.id];
  const { labels: known = [] } = await resolveWishes(context, found.repository, { labels: named });
  const label = known.find((one) => one.id === id) ?? known[0];
  if (label === undefined) throw unacceptable(`label does not exist [label: ${path.id}]`);
  await context.database.transaction(async (tx) => {
    const current = await issues.lockById(tx, found.issue.id);
    if (current === undefined) throw notFound();
    const after = await applyLabels(tx, current, caller.userId, { how: 'remove', labels: [label] });
    if (after.changed) await issues.touch(tx, current.id);
  });
}

/** Gives an issue that is held other labels, and tells of it in its timeline and to others. */
export async function applyLabels(
  tx: Tx,
  issue: issues.IssueWithPull,
  doerId: number,
  wanted: { how: WantedLabels['how'] | 'remove'; labels: readonly labels.LabelCard[] },
): Promise<{ labels: labels.LabelCard[]; changed: boolean }> {
  const { result, added, removed } = planLabels(
    issue.labels,
    wanted.labels,
    wanted.how === 'clear' ? 'replace' : wanted.how,
  );
  const changed = added.length + removed.length > 0;
  if (!changed) return { labels: result, changed };
  const idsOf = (some: readonly labels.LabelCard[]) => some.map(({ id }) => id);
  await labels.change(tx, issue.id, idsOf(added), idsOf(removed));
  await comments.addAll(tx, { issueId: issue.id, posterId: doerId }, [
    ...added.map((label) => labelEntry(label, 'added')),
    ...removed.map((label) => labelEntry(label, 'removed')),
  ]);
  await announce(tx, {
    kind: 'issue',
    action: wanted.how === 'clear' ? 'label_cleared' : 'label_updated',
    issueId: issue.id,
    labels: { added: idsOf(added), removed },
    repositoryId: issue.repository_id,
    actorId: doerId,
  });
  return { labels: result, changed };
}

async function findIssueToLabel(context: Context, caller: Caller, path: NumberedPath): Promise<VisibleIssue> {
  const found = await findIssue(context, caller, path);
  if (!mayWrite(found, found.issue.is_pull ? 'pulls' : 'issues'))
    throw forbidden('write permission is required');
  checkNotArchived(found);
  return found;
}
