import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { contentDamaged } from '../../../failures.ts';
import type { Member, State } from '../../../model/model.ts';
import { exportedText } from '../../../rules/contents/exported-states.ts';
import type { Received, ReceiveRequest, SendRequest, Transfer } from '../storage.ts';
import { StatesReceiver } from '../transfer/receive-states.ts';
import { openPath, type SentTree, sendStates } from '../transfer/send-states.ts';
import { paddingOf, tarHeader } from '../transfer/tar.ts';
import type { Objects } from './content/objects.ts';
import { placeStaged } from './content/staging.ts';
import { errorCode } from './files.ts';
import { manifestBytes, readManifest } from './trees/manifest.ts';

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
  readonly #busy = new Set<string>();

  constructor(vault: Lent) {
    this.#vault = vault;
  }

  /** Whether an import comes in, so that nothing of it is a leftover. */
  isBusy(id: string): boolean {
    return this.#busy.has(id);
  }

  async *send(states: readonly State[], { signal }: SendRequest): AsyncGenerator<Uint8Array> {
    const { objects } = this.#vault;
    const lists = new Map<string, SentTree>();
    for (const { snapshot } of states.flatMap(({ members }) => members))
      if (!lists.has(snapshot)) lists.set(snapshot, await sentTree(objects, snapshot, signal));
    // A list goes as text, and by the hash of that.
    const named = states.map((state) => ({
      ...state,
      members: state.members.map((member) => ({
        ...member,
        snapshot: lists.get(member.snapshot)?.list ?? member.snapshot,
      })),
    }));
    yield* sendStates(exportedText('vault', named), [...lists.values()], signal);
  }

  async receive(request: ReceiveRequest): Promise<Received> {
    const { objects, stagingOf, explain } = this.#vault;
    this.#busy.add(request.id);
    const receiver = new StatesReceiver(objects, stagingOf(request.id), request);
    const received = await receiver.run().catch((error) => {
      throw explain(error);
    });
    this.#received.set(
      request.id,
      received.states.flatMap(({ members }) => members),
    );
    return received;
  }

  async place(id: string): Promise<void> {
    const { objects, stagingOf, alone, keep } = this.#vault;
    await alone('import', async () => {
      await placeStaged(objects, stagingOf(id));
      keep(id, this.#received.get(id) ?? []);
    });
    this.#received.delete(id);
  }

  /** It is complete, or nothing comes of it. */
  forget(id: string): void {
    this.#busy.delete(id);
    this.#received.delete(id);
  }
}

/** A list is read twice, because its hash and its length come before it. */
async function sentTree(objects: Objects, stored: string, signal: AbortSignal): Promise<SentTree> {
  const path = objects.pathOf(stored);
  const check = createHash('sha256');
  let size = 0;
  try {
    await checkStored(path, stored, signal);
    for await (const bytes of manifestBytes(path)) {
      signal.throwIfAborted();
      check.update(bytes);
      size += bytes.length;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw errorCode(error) === 'ENOENT' ? contentDamaged(`the list of files ${stored}`) : error;
  }
  const list = check.digest('hex');
  return {
    list,
    async *listFile() {
      yield tarHeader(`manifests/${list}`, size);
      for await (const bytes of manifestBytes(path)) {
        signal.throwIfAborted();
        yield bytes;
      }
      yield Buffer.alloc(paddingOf(size));
    },
    entries: () => readManifest(path),
    open: ({ hash = '' }) => openPath(objects.pathOf(hash)),
  };
}

async function checkStored(path: string, stored: string, signal: AbortSignal): Promise<void> {
  const check = createHash('sha256');
  for await (const bytes of createReadStream(path)) {
    signal.throwIfAborted();
    check.update(bytes as Buffer);
  }
  if (check.digest('hex') !== stored) throw contentDamaged(`the list of files ${stored}`);
}
