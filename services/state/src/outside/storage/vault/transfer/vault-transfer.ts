import type { Member, State } from '../../../../model/model.ts';
import type { ReceiveRequest, Transfer } from '../../storage.ts';
import type { Objects } from '../content/objects.ts';
import { placeStaged } from '../content/staging.ts';
import { StatesReceiver } from './receive-states.ts';
import { sendStates } from './send-states.ts';

/** What the vault lends to whoever brings states in. */
interface Lent {
  readonly objects: Objects;
  /** Where what belongs to a save lies until it is in its place. */
  readonly stagingOf: (id: string) => string;
  /** Does something while no content is added or collected. */
  readonly alone: (label: string, work: () => Promise<void>) => Promise<void>;
  /** From now on the content of members is not garbage. */
  readonly keep: (id: string, members: readonly Member[]) => void;
  /** An error as callers understand it. */
  readonly explain: (error: unknown) => unknown;
}

/** States as archives. While one comes in it is in nobody's way, however long its sender takes. */
export class VaultTransfer implements Transfer {
  readonly #vault: Lent;
  readonly #received = new Map<string, readonly Member[]>();

  constructor(vault: Lent) {
    this.#vault = vault;
  }

  send(states: readonly State[], signal: AbortSignal): AsyncIterable<Uint8Array> {
    return sendStates(this.#vault.objects, states, signal);
  }

  async receive(request: ReceiveRequest): Promise<readonly State[]> {
    const { objects, stagingOf, explain } = this.#vault;
    const receiver = new StatesReceiver(objects, stagingOf(request.id), request);
    const states = await receiver.run().catch((error) => {
      throw explain(error);
    });
    this.#received.set(
      request.id,
      states.flatMap(({ members }) => members),
    );
    return states;
  }

  async place(id: string): Promise<void> {
    const { objects, stagingOf, alone, keep } = this.#vault;
    await alone('import', async () => {
      await placeStaged(objects, stagingOf(id));
      keep(id, this.#received.get(id) ?? []);
    });
    this.#received.delete(id);
  }

  /** Nothing comes of it. */
  forget(id: string): void {
    this.#received.delete(id);
  }
}
