import { readFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { contentDamaged, storageChanged } from '../../../failures.ts';
import type { State } from '../../../model/model.ts';
import { writeWhole } from '../../write-durably.ts';
import { errorCode } from './files.ts';

/** The layout of a record; a newer daemon's vault is refused rather than misread. */
const VERSION = 3;

/**
 * So many are read without waiting: that takes a millisecond or two, and a tenth of the time that waiting for each would.
 */
const BATCH = 100;

/**
 * Writes the record of states that were saved together, which goes by the id of the first save: the completion mark. Until the
 * names in the folder are synced a power cut may undo that, as all that is done to records here.
 */
export async function writeRecord(folder: string, id: string, states: readonly State[]): Promise<void> {
  await writeWhole(fileOf(folder, id), folder, `${JSON.stringify({ version: VERSION, states })}\n`);
}

/** The states of a save; undefined when there is none. @throws FAILED_PRECONDITION when it cannot be read */
export function readRecord(folder: string, id: string): readonly State[] | undefined {
  const file = fileOf(folder, id);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const states = parse(text);
  if (states === undefined || states.some((state) => (state.system ?? state.id) !== id))
    throw contentDamaged(`the record ${file}`);
  return states;
}

/** Every record; one that cannot be read stops everything, because what it needs could be taken for garbage. */
export async function readRecords(folder: string): Promise<State[]> {
  const states: State[] = [];
  const files = (await readdir(folder)).filter((file) => file.endsWith('.json'));
  for (let at = 0; at < files.length; at += BATCH) {
    for (const file of files.slice(at, at + BATCH))
      states.push(...(readRecord(folder, file.slice(0, -'.json'.length)) ?? []));
    await setImmediate();
  }
  // The order within a save stays: the system state, then its users'.
  return states.sort((a, b) => (a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? 1 : -1));
}

/**
 * Replaces the record of states of one save as a whole; without states it goes.
 * @param change gives the states that the record is to have from those it has
 * @returns false when there is no such record
 * @throws ABORTED when the states are not those that are stored
 */
export async function changeRecord(
  folder: string,
  states: readonly State[],
  change: (stored: readonly State[]) => readonly State[],
): Promise<boolean> {
  const id = saveOf(states);
  const stored = readRecord(folder, id);
  if (stored === undefined) return false;
  for (const state of states) {
    const other = stored.find((one) => one.id === state.id);
    if (other !== undefined && guids(other) !== guids(state)) throw storageChanged(`state ${state.id}`);
  }
  const changed = change(stored);
  if (changed.length === 0) await removeRecord(folder, id);
  else await writeRecord(folder, id, changed);
  return true;
}

/** Writes down `pinned` and `description` of states of one save. @throws ABORTED when they are not what is stored */
export async function annotateRecord(folder: string, states: readonly State[]): Promise<void> {
  const found = await changeRecord(folder, states, (stored) =>
    stored.map((one) => {
      const { pinned, description } = states.find(({ id }) => id === one.id) ?? one;
      return { ...one, pinned, description };
    }),
  );
  if (!found) throw storageChanged(`state ${states[0]?.id}`);
}

/** The id of the save that states were made by. */
export function saveOf([first]: readonly State[]): string {
  return first?.system ?? first?.id ?? '';
}

function guids(state: State): string {
  return state.members.map(({ guid }) => guid).join();
}

/** Removes a record if there is one, or what was written of one: from here on its states are gone. */
export async function removeRecord(folder: string, id: string): Promise<void> {
  // In this order: what fails has not removed it.
  for (const end of ['.new', '']) await rm(fileOf(folder, id) + end, { force: true });
}

function fileOf(folder: string, id: string): string {
  return `${folder}/${id}.json`;
}

function parse(text: string): readonly State[] | undefined {
  try {
    const record = JSON.parse(text) as { version?: unknown; state?: State; states?: readonly State[] };
    const states =
      record.version === 1 && record.state !== undefined ? [ofVersion1(record.state)] : record.states;
    // The second had lists of files that were not compressed, which are read as ever.
    const isKnown = [1, 2, VERSION].includes(record.version as number);
    return isKnown && states?.every(({ members }) => Array.isArray(members)) ? states : undefined;
  } catch {
    return undefined;
  }
}

/** Version 1 had one system state a record, and less to say of it. */
function ofVersion1(state: State): State {
  return {
    ...state,
    kind: 'system',
    pinned: false,
    description: '',
    kernel: '',
    oneInstant: false,
  };
}
