import type { Pool } from '../rules/states/save-plan.ts';

/** So many removals in a row may bring no space, as states share what did not change between them. */
const FRUITLESS = 8;

/**
 * What removals for space came to, over all calls: while others fill the disk the history would go for nothing, eight states with
 * each call that wants space.
 */
export class FruitlessRemovals {
  /** By the name of the pool: the most that was free, and how many removals since then brought no more. */
  readonly #pools = new Map<string, { readonly most: number; readonly count: number }>();

  /** Whether so many brought nothing that no more is worth it, until somebody else has made room. */
  areEnough({ name, free }: Pool): boolean {
    const { most, count } = this.#pools.get(name) ?? { most: Number.NEGATIVE_INFINITY, count: 0 };
    if (free > most) this.#pools.set(name, { most: free, count: 0 });
    return free <= most && count >= FRUITLESS;
  }

  /** Something was removed to make room in a pool that was asked about before. */
  add({ name }: Pool): void {
    const known = this.#pools.get(name);
    if (known !== undefined) this.#pools.set(name, { ...known, count: known.count + 1 });
  }

  /** These pools are not short of space. */
  forget(pools: readonly Pool[]): void {
    for (const { name } of pools) this.#pools.delete(name);
  }
}
