import type { Context } from '../context.ts';
import { unacceptable } from '../failures.ts';
import {
  checkAuthorization,
  checkBranchFilter,
  checkHookName,
  checkHookType,
  type GivenConfig,
  readCompleteConfig,
} from '../rules/events/hook-config.ts';
import { readHookEvents } from '../rules/events/hook-events.ts';
import * as hooks from '../store/events/hooks.ts';

/** Each event costs a request for each hook. */
const MAX_HOOKS = 50;

/** What a request says of a new hook. */
export interface NewHook {
  type: string;
  config: GivenConfig;
  events: readonly string[];
  branchFilter: string;
  authorization: string;
  active: boolean;
  /** What people call it. */
  name: string;
}

/**
 * Adds a hook to a place.
 * @throws 422 for values nothing can be sent with, and when the place has as many hooks as it may
 */
export async function createHook(
  { database, webhooks: { sealing } }: Context,
  scope: hooks.HookScope,
  wanted: NewHook,
): Promise<hooks.HookRow> {
  checkHookType(wanted.type);
  const config = readCompleteConfig(wanted.config);
  const events = readHookEvents(wanted.events);
  checkBranchFilter(wanted.branchFilter);
  checkAuthorization(wanted.authorization);
  checkHookName(wanted.name);
  const seal = (text: string) => (text === '' ? null : sealing.seal(text));
  const hook = {
    type: wanted.type,
    url: config.url,
    content_type: config.contentType,
    secret: seal(config.secret),
    authorization_header: seal(wanted.authorization),
    events,
    branch_filter: wanted.branchFilter,
    active: wanted.active,
    name: wanted.name,
  };
  const made = await database.transaction((tx) => hooks.insert(tx, scope, hook, MAX_HOOKS));
  if (made === undefined) throw unacceptable(`there are ${MAX_HOOKS} webhooks already`);
  return made;
}
