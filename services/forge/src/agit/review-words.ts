import type { Context } from '../context.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { MAX_TITLE } from '../rules/issues/issue-edit.ts';
import { MAX_TEXT } from '../rules/issues/text-limits.ts';
import { isWorkInProgress } from '../rules/pulls/mergeable.ts';
import type { ReviewPush } from './plan-reviews.ts';

/** Title and text of a new pull request: those that were pushed with it, or else those of its first commit. */
export async function wordsOf(
  { git }: Context,
  repositoryId: number,
  firstCommit: string,
  { title, description, topic, isDraft }: ReviewPush,
): Promise<{ title: string; body: string }> {
  const object = await readObject(git, repositoryId, firstCommit);
  const message = object === undefined ? '' : parseCommit(object).message.replaceAll('\0', '').trim();
  const [subject = '', ...rest] = message.split('\n');
  const words = title || subject.trim() || topic;
  const named = isDraft && !isWorkInProgress(words) ? `WIP: ${words}` : words;
  return {
    title: Array.from(named).slice(0, MAX_TITLE).join(''),
    body: description || rest.join('\n').trim().slice(0, MAX_TEXT),
  };
}
