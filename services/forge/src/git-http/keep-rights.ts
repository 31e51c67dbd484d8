import { loadPushRules, type PushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { forbidden } from '../failures.ts';
import { findActing } from '../repositories/find-acting.ts';
import { type GitVisitor, lentTo } from './admit-git.ts';
import type { Push } from './finish-push.ts';
import { planPush } from './plan-push.ts';

/** With an older answer rights are asked again before more of a pack is passed on, which can take days to come. */
const RIGHTS_MS = 10_000;

/** What holds for the visitor: on branches that are lent to him he counts as somebody who may write. */
export async function loadRules(
  context: Context,
  { found, caller, lent }: GitVisitor & { caller: Caller },
): Promise<PushRules> {
  const rules = await loadPushRules(context, found, caller.userId);
  return lent === undefined ? rules : { ...rules, pusher: { ...rules.pusher, mayWrite: true }, lent };
}

/** What holds for him by now; undefined when he is gone, was banned or may not know of the repository, or it was archived. */
export async function rulesNow(
  context: Context,
  { caller, found, share }: GitVisitor & { caller: Caller },
): Promise<PushRules | undefined> {
  const acting = await findActing(context, caller.userId, found.repository.id);
  if (acting === undefined || acting.found.repository.archived) return undefined;
  const lent = await lentTo(context, acting.caller, acting.found);
  return await loadRules(context, { ...acting, share, ...(lent && { lent }) });
}

/**
 * The pack of a push, as long as what was decided on its commands would be decided again: without its last bytes git moves
 * nothing.
 * @throws 403 when the rights of who pushes, the repository or its protections have changed
 */
export async function* packWhileAllowed(
  context: Context,
  plan: Omit<Push, 'row' | 'maxBytes'>,
): AsyncGenerator<Buffer> {
  let askedAt = performance.now();
  let isAllowed = true;
  let unanswered = 0;
  for await (const chunk of plan.request.pack) {
    if (isAllowed && performance.now() - askedAt > RIGHTS_MS) {
      try {
        isAllowed = await isDecidedAgain(context, plan);
        unanswered = 0;
      } catch (error) {
        // A long push outlives a short absence of the database.
        if (++unanswered === MAX_UNANSWERED) throw error;
        context.log.warn({ reason: (error as Error).message }, 'what may be pushed could not be asked again');
      }
      askedAt = performance.now();
    }
    // A client listens only when it has said everything.
    if (isAllowed) yield chunk;
  }
  if (!isAllowed) throw forbidden('what may be pushed has changed while it was on its way: push it again');
}

/** A minute of them. */
const MAX_UNANSWERED = 6;

async function isDecidedAgain(
  context: Context,
  { visitor, rules: before, isAtomic, verdicts }: Omit<Push, 'row' | 'maxBytes'>,
): Promise<boolean> {
  const rules = await rulesNow(context, visitor);
  if (rules === undefined) return false;
  // Nearly always; to decide on a hundred thousand commands takes seconds.
  if (isSame(before, rules)) return true;
  // Reviews are decided on when all of it is there.
  const reviews = new Map(
    verdicts.flatMap((one) => (one.kind === 'review' ? [[one.command.ref, one.review] as const] : [])),
  );
  const commands = verdicts.flatMap(({ kind, command }) => (kind === 'refuse' ? [] : [command]));
  const { default_branch: defaultBranch } = visitor.found.repository;
  const push = { isAtomic, isFull: false, reviews, defaultBranch, elsewhere: new Set<string>() };
  const now = new Map(planPush(commands, rules, push).map((one) => [one.command, one.kind]));
  return verdicts.every(({ kind, command }) => {
    if (kind === 'pass') return now.get(command) === 'pass';
    return kind !== 'stage' || now.get(command) !== 'refuse';
  });
}

function isSame(one: PushRules, other: PushRules): boolean {
  const lent = ({ lent: branches }: PushRules) => branches && [...branches].sort().join('\n');
  return (
    one.readFrom === other.readFrom &&
    one.pusher.mayWrite === other.pusher.mayWrite &&
    lent(one) === lent(other)
  );
}
