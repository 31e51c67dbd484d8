import type { Context } from '../context.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { eventsOfMove } from '../rules/events/hook-events.ts';
import { branchOf, tagOf } from '../rules/git/push-request.ts';
import type { RefEvent } from './announce.ts';
import { readPushedCommits } from './pushed-commits.ts';
import type { HookMessage } from './write-messages.ts';

/** What hooks are told of a branch or tag that appeared, moved or went. */
export async function writeRefMessages(
  context: Context,
  event: RefEvent,
  found: VisibleRepository,
  about: { repository: object; sender: object },
): Promise<HookMessage[]> {
  const { ref, after } = event;
  const branch = branchOf(ref);
  const named = { ref: branch ?? tagOf(ref) ?? ref, ref_type: branch === undefined ? 'tag' : 'branch' };
  const messages: HookMessage[] = [];
  for (const type of eventsOfMove(event)) {
    if (type === 'create') messages.push({ type, ref, payload: { sha: after, ...named, ...about } });
    else if (type === 'delete')
      messages.push({ type, ref, payload: { ...named, pusher_type: 'user', ...about } });
    else messages.push({ type, ref, payload: await pushPayload(context, event, found, about) });
  }
  return messages;
}

/** The payload of a push, also of one that is only tried out. */
export async function pushPayload(
  context: Context,
  { ref, before, after }: Pick<RefEvent, 'ref' | 'before' | 'after'>,
  found: VisibleRepository,
  about: { repository: object; sender: object },
): Promise<object> {
  const { owner, repository } = found;
  const page = context.links.repository(owner.login, repository.name);
  const pushed = await readPushedCommits(context, found, { ref, before, after });
  return {
    ref,
    before,
    after,
    compare_url: pushed.since === undefined ? '' : `${page}/compare/${pushed.since}...${after}`,
    commits: pushed.commits,
    total_commits: pushed.total,
    head_commit: pushed.head,
    repository: about.repository,
    pusher: about.sender,
    sender: about.sender,
  };
}
