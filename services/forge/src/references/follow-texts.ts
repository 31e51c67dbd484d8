import type { Context } from '../context.ts';
import { reviewTexts } from '../reviews/review-texts.ts';
import { readReferences } from '../rules/texts/references.ts';
import * as comments from '../store/issues/comments.ts';
import * as issues from '../store/issues/issues.ts';
import * as references from '../store/issues/references.ts';
import { findNamed, findTargets, limitToAuthor, type Target } from './find-targets.ts';

/** Where a text stands, who wrote or changed it, and whether it is new: then nothing was told of it. */
export interface Saying {
  actorId: number;
  issue: issues.IssueWithPull;
  isNew: boolean;
}

/**
 * Tells of the text of an issue in the timelines of the issues it names, in the name of whoever wrote or changed it, and of
 * what it names no more.
 * @param signal ends it between two references
 */
export async function followIssueText(context: Context, saying: Saying, signal: AbortSignal): Promise<void> {
  const { issue } = saying;
  const tx = context.database.autocommit();
  const kind = issue.is_pull ? 'pull_ref' : 'issue_ref';
  const key = references.issueKey(issue.id);
  const read = async () => {
    const now = (await issues.mapByIds(tx, [issue.id])).get(issue.id);
    return now && textOf(now);
  };
  const tell = (entry: Entry) => references.add(tx, { ...entry, kind, key });
  await followText(
    context,
    saying,
    { key, mayWish: issue.is_pull, first: textOf(issue), read, tell },
    signal,
  );
}

const textOf = ({ title, body }: { title: string; body: string }) => `${title}\n${body}`;

/** The same for a comment as it is now; one that was deleted meanwhile says nothing. */
export async function followComment(
  context: Context,
  saying: Saying,
  commentId: number,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context;
  const comment = await comments.findById(database.autocommit(), saying.issue.repository_id, commentId);
  if (comment !== undefined) await followText(context, saying, wordsOf(context, saying, comment), signal);
}

/** Of a review no more than this is told: its texts may name thousands. As many as of a push. */
const MAX_REFERENCES = 100;

/** The same for what a review says, as a whole and on lines. */
export async function followReview(
  context: Context,
  saying: Saying,
  reviewId: number,
  signal: AbortSignal,
): Promise<void> {
  let room = MAX_REFERENCES;
  for await (const text of reviewTexts(context, saying.issue.id, reviewId)) {
    signal.throwIfAborted();
    // Looked up they are whether anybody has them or not.
    const names = readReferences(text.body, context.links.root).length;
    if (names === 0) continue;
    await followText(context, saying, wordsOf(context, saying, text), signal, room);
    room -= names;
    if (room <= 0) return;
  }
}

/** What is told of a text in one place. */
type Entry = Omit<references.ReferenceEntry, 'kind' | 'key'>;

/** A text that may change while it is followed. */
interface Words {
  key: string;
  /** Whether it is that of a pull request itself, which closes and opens what it says once that is merged. */
  mayWish: boolean;
  first: string;
  /** Undefined when it is gone. */
  read: () => Promise<string | undefined>;
  tell: (entry: Entry) => Promise<unknown>;
}

function wordsOf(
  { database }: Context,
  { issue }: Saying,
  { id, body }: { id: number; body: string },
): Words {
  const key = references.commentKey(id);
  return {
    key,
    mayWish: false,
    first: body,
    read: async () => (await comments.findById(database.autocommit(), issue.repository_id, id))?.body,
    tell: (entry) =>
      database.transaction(async (tx) => {
        // Held, so that its deletion finds what is told of it.
        if (await comments.holdText(tx, id))
          await references.add(tx, { ...entry, kind: 'comment_ref', key, sourceCommentId: id });
      }),
  };
}

/** Two who follow the same text may have read it before and after an edit: whoever writes last has seen the last of it. */
async function followText(
  context: Context,
  saying: Saying,
  words: Words,
  signal: AbortSignal,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { first, read } = words;
  let { isNew } = saying;
  for (let text: string | undefined = first; text !== undefined; ) {
    if (!(await tellText(context, { ...saying, isNew }, words, text, signal, most))) return;
    const now = await read();
    if (now === text) return;
    [text, isNew] = [now, false];
  }
}

/** @returns whether there was anything to write */
async function tellText(
  context: Context,
  { actorId, issue, isNew }: Saying,
  { key, mayWish, tell }: Words,
  text: string,
  signal: AbortSignal,
  most: number,
): Promise<boolean> {
  const found = await findTargets(context, actorId, issue.repository_id, text);
  const others = found.filter(({ id }) => id !== issue.id).slice(0, most);
  const targets = await withActions(context, issue, others, text, mayWish);
  for (const target of targets) {
    signal.throwIfAborted();
    const { id: issueId, action, sourceRepositoryId: repositoryId } = target;
    await tell({ issueId, posterId: actorId, action, repositoryId, sourceIssueId: issue.id });
  }
  const tx = context.database.autocommit();
  const told = isNew && targets.length === 0 ? [] : await references.listOf(tx, key);
  const isTold = new Set(targets.map(({ id }) => id));
  const left = told.filter(({ issue_id: id }) => !isTold.has(id));
  // Some may be named still, and this writer just does not know of them.
  const named = left.length === 0 ? undefined : await findNamed(context, issue.repository_id, text);
  for (const { id, issue_id: issueId, action } of left) {
    signal.throwIfAborted();
    const wanted = named?.get(issueId) ?? 'neutered';
    // What it wanted before it may want still; what is new is not for this writer to want.
    const stays = wanted === 'neutered' || (mayWish && wanted === action);
    const now = stays ? wanted : 'none';
    if (now !== action) await references.updateAction(tx, id, now);
  }
  return targets.length > 0 || left.length > 0;
}

/**
 * With what becomes of each: only the text of a pull request itself closes or opens something, namely issues, and when it is
 * merged, not when it is said.
 */
async function withActions(
  context: Context,
  issue: issues.IssueWithPull,
  targets: readonly Target[],
  text: string,
  mayWish: boolean,
): Promise<Target[]> {
  const wishes = targets.map(
    (target): Target => (mayWish && !target.is_pull ? target : { ...target, action: 'none' }),
  );
  const author = { authorId: issue.poster_id, repositoryId: issue.repository_id };
  return await limitToAuthor(context, wishes, author, text);
}
