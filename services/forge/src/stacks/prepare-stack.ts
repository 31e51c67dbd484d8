import { Failure } from '@croft/failure';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { headMoved, notFound, notMergeable } from '../failures.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { checkOpen } from '../pulls/check-merger.ts';
import { checkMade, checkRequirements, type RequirementsPast } from '../pulls/check-requirements.ts';
import type { Landing } from '../pulls/land-merges.ts';
import { checkMerge, type MergeWish, writeMergeOf } from '../pulls/prepare-merge.ts';
import { bringHead } from '../pulls/read-head.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { findProtection, type Protection } from '../rules/git/protection.ts';
import { checkStyle } from '../rules/pulls/merge-style.ts';
import { checkOutlook, checkRelated } from '../rules/pulls/mergeable.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import { loadStackFacts } from './stack-facts.ts';

/** Pull requests that are merged together, the lowest first, and the branch they go to. */
export interface Stack {
  branch: string;
  members: readonly PullWithIssue[];
  /** All of the repository, as they are now. */
  protections: readonly Protection[];
}

/** One of them, at the commits it is merged with. */
interface Member {
  pull: PullWithIssue;
  head: string;
  /** The head below it; of the lowest, where the branch is. */
  below: string;
  mergeBase: string;
}

/**
 * Decides about a stack, and writes a merge for each of its pull requests onto that of the one below, to where nobody sees
 * them yet. For whoever has the queue of branches.
 * @throws 404, 405, 409 as for a single one; the message begins with the number of the one that is in the way
 */
export async function prepareStack(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  stack: Stack,
  wanted: MergeWish & { headCommit: string },
  past: RequirementsPast,
): Promise<Landing[]> {
  const members = await checkMembers(context, found, stack, wanted, past);
  const protection = findProtection(stack.protections, stack.branch);
  const landings: Landing[] = [];
  for (const [index, member] of members.entries()) {
    // The words are about the one that the caller names; the others have their own.
    const wish = index === members.length - 1 ? wanted : { style: wanted.style, title: '', message: '' };
    const onto = landings.at(-1)?.intent.commit_sha ?? member.below;
    const target = { branch: stack.branch, onto, isLowest: index === 0 };
    const intent = await named(member.pull, async () => {
      const made = await writeMember(context, caller, found, member, wish, target);
      await checkMade(context, found.repository.id, made, protection, past);
      return made;
    });
    landings.push({ pull: member.pull, intent });
  }
  return landings;
}

async function checkMembers(
  context: Context,
  found: VisibleRepository,
  { branch, members: pulls, protections }: Stack,
  wanted: MergeWish & { headCommit: string },
  past: RequirementsPast,
): Promise<Member[]> {
  const protection = findProtection(protections, branch);
  const [base, ...heads] = await readHeads(context, branch, pulls);
  if (base === undefined) throw notFound('the base branch does not exist');
  const members: Member[] = [];
  for (const [index, pull] of pulls.entries()) {
    const head = heads[index] ?? pull.head_sha;
    const below = members.at(-1)?.head ?? base;
    await named(pull, async () => {
      checkOpen(pull);
      // What is kept up for good is no step on the way, and the others were meant for it.
      if (index < pulls.length - 1 && findProtection(protections, pull.head_branch) !== undefined)
        throw notMergeable(`${pull.head_branch} is protected, and others are not merged past it`);
      const outlook = await context.outlooks.of(pull.repository_id, below, head);
      checkOutlook(pull.title, outlook);
      const ownProtection = findProtection(protections, pull.base_branch);
      const place = { below: pulls.slice(0, index), ownProtection, protection };
      const facts = await loadStackFacts(context, pull, head, place);
      const commits = { base: below, head, mergeBase: outlook.mergeBase };
      await checkRequirements(context, pull, commits, protection, { ...past, style: wanted.style, facts });
      checkStyle(wanted.style, found.repository);
      if (index === pulls.length - 1 && wanted.headCommit !== '' && wanted.headCommit !== head)
        throw headMoved();
      checkRelated(outlook, wanted.style);
      members.push({ pull, head, below, mergeBase: outlook.mergeBase ?? below });
    });
  }
  return members;
}

/** Where the branch is, and the heads: all at one moment, save one that comes from a fork. */
async function readHeads(
  context: Context,
  branch: string,
  pulls: readonly PullWithIssue[],
): Promise<(string | undefined)[]> {
  const [top, id] = [pulls.at(-1), pulls[0]?.repository_id];
  if (top === undefined || id === undefined) return [];
  const own = pulls.filter((pull) => pull.head_repository_id === id).map((pull) => pull.head_branch);
  const tips = await readRefs(context.git, id, [branch, ...own].map(branchRef));
  return own.length === pulls.length ? tips : [...tips, await bringHead(context, top)];
}

/** Writes the merge of a member, of which the base already has everything below it. */
async function writeMember(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  { pull, head, below, mergeBase }: Member,
  wish: MergeWish,
  { branch, onto, isLowest }: { branch: string; onto: string; isLowest: boolean },
): Promise<Landing['intent']> {
  if (wish.style === 'merge' && !isLowest) await checkMerge(context, pull, wish.style, { base: onto, head });
  const sides = { base: onto, head, mergeBase, upstream: isLowest ? undefined : below };
  const there = { ...found, pull: { ...pull, base_branch: branch } };
  const intent = await writeMergeOf(context, caller, there, wish, sides);
  return { ...intent, stacked_on: isLowest ? null : pull.base_branch };
}

/** What is refused on the way names the pull request that is in the way. */
export async function named<T>({ number }: { number: number }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { kind, code, message, body, cause } = error;
    throw new Failure(kind, code, `#${number}: ${message}`, { body, cause });
  }
}
