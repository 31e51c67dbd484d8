/**
 * Tells the worker of the merge queues that something about a repository changed: a branch moved, a check spoke, somebody
 * joined or left. Ringing is free where nothing is queued; what nobody heard is found by the worker's next round.
 */
export class QueueBell {
  #listener: (repositoryId: number) => void = () => {};

  /** There is one worker. */
  listen(listener: (repositoryId: number) => void): void {
    this.#listener = listener;
  }

  ring(repositoryId: number): void {
    this.#listener(repositoryId);
  }
}
