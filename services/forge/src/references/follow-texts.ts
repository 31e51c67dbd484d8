import type { Context } from '../context.ts';
import { reviewTexts } from '../reviews/review-texts.ts';
import { readReferences } from '../rules/texts/references.ts';
import * as comments from '../store/issues/comments.ts';
import type { IssueWithPull } from '../store/issues/issues.ts';
import * as references from '../store/issues/references.ts';
import { findTargets, type Target } from './find-targets.ts';

/**
 * Tells of the text of an issue in the timelines of the issues it names, in the name of whoever wrote or changed it.
 * @param signal ends it between two references
 */
export async function followIssueText(
  context: Context,
  actorId: number,
  issue: IssueWithPull,
  signal: AbortSignal,
): Promise<void> {
  const text = `${issue.title}\n${issue.body}`;
  const targets = await findTargets(context, actorId, issue.repository_id, text);
  for (const target of targets) {
    signal.throwIfAborted();
    if (target.id === issue.id) continue;
    const kind = issue.is_pull ? 'pull_ref' : 'issue_ref';
    const entry = entryOf(target, actorId, issue.id);
    const key = references.issueKey(issue.id);
    await references.add(context.database.autocommit(), { ...entry, kind, key });
  }
}

/** The same for a comment as it is now; one that was deleted meanwhile says nothing. */
export async function followComment(
  context: Context,
  actorId: number,
  issue: IssueWithPull,
  commentId: number,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context;
  const comment = await comments.findById(database.autocommit(), issue.repository_id, commentId);
  if (comment !== undefined) await followText(context, actorId, issue, comment, signal);
}

/** Of a review no more than this is told: its texts may name thousands. As many as of a push. */
const MAX_REFERENCES = 100;

/** The same for what a review says, as a whole and on lines. */
export async function followReview(
  context: Context,
  actorId: number,
  issue: IssueWithPull,
  reviewId: number,
  signal: AbortSignal,
): Promise<void> {
  let room = MAX_REFERENCES;
  for await (const text of reviewTexts(context, issue.id, reviewId)) {
    signal.throwIfAborted();
    // Looked up they are whether anybody has them or not.
    const names = readReferences(text.body, context.links.root).length;
    if (names === 0) continue;
    await followText(context, actorId, issue, text, signal, room);
    room -= names;
    if (room <= 0) return;
  }
}

async function followText(
  context: Context,
  actorId: number,
  issue: IssueWithPull,
  { id, body }: { id: number; body: string },
  signal: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const targets = await findTargets(context, actorId, issue.repository_id, body);
  for (const target of targets.slice(0, most)) {
    signal.throwIfAborted();
    if (target.id === issue.id) continue;
    const entry = entryOf(target, actorId, issue.id);
    await context.database.transaction(async (tx) => {
      // Held, so that its deletion finds what is told of it.
      if (!(await comments.holdText(tx, id))) return;
      const key = references.commentKey(id);
      await references.add(tx, { ...entry, kind: 'comment_ref', key, sourceCommentId: id });
    });
  }
}

/** What is said in words about an issue closes it or opens it again when it is merged, not when it is said. */
const entryOf = (target: Target, actorId: number, sourceIssueId: number) => ({
  issueId: target.id,
  posterId: actorId,
  action: target.action,
  repositoryId: target.sourceRepositoryId,
  sourceIssueId,
});
