import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import {
  checkAuthorization,
  checkBranchFilter,
  checkHookName,
  type GivenConfig,
  readHookConfig,
} from '../rules/events/hook-config.ts';
import { readHookEvents } from '../rules/events/hook-events.ts';
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
 * Changes a hook: all that is asked for or nothing.
 * @throws 422 for values nothing can be sent with, 404 when it went away meanwhile
 */
export async function editHook(
  { database, webhooks: { sealing } }: Context,
  hook: hooks.HookRow,
  wanted: HookEdit,
): Promise<hooks.HookRow> {
  const config = readHookConfig(wanted.config ?? {});
  const branchFilter = wanted.branchFilter ?? hook.branch_filter;
  checkBranchFilter(branchFilter);
  checkAuthorization(wanted.authorization ?? '');
  checkHookName(wanted.name ?? '');
  const url = config.url ?? hook.url;
  // Whoever may change where it goes was never told what it is sent with, and the header says it in clear.
  const header = new URL(url).origin === new URL(hook.url).origin ? hook.authorization_header : null;
  const seal = (text: string | null | undefined, before: Buffer | null) => {
    if (text === undefined || text === null) return before;
    return text === '' ? null : sealing.seal(text);
  };
  const changed = await hooks.update(database.autocommit(), hook.id, {
    url,
    content_type: config.contentType ?? hook.content_type,
    secret: seal(config.secret, hook.secret),
    authorization_header: seal(wanted.authorization, header),
    events: wanted.events ? readHookEvents(wanted.events) : hook.events,
    branch_filter: branchFilter,
    active: wanted.active ?? hook.active,
    name: wanted.name ?? hook.name,
  });
  if (changed === undefined) throw notFound();
  return changed;
}
