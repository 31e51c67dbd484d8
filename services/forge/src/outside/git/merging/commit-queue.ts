interface Entry<T> {
  date: number;
  /** Which one it is of those that were put. */
  turn: number;
  value: T;
}

/** Commits in the order in which a walk takes them: the newest first, of equal dates the one that came first. */
export class CommitQueue<T> {
  /** A heap: each entry comes before those at twice its place and one and two more. */
  readonly #heap: Entry<T>[] = [];
  #turns = 0;

  put(date: number, value: T): void {
    const heap = this.#heap;
    const entry = { date, turn: this.#turns++, value };
    let place = heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Entry<T>;
      if (!comesBefore(entry, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = entry;
  }

  take(): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first !== undefined && last !== undefined && heap.length > 0) this.#sink(last);
    return first?.value;
  }

  #sink(entry: Entry<T>): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right !== undefined && comesBefore(right, heap[child] as Entry<T>)) child++;
      const below = heap[child] as Entry<T>;
      if (!comesBefore(below, entry)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = entry;
  }
}

const comesBefore = (a: Entry<unknown>, b: Entry<unknown>) =>
  a.date > b.date || (a.date === b.date && a.turn < b.turn);
