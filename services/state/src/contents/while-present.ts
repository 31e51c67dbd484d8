import type { Context } from '../context.ts';
import { stateGone } from '../failures-extras.ts';
import type { State } from '../model/model.ts';

/**
 * Reads states without holding their machine: a removal goes on, and then what cannot be read is not damaged but gone.
 * @throws ABORTED when one of them was removed meanwhile
 */
export async function* whilePresent<T>(
  answers: AsyncIterable<T>,
  states: readonly State[],
  { index }: Context,
): AsyncGenerator<T> {
  try {
    yield* answers;
  } catch (error) {
    const { removing, states: present } = index.model;
    const gone = states.find(({ id }) => removing.has(id) || !present.some((state) => state.id === id));
    throw gone === undefined ? error : stateGone(gone.name);
  }
}
