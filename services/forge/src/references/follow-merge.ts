import type { Context } from '../context.ts';
import { readReferences } from '../rules/texts/references.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import * as pulls from '../store/pulls/pulls.ts';
import { changeByCommit } from './change-by-commit.ts';
import { findTargets, limitToAuthor } from './find-targets.ts';

/**
 * Closes what the text of a pull request wants closed, and opens again what it wants open, once it is merged, into whatever
 * branch, and in the name of whoever merged it; what he may not change stays, and in other repositories what its poster may
 * not. Doing it again does nothing again.
 * @param signal ends it between two issues
 */
export async function followMerge(
  context: Context,
  merged: IssueWithPull,
  signal: AbortSignal,
): Promise<void> {
  const text = `${merged.title}\n${merged.body}`;
  // Most change nothing.
  if (readReferences(text, context.links.root).every(({ action }) => action === 'none')) return;
  const tx = context.database.autocommit();
  const pull = await pulls.findByNumber(tx, merged.repository_id, merged.number);
  if (pull === undefined || pull.merged_by === null || pull.merge_commit_sha === null) return;
  const actorId = pull.merged_by;
  const commitSha = pull.merge_commit_sha;
  const found = await findTargets(context, actorId, merged.repository_id, text);
  const author = { authorId: merged.poster_id, repositoryId: merged.repository_id };
  const targets = await limitToAuthor(context, found, author, text);
  for (const target of targets) {
    signal.throwIfAborted();
    const { action } = target;
    if (action === 'none' || !target.mayChange) continue;
    const by = { actorId, commitSha, repositoryId: merged.repository_id, mergedIssueId: merged.id };
    await context.database.transaction((inside) => changeByCommit(inside, target.id, action, by));
  }
}
