import type { RefMove } from '../store/repositories/pushes.ts';

/** What this process knows of the rows of `pushes`: which are under way, and what was done by those that were not recorded. */
export class UnrecordedPushes {
  readonly #underWay = new Set<number>();
  readonly #moves = new Map<number, readonly RefMove[]>();

  begin(id: number): void {
    this.#underWay.add(id);
  }

  /** It is over, and its row is gone. */
  end(id: number): void {
    this.#underWay.delete(id);
    this.#moves.delete(id);
  }

  /**
   * It is over, and its row is to be taken up again.
   * @param moves what was done, where that is known: the refs may say otherwise by then
   */
  leave(id: number, moves: readonly RefMove[] | undefined): void {
    this.#underWay.delete(id);
    if (moves !== undefined) this.#moves.set(id, moves);
  }

  isUnderWay(id: number): boolean {
    return this.#underWay.has(id);
  }

  movesOf(id: number): readonly RefMove[] | undefined {
    return this.#moves.get(id);
  }
}
