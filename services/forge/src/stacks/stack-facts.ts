import { isDeepStrictEqual } from 'node:util';
import type { Context } from '../context.ts';
import type { MergeFacts } from '../pulls/merge-facts.ts';
import { approversOf, type Protection } from '../rules/git/protection.ts';
import * as dependencies from '../store/issues/dependencies.ts';
import * as mergeFacts from '../store/pulls/merge-facts.ts';
import type { PullWithIssue } from '../store/pulls/pulls.ts';
import * as stackFacts from '../store/pulls/stack-facts.ts';

/** Where a pull request is merged along with those below it. */
export interface StackPlace {
  /** Those below it: what it depends on of them is no obstacle. */
  below: readonly PullWithIssue[];
  /** What holds for its own base, and for the branch that all of them go to. */
  ownProtection: Protection | undefined;
  protection: Protection | undefined;
}

/**
 * What is known of a pull request as the branch sees it to which it goes with others: reviews count for that one only where
 * their authors may approve there, whatever they may where they gave them.
 */
export async function loadStackFacts(
  { database }: Context,
  pull: PullWithIssue,
  head: string,
  { below, ownProtection, protection }: StackPlace,
): Promise<MergeFacts> {
  const tx = database.autocommit();
  const facts = await mergeFacts.load(tx, pull, head);
  const approvers = approversOf(protection);
  const verdicts = isDeepStrictEqual(approvers, approversOf(ownProtection))
    ? {}
    : await stackFacts.loadVerdicts(tx, pull, head, approvers);
  const issueIds = below.map(({ issue_id: id }) => id);
  const waits = facts.waits && (await dependencies.hasOpen(tx, pull.issue_id, issueIds));
  return { ...facts, ...verdicts, waits };
}
