import type { Context } from '../context.ts';
import { loadPeople } from '../issues/load-people.ts';
import type { Git } from '../outside/git/git.ts';
import { mayHaveFolder, readTrees } from '../outside/git/merging/tree-entries.ts';
import { readNode } from '../outside/git/reading/commit-nodes.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { findEntry } from '../outside/git/reading/trees.ts';
import { branchRef, readRef } from '../outside/git/refs.ts';
import { accessTo, type VisibleRepository } from '../repositories/find-repository.ts';
import {
  mergeMessage,
  ownMessage,
  type PullWords,
  rebaseMessage,
  templatePath,
  type WantedMessage,
} from '../rules/pulls/merge-message.ts';
import type { MergeStyle } from '../rules/pulls/merge-style.ts';
import { readReferences } from '../rules/texts/references.ts';
import type { UserRow } from '../store/people/users.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as repositories from '../store/repositories/repositories.ts';
import * as reviews from '../store/reviews/reviews.ts';
import { signatureOf } from '../users/signature-of.ts';
import { nameOf } from './write-merge.ts';

/** What is merged, who proposed it, and where its base branch is, when that is known. */
export interface Worded {
  pull: PullWithIssue;
  poster: UserRow;
  baseTip: string | undefined;
}

/** The message of a merge: the caller's, or by the template on the default branch, or the style's own. */
export async function messageOf(
  context: Context,
  found: VisibleRepository,
  of: Worded,
  style: MergeStyle,
  wanted: WantedMessage,
): Promise<string> {
  const own = ownMessage(wanted);
  if (own !== undefined) return own;
  const template = await templateOf(context, found, of, style);
  return mergeMessage(wanted, style, await wordsOf(context, found, of, template), template);
}

/** What becomes of the words of the last commit of a rebase; undefined where no template says so. */
export async function rewordingOf(
  context: Context,
  found: VisibleRepository,
  of: Worded,
): Promise<((original: string) => string) | undefined> {
  const template = await templateOf(context, found, of, 'rebase');
  if (template === undefined) return undefined;
  const words = await wordsOf(context, found, of, template);
  return (original) => rebaseMessage(original, words, template);
}

async function wordsOf(
  context: Context,
  { repository, owner }: VisibleRepository,
  { pull, poster }: Worded,
  template: string | undefined,
): Promise<PullWords> {
  const place = { owner: owner.login, name: repository.name };
  return {
    title: pull.title,
    number: pull.number,
    body: pull.body,
    posterName: poster.login,
    baseBranch: pull.base_branch,
    headBranch: pull.head_branch,
    baseRepository: place,
    headRepository: await placeOfHead(context, repository, place, pull),
    closes: template?.includes('${ClosingIssues}')
      ? closedBy(`${pull.title}\n${pull.body}`, context.links.root)
      : [],
    page: `${context.links.repository(place.owner, place.name)}/pulls/${pull.number}`,
    approvers: template?.includes('${ReviewedBy}') ? await listApprovers(context, pull) : [],
  };
}

/** The reference names no more. */
const MAX_APPROVERS = 10;

async function listApprovers(context: Context, pull: PullWithIssue): Promise<string[]> {
  const ids = await reviews.listApprovers(context.database.autocommit(), pull.id, MAX_APPROVERS);
  const people = await loadPeople(context, ids);
  return ids.map((id) => nameOf(signatureOf(context, people.byId(id))));
}

/** The head's repository where everybody may know of it, as everybody reads what is merged; else, and when it is deleted, undefined. */
async function placeOfHead(
  { database }: Context,
  repository: { id: number },
  place: { owner: string; name: string },
  { head_repository_id: id, topic }: PullWithIssue,
): Promise<{ owner: string; name: string } | undefined> {
  if (id === repository.id || topic !== null) return place;
  const [row] = id === null ? [] : await repositories.listByIds(database.autocommit(), [id], 0);
  return row && accessTo(row, undefined) && { owner: row.owner.login, name: row.name };
}

/** Issues of the same repository that words close. */
const closedBy = (text: string, root: string): number[] =>
  readReferences(text, root)
    .filter(({ repository, action }) => repository === undefined && action === 'closes')
    .map(({ number }) => number);

/** The repository's own words for a style, on its default branch. */
async function templateOf(
  { git }: Context,
  { repository }: VisibleRepository,
  { pull, baseTip }: Worded,
  style: MergeStyle,
): Promise<string | undefined> {
  const known = pull.base_branch === repository.default_branch ? baseTip : undefined;
  const tip = known ?? (await readRef(git, repository.id, branchRef(repository.default_branch)));
  if (tip === undefined) return undefined;
  const path = templatePath(style);
  if (!(await hasFolder(git, repository.id, tip, path.split('/', 1)[0] ?? ''))) return undefined;
  const entry = await findEntry(git, repository.id, `${tip}^{tree}`, path);
  if (entry?.type !== 'blob' || entry.size > MAX_TEMPLATE_BYTES) return undefined;
  return (await readObject(git, repository.id, entry.id))?.content.toString();
}

/** Whether a commit has a folder at its top: seen without asking where the tree was just merged. True where it is not plain. */
async function hasFolder(git: Git, repositoryId: number, commit: string, name: string): Promise<boolean> {
  const node = await readNode(git, repositoryId, commit);
  const [tree] = node === undefined ? [] : await readTrees(git, repositoryId, [node.tree]);
  return tree === undefined || mayHaveFolder(tree, name);
}

const MAX_TEMPLATE_BYTES = 64 * 1024;
