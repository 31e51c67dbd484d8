import type { Context } from '../context.ts';
import { NO_COMMIT } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
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
  const { ref, before, after } = event;
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.*)$/s.exec(ref) ?? [];
  const named = { ref: name, ref_type: kind === 'tags' ? 'tag' : 'branch' };
  const messages: HookMessage[] = [];
  if (kind !== undefined && before === NO_COMMIT)
    messages.push({ type: 'create', ref, payload: { sha: after, ...named, ...about } });
  if (kind !== undefined && after === NO_COMMIT)
    messages.push({ type: 'delete', ref, payload: { ...named, pusher_type: 'user', ...about } });
  messages.push({ type: 'push', ref, payload: await pushPayload(context, event, found, about) });
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
  const isMove = before !== NO_COMMIT && after !== NO_COMMIT;
  const pushed = await readPushedCommits(context, found, { ref, before, after });
  return {
    ref,
    before,
    after,
    compare_url: isMove ? `${page}/compare/${before}...${after}` : '',
    commits: pushed.commits,
    total_commits: pushed.total,
    head_commit: pushed.head,
    repository: about.repository,
    pusher: about.sender,
    sender: about.sender,
  };
}
