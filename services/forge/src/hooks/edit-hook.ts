import type { Context } from '../context.ts';
import { HOOK } from '../events/send-to-hooks.ts';
import { notFound } from '../failures.ts';
import {
  checkAuthorization,
  checkBranchFilter,
  checkHookName,
  type GivenConfig,
  readHookConfig,
} from '../rules/events/hook-config.ts';
import { readHookEvents } from '../rules/events/hook-events.ts';
import * as deliveries from '../store/events/hook-deliveries.ts';
import * as hooks from '../store/events/hooks.ts';

/** What a request changes about a hook; what it leaves out stays. */
export interface HookEdit {
  config: GivenConfig | null | undefined;
  events: readonly string[] | null | undefined;
  branchFilter: string | null | undefined;
  authorization: string | null | undefined;
  active: boolean | null | undefined;
  name: string | null | undefined;
}

/**
 * Changes a hook: all that is asked for or nothing, and nothing of what somebody else changes at the same time.
 * @throws 422 for values nothing can be sent with, 404 when it went away meanwhile
 */
export async function editHook(
  { database, webhooks: { sealing } }: Context,
  hookId: number,
  wanted: HookEdit,
): Promise<hooks.HookRow> {
  const config = readHookConfig(wanted.config ?? {});
  if (typeof wanted.branchFilter === 'string') checkBranchFilter(wanted.branchFilter);
  checkAuthorization(wanted.authorization ?? '');
  checkHookName(wanted.name ?? '');
  const events = wanted.events ? readHookEvents(wanted.events) : undefined;
  const seal = (text: string | null | undefined, before: Buffer | null) => {
    if (text === undefined || text === null) return before;
    return text === '' ? null : sealing.seal(text);
  };
  return await database.transaction(async (tx) => {
    const hook = await hooks.lock(tx, hookId);
    if (hook === undefined) throw notFound();
    const [before, after] = [new URL(hook.url), new URL(config.url ?? hook.url)];
    // What waits goes to the new host as well, and takes its turn there.
    if (after.host !== before.host) await deliveries.changeLane(tx, HOOK, hookId, after.host);
    // Whoever may change where it goes was never told what it is sent with, and the header says it in clear.
    const header = after.origin === before.origin ? hook.authorization_header : null;
    return await hooks.update(tx, hookId, {
      url: config.url ?? hook.url,
      content_type: config.contentType ?? hook.content_type,
      secret: seal(config.secret, hook.secret),
      authorization_header: seal(wanted.authorization, header),
      events: events ?? hook.events,
      branch_filter: wanted.branchFilter ?? hook.branch_filter,
      active: wanted.active ?? hook.active,
      name: wanted.name ?? hook.name,
    });
  });
}
