import { loadPushRules } from '../branches/push-rules.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { tagProtected } from '../failures.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { refuseTag } from '../rules/git/tag-protection.ts';

/**
 * Whether protections let somebody make or delete a tag, for whoever has the queue of branches.
 * @throws 422
 */
export async function checkTag(
  context: Context,
  found: VisibleRepository,
  caller: Caller,
  { name, what }: { name: string; what: 'create' | 'delete' },
): Promise<void> {
  const { tags, pusher } = await loadPushRules(context, found, caller.userId);
  if (refuseTag(tags, name, pusher) !== undefined) throw tagProtected(what);
}
