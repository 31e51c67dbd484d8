import type { Model } from '../../model/model.ts';

/** Each is held in memory and read at every start; those that somebody named stay until somebody removes them. */
export const MAX_OWN_SAVES = 1000;

/** Whether a user has as many states as he may make himself; those that were saved with the system are not his doing. */
export function hasAllOwnSaves({ states }: Pick<Model, 'states'>, user: string): boolean {
  return states.filter((state) => state.user === user && state.system === undefined).length >= MAX_OWN_SAVES;
}
