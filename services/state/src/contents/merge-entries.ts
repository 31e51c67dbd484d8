import { contentDamaged } from '../failures.ts';
import type { Entry } from '../model/entry.ts';
import { comparePaths } from '../model/path-order.ts';
import { isClosed } from '../rules/contents/compare-entries.ts';

/** What two trees have at one path: at least one of them has something. */
interface Pair {
  readonly path: string;
  readonly one: Entry | undefined;
  readonly other: Entry | undefined;
}

/**
 * Reads two trees side by side, in the memory of one batch of each. What is in a folder that only one of them knows is left out:
 * it is neither added nor removed.
 * @throws FAILED_PRECONDITION when a tree is not in order
 */
export async function* mergeEntries(
  ones: AsyncIterable<readonly Entry[]>,
  others: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<Pair> {
  await using left = new Cursor(ones);
  await using right = new Cursor(others);
  let closed: string | undefined;
  for (;;) {
    const [a, b] = [await left.peek(), await right.peek()];
    if (a === undefined && b === undefined) return;
    const order = a === undefined ? 1 : b === undefined ? -1 : comparePaths(a.path, b.path);
    const one = order <= 0 ? a : undefined;
    const other = order >= 0 ? b : undefined;
    if (one !== undefined) left.next();
    if (other !== undefined) right.next();
    const path = (one ?? (other as Entry)).path;
    if (closed !== undefined && path.startsWith(closed)) continue;
    const isFolderOfBoth = one?.type === 'folder' && other?.type === 'folder';
    closed =
      isFolderOfBoth && (isClosed(one) || isClosed(other)) ? (path === '.' ? '' : `${path}/`) : undefined;
    yield { path, one, other };
  }
}

/** One tree, entry by entry. */
class Cursor implements AsyncDisposable {
  readonly #batches: AsyncIterator<readonly Entry[]>;
  #batch: readonly Entry[] = [];
  #at = 0;
  #last: string | undefined;

  constructor(batches: AsyncIterable<readonly Entry[]>) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  async peek(): Promise<Entry | undefined> {
    while (this.#at >= this.#batch.length) {
      const { done, value } = await this.#batches.next();
      if (done === true) return undefined;
      [this.#batch, this.#at] = [value, 0];
    }
    return this.#batch[this.#at];
  }

  next(): void {
    const { path } = this.#batch[this.#at++] as Entry;
    if (this.#last !== undefined && comparePaths(this.#last, path) >= 0)
      throw contentDamaged(`the order of ${path}`);
    this.#last = path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#batches.return?.();
  }
}
