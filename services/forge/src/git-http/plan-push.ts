import type { PlannedReviews, ReviewPush } from '../agit/plan-reviews.ts';
import { type PushRules, refuseMove } from '../branches/push-rules.ts';
import { isBranchName, isRefName } from '../rules/git/branch-name.ts';
import { dependsOnFiles, findProtection } from '../rules/git/protection.ts';
import { branchOf, kindOf, type PushCommand, tagOf } from '../rules/git/push-request.ts';
import { areTooMany, refuseTag } from '../rules/git/tag-protection.ts';

/**
 * What becomes of a command: git carries it out; or it moves a ref of ours first, because the decision depends on what
 * the commits hold, or because they are for a review and move no ref of the client's; or it is refused.
 */
export type Verdict = { command: PushCommand } & (
  | { kind: 'pass' | 'stage' }
  | { kind: 'review'; review: ReviewPush }
  | { kind: 'refuse'; reason: string }
);

/** What decides on a push besides its commands and the rules. */
export interface PushCase {
  isAtomic: boolean;
  isFull: boolean;
  reviews: PlannedReviews;
  defaultBranch: string;
  /** Refs to delete that are not where the push says: git does not compare where it does not know the id. */
  elsewhere: ReadonlySet<string>;
}

/**
 * Decides on the commands of a push, in their order, before git sees any of them.
 *
 * Where a protection lets somebody push and not overwrite, or depends on the files that change, the commits must be
 * there before it can be said. A hook of git's could look at them, but is a process that must be found, may be executed
 * and knows what we know: where a hook cannot run, git goes on without it. So git gets such a command under a name of
 * ours that nobody sees, and the branch itself moves by our own compare-and-swap once the commits were looked at.
 */
export function planPush(commands: readonly PushCommand[], rules: PushRules, push: PushCase): Verdict[] {
  const tags = commands.flatMap(({ ref }) => tagOf(ref) ?? []);
  const decideTag = areTooMany(rules.tags, tags)
    ? () => 'too many tags at once for the protections of tags: push some of them first'
    : (tag: string) => refuseTag(rules.tags, tag, rules.pusher);
  const verdicts = commands.map((command) =>
    push.isFull && kindOf(command) !== 'delete' ? full(command) : decide(command, rules, push, decideTag),
  );
  if (!push.isAtomic) return verdicts;
  if (verdicts.some(({ kind }) => kind === 'refuse'))
    return verdicts.map((verdict) =>
      verdict.kind === 'refuse'
        ? verdict
        : { kind: 'refuse', command: verdict.command, reason: 'another ref of the atomic push is refused' },
    );
  if (verdicts.every(({ kind }) => kind === 'pass' || kind === 'review')) return verdicts;
  return commands.map((command) => ({ kind: 'stage', command }));
}

const full = (command: PushCommand): Verdict => ({
  kind: 'refuse',
  command,
  reason: 'the repository has reached its size limit',
});

function decide(
  command: PushCommand,
  rules: PushRules,
  { reviews, elsewhere, defaultBranch }: PushCase,
  decideTag: (tag: string) => string | undefined,
): Verdict {
  const review = reviews.get(command.ref);
  if (typeof review === 'string') return { kind: 'refuse', command, reason: review };
  if (review !== undefined) return { kind: 'review', command, review };
  // As git would, if it did not get refs of ours along with these.
  if (!/^refs\/(?:(?:heads|tags)\/(?!refs(?:\/|$))|notes\/)/.test(command.ref))
    return { kind: 'refuse', command, reason: 'deny updating a hidden ref' };
  // As git would; its report of a name with a space could not be told from one of another ref.
  if (!isRefName(command.ref)) return { kind: 'refuse', command, reason: 'no ref can have this name' };
  const branch = branchOf(command.ref);
  const kind = kindOf(command);
  const { lent } = rules;
  if (lent !== undefined && (branch === undefined || !lent.has(branch) || kind === 'delete'))
    return { kind: 'refuse', command, reason: 'user should have a permission to write to a repo' };
  if (kind === 'delete' && elsewhere.has(command.ref))
    return { kind: 'refuse', command, reason: 'it is not where the push says it is' };
  // In the words of git, which looks at HEAD.
  if (kind === 'delete' && branch === defaultBranch)
    return { kind: 'refuse', command, reason: 'deletion of the current branch prohibited' };
  const tag = tagOf(command.ref);
  // One that git has nevertheless may go on and go away.
  if (kind === 'create' && !isBranchName(branch ?? tag ?? 'notes'))
    return { kind: 'refuse', command, reason: 'no branch or tag can have this name here' };
  const refusal = tag === undefined ? undefined : decideTag(tag);
  if (refusal !== undefined) return { kind: 'refuse', command, reason: refusal };
  const protection = branch === undefined ? undefined : findProtection(rules.protections, branch, rules.work);
  if (branch === undefined || protection === undefined) return { kind: 'pass', command };
  if (kind !== 'delete' && dependsOnFiles(protection)) return { kind: 'stage', command };
  const reason = refuseMove(rules, branch, kind === 'update' ? 'fast-forward' : kind);
  if (reason !== undefined) return { kind: 'refuse', command, reason };
  const onlyForward = kind === 'update' && refuseMove(rules, branch, 'force') !== undefined;
  return { kind: onlyForward ? 'stage' : 'pass', command };
}
