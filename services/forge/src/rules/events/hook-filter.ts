import { readGlob } from '../git/glob.ts';

/** More than any filter needs that people write: many hooks are asked for each branch of a push. */
const WORK = 100_000;

/** Whether a hook wants a message: by its events, and for what happens to branches by its filter of branches. */
export function interestsHook(
  hook: { events: readonly string[]; branch_filter: string },
  message: { type: string; ref?: string },
): boolean {
  if (!hook.events.includes(message.type)) return false;
  if (message.ref === undefined || hook.branch_filter === '') return true;
  // A branch goes by its own name, a tag by its full one.
  const name = message.ref.replace(/^refs\/heads\//, '');
  const work = { left: WORK };
  return hook.branch_filter === '*' || readGlob(hook.branch_filter, work)?.(name, work) === true;
}
