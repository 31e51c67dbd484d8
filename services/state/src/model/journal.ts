import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Stamped } from '../outside/storage/storage.ts';
import { writeDurably } from '../outside/write-durably.ts';
import { diskFailure } from '../rules/machines/disk-failure.ts';
import { addIntent, type Intent } from '../rules/states/reconcile.ts';
import type { Remembered, State } from './model.ts';

/** One line of the journal: a write is begun, ends well, or is undone. */
type JournalEntry =
  | { readonly event: 'begun'; readonly intent: Intent }
  | { readonly event: 'saved'; readonly id: string; readonly states: readonly State[] }
  | { readonly event: 'annotated'; readonly states: readonly State[] }
  | { readonly event: 'removed'; readonly id: string; readonly ids: readonly string[] }
  | { readonly event: 'undone'; readonly id: string };

/** The layout of checkpoint and journal. An older one is forgotten, which costs messages: the storage is the truth. */
const VERSION = 2;

/** What the journal and its checkpoint remember. */
interface Memory {
  readonly states: readonly Remembered[];
  readonly intents: readonly Intent[];
  /** It is all in the checkpoint, and nothing was under way. */
  readonly isSettled: boolean;
  /** Something was removed since the checkpoint, or was being removed. */
  readonly hasRemovals: boolean;
  /** All that the storage says of its states while it has this stamp; only when nothing happened after that. */
  readonly whole?: Stamped;
}

/**
 * What ended well the storage says for good, so nobody waits for its line: after a power cut that took it, the intent finds the
 * state complete, or nothing left of it.
 */
const SAID_BY_STORAGE = new Set<JournalEntry['event']>(['saved', 'removed']);

/** States and open intents at the time of the last checkpoint, and everything since, one line each. */
export class Journal {
  readonly #file: FileHandle;
  readonly #checkpoint: string;
  #length: number;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, checkpoint: string, length: number) {
    this.#file = file;
    this.#checkpoint = checkpoint;
    this.#length = length;
  }

  /** Opens the journal in a folder and reads what it remembers. */
  static async open(folder: string): Promise<{ journal: Journal; remembered: Memory }> {
    const checkpoint = join(folder, 'checkpoint.json');
    const file = await open(join(folder, 'journal.jsonl'), 'a+', 0o600);
    await using opened = new AsyncDisposableStack();
    opened.defer(() => file.close());
    const bytes = await file.readFile();
    // A crash may have cut the last line, and the next one would be glued to it.
    const length = bytes.lastIndexOf('\n') + 1;
    if (length < bytes.length) await file.truncate(length);
    const lines = bytes.toString('utf8', 0, length).split('\n');
    const remembered = replay(await readCheckpoint(checkpoint), lines);
    opened.move();
    return { journal: new Journal(file, checkpoint, length), remembered };
  }

  /** Adds a line; when this returns, no crash of ours loses it, and no power cut one that the storage does not say as well. */
  append(entry: JournalEntry): Promise<void> {
    return this.#inOrder(async () => {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        await this.#file.appendFile(line);
        if (!SAID_BY_STORAGE.has(entry.event)) await this.#file.datasync();
        this.#length += line.length;
      } catch (error) {
        // A full disk leaves half a line, and the next one would be glued to it.
        await this.#file.truncate(this.#length).catch(() => {});
        throw diskFailure(error, `the disk of ${this.#checkpoint}`);
      }
    });
  }

  /**
   * Replaces checkpoint and journal by the states of now and what was begun and has not ended.
   * @param stamp of the storage that has these states: as long as it has it, nobody reads them there
   */
  writeCheckpoint(states: readonly State[], intents: readonly Intent[], stamp?: string): Promise<void> {
    return this.#inOrder(async () => {
      const whole = stamp === undefined ? { states: states.map(rememberedOf) } : { stamp, states };
      const content = JSON.stringify({ version: VERSION, intents, ...whole });
      // Its name, too, before the journal goes: else a power cut may leave the old one and nothing after it.
      await writeDurably(this.#checkpoint, dirname(this.#checkpoint), content);
      await this.#file.truncate(0);
      await this.#file.datasync();
      this.#length = 0;
    });
  }

  async close(): Promise<void> {
    await this.#last.catch(() => {});
    await this.#file.close();
  }

  #inOrder(work: () => Promise<void>): Promise<void> {
    const done = this.#last.catch(() => {}).then(work);
    this.#last = done;
    return done;
  }
}

/** Of thousands of states it is read at every start, and the storage is asked for the rest anyway. */
function rememberedOf({ id, system, machine, user, name, members }: State): Remembered {
  return {
    id,
    ...(system === undefined ? {} : { system }),
    machine,
    ...(user === undefined ? {} : { user }),
    name,
    members: members.map(({ unreadable, torn }) => ({ unreadable, torn })),
  };
}

/** What a checkpoint and the lines after it add up to; a line that is not whole was never acknowledged. */
function replay(checkpoint: Checkpoint, lines: readonly string[]): Memory {
  const states = new Map(checkpoint.states.map((state) => [state.id, state]));
  const intents = new Map(checkpoint.intents.map((intent) => [intent.id, intent]));
  let hasRemovals = checkpoint.intents.some((intent) => intent.do === 'remove');
  for (const line of lines) {
    const entry = parse(line);
    if (entry === undefined) continue;
    if (entry.event === 'begun') {
      addIntent(intents, entry.intent);
      hasRemovals ||= entry.intent.do === 'remove';
      continue;
    }
    if (entry.event === 'annotated') {
      for (const state of entry.states) if (states.has(state.id)) states.set(state.id, state);
      continue;
    }
    intents.delete(entry.id);
    // An older daemon wrote neither.
    if (entry.event === 'saved') for (const state of entry.states ?? []) states.set(state.id, state);
    if (entry.event === 'removed') for (const id of entry.ids ?? []) states.delete(id);
  }
  const { stamp } = checkpoint;
  const isSettled = intents.size === 0 && lines.join('') === '';
  return {
    states: [...states.values()],
    intents: [...intents.values()],
    isSettled,
    hasRemovals,
    // With a stamp they were written as they are.
    ...(stamp !== undefined &&
      isSettled && { whole: { stamp, states: checkpoint.states as readonly State[] } }),
  };
}

function parse(line: string): JournalEntry | undefined {
  try {
    return JSON.parse(line) as JournalEntry;
  } catch {
    return undefined;
  }
}

interface Checkpoint {
  readonly states: readonly Remembered[];
  readonly intents: readonly Intent[];
  readonly stamp?: string | undefined;
}

/** A damaged checkpoint costs messages about what was found, and removals that stopped: the storage is the truth. */
async function readCheckpoint(path: string): Promise<Checkpoint> {
  try {
    const { version, states, intents, stamp } = JSON.parse(await readFile(path, 'utf8')) as {
      version: number;
      states: Remembered[];
      intents?: Intent[];
      stamp?: string;
    };
    // An older daemon wrote neither intents nor a stamp.
    if (version === VERSION) return { states, intents: intents ?? [], stamp };
  } catch {}
  return { states: [], intents: [] };
}
