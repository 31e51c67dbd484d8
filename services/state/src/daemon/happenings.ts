import type { Clock } from '@croft/runtime';
import type { Model } from '../model/model.ts';
import { changesBetween } from '../rules/contents/changes-between.ts';
import type { ExtraResultOf, Happening } from '../wire-extras.ts';

/** Something that happened, with its number and its time. */
type Event = Extract<ExtraResultOf<'Watch'>, { event: unknown }>['event'];

/** Tells watchers what happens, in its order and as it does. Nobody waits for them. */
export class Happenings {
  readonly #clock: Clock;
  readonly #watchers = new Set<(event: Event) => void>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(happening: Happening): void {
    const event = { id: ++this.#last, time: this.#clock.now().toISOString(), ...happening };
    for (const watcher of this.#watchers) watcher(event);
  }

  /** Tells what is not as it was; without watchers nobody looks for it. */
  tellChanges(before: Model, after: Model): void {
    if (this.#watchers.size === 0) return;
    for (const happening of changesBetween(before, after)) this.tell(happening);
  }

  /**
   * From now on a watcher is told everything; it does not throw and takes no time.
   * @returns the number of the last event before, and how to stop
   */
  watch(watcher: (event: Event) => void): { last: number; stop: () => void } {
    this.#watchers.add(watcher);
    return { last: this.#last, stop: () => void this.#watchers.delete(watcher) };
  }
}
