import { Failure } from '@croft/failure';
import type { Context } from '../context.ts';
import type { GitVisitor } from '../git-http/admit-git.ts';
import { branchRef, readRefs } from '../outside/git/refs.ts';
import { mayRead } from '../repositories/find-repository.ts';
import { kindOf, type PushCommand } from '../rules/git/push-request.ts';
import {
  listTargets,
  type ReviewOptions,
  readReviewOptions,
  readReviewRef,
  readTopic,
} from '../rules/git/review-push.ts';

/** A push for review, decided as far as it can be before its commits are here. */
export interface ReviewPush extends ReviewOptions {
  base: string;
  isDraft: boolean;
}

/** Refs that ask for a review, with what they ask for or why they are refused. */
export type PlannedReviews = ReadonlyMap<string, ReviewPush | string>;

/** Nobody writes more pull requests at once by hand. */
const MAX_REVIEWS = 10;

/**
 * Looks at the commands of a push that ask for a review. They need no more than what pull requests need, reading code and
 * pull requests, and move nothing but the pull request's own ref.
 */
export async function planReviews(
  context: Context,
  { found, login }: { found: GitVisitor['found']; login: string },
  push: { commands: readonly PushCommand[]; options: readonly string[]; isAtomic: boolean },
): Promise<PlannedReviews> {
  const asked = push.commands.flatMap((command) => {
    const read = readReviewRef(command.ref);
    return read === undefined ? [] : [{ command, read }];
  });
  if (asked.length === 0) return new Map();
  const everyone = (reason: string) => new Map(asked.map(({ command }) => [command.ref, reason]));
  if (!mayRead(found, 'pulls')) return everyone('user should have a permission to create pull requests');
  if (push.isAtomic && push.commands.length > 1)
    return everyone('what is pushed for review cannot be a part of an atomic push');
  if (asked.length > MAX_REVIEWS) return everyone(`more than ${MAX_REVIEWS} reviews in a push`);
  let options: ReviewOptions;
  try {
    options = readReviewOptions(push.options);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return everyone(failure.message);
  }
  const plans = asked.map(async ({ command, read }) => {
    if (kindOf(command) === 'delete') return 'there is no such ref: close the pull request instead';
    const targets = listTargets(read.path);
    const tips = await readRefs(
      context.git,
      found.repository.id,
      targets.map(({ base }) => branchRef(base)),
    );
    const target = targets.find((_, index) => tips[index] !== undefined);
    if (target === undefined) return 'there is no such branch to review it for';
    const wanted = target.topic || options.topic;
    if (wanted === '') return 'it has no topic: push to refs/for/<branch>/<topic>, or with -o topic=<topic>';
    const topic = readTopic(wanted, login);
    if (topic === undefined) return 'its topic is no possible name of a branch';
    return { ...options, topic, base: target.base, isDraft: read.isDraft };
  });
  const planned = await Promise.all(plans);
  return new Map(asked.map(({ command }, index) => [command.ref, planned[index] as ReviewPush | string]));
}
