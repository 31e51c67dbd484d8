import type { Context } from '../context.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { findEntry } from '../outside/git/reading/trees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { mergeMessage, templatePath, type WantedMessage } from '../rules/pulls/merge-message.ts';
import type { MergeStyle } from '../rules/pulls/merge-style.ts';
import { readReferences } from '../rules/texts/references.ts';
import type { UserRow } from '../store/people/users.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** The message of a merge: the caller's, or by the template on the default branch, or the style's own. */
export async function messageOf(
  context: Context,
  { repository, owner }: VisibleRepository,
  pull: PullWithIssue,
  poster: UserRow,
  style: MergeStyle,
  wanted: WantedMessage,
): Promise<string> {
  const template = wanted.title.trim() === '' ? await readTemplate(context, repository, style) : undefined;
  const place = { owner: owner.login, name: repository.name };
  const words = {
    title: pull.title,
    number: pull.number,
    body: pull.body,
    posterName: poster.login,
    baseBranch: pull.base_branch,
    headBranch: pull.head_branch,
    baseRepository: place,
    headRepository: await placeOfHead(context, repository, place, pull),
    closes: closedBy(`${pull.title}\n${pull.body}`, context.links.root),
  };
  return mergeMessage(wanted, style, words, template);
}

/** The head's repository as everybody may know of it who reads the base; undefined when it is deleted or more private. */
async function placeOfHead(
  { database }: Context,
  repository: { id: number; private: boolean },
  place: { owner: string; name: string },
  { head_repository_id: id }: PullWithIssue,
): Promise<{ owner: string; name: string } | undefined> {
  if (id === repository.id) return place;
  const [row] = id === null ? [] : await repositories.listByIds(database.autocommit(), [id], 0);
  const isHidden = row === undefined || (row.private && !repository.private);
  return isHidden ? undefined : { owner: row.owner.login, name: row.name };
}

/** Issues of the same repository that words close. */
const closedBy = (text: string, root: string): number[] =>
  readReferences(text, root)
    .filter(({ repository, action }) => repository === undefined && action === 'closes')
    .map(({ number }) => number);

/** The repository's own words for a style, on its default branch. */
async function readTemplate(
  { git }: Context,
  repository: { id: number; default_branch: string },
  style: MergeStyle,
): Promise<string | undefined> {
  const tip = await readRef(git, repository.id, branchRef(repository.default_branch));
  if (tip === undefined) return undefined;
  const entry = await findEntry(git, repository.id, `${tip}^{tree}`, templatePath(style));
  if (entry?.type !== 'blob' || entry.size > MAX_TEMPLATE_BYTES) return undefined;
  return (await readObject(git, repository.id, entry.id))?.content.toString();
}

const MAX_TEMPLATE_BYTES = 64 * 1024;
