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
  // A branch goes by its own name and by its full one, a tag by the latter. `*` stands for slashes, too, as for the reference.
  const names = [message.ref.replace(/^refs\/heads\//, ''), message.ref];
  const work = { left: WORK };
  const takes = readGlob(hook.branch_filter.replaceAll(/\*+/g, '**'), work);
  return takes !== undefined && names.some((name) => takes(name, work));
}
