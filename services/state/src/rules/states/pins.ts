import { tooManyPins } from '../../failures-extras.ts';
import type { Model, State } from '../../model/model.ts';

/** Each can keep a save of the whole machine from garbage collection. */
const MAX_PINS_PER_USER = 10;

/** Whether one more state may be pinned; of the system as many as administrators like. @throws RESOURCE_EXHAUSTED */
export function checkPin({ states }: Pick<Model, 'states'>, { user }: State): void {
  if (user === undefined) return;
  const pins = states.filter((state) => state.pinned && state.user === user);
  if (pins.length >= MAX_PINS_PER_USER) throw tooManyPins(user, MAX_PINS_PER_USER);
}
