import { readdir, readFile, rm } from 'node:fs/promises';
import { contentDamaged } from '../../../failures.ts';
import type { State } from '../../../model/model.ts';
import { syncFolder } from '../../sync-folder.ts';
import { errorCode, writeDurably } from './files.ts';

/** The layout of a record; a newer daemon's vault is refused rather than misread. */
const VERSION = 2;

/** Writes the record of states that were saved together, which goes by the id of the first save: the completion mark. */
export async function writeRecord(folder: string, id: string, states: readonly State[]): Promise<void> {
  await writeDurably(fileOf(folder, id), folder, `${JSON.stringify({ version: VERSION, states })}\n`);
}

/** The states of a save; undefined when there is none. */
export async function readRecord(folder: string, id: string): Promise<readonly State[] | undefined> {
  const file = fileOf(folder, id);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
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
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.json')) continue;
    states.push(...((await readRecord(folder, file.slice(0, -'.json'.length))) ?? []));
  }
  // The order within a save stays: the system state, then its users'.
  return states.sort((a, b) => (a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? 1 : -1));
}

/** Removes a record if there is one: from here on its states are gone. */
export async function removeRecord(folder: string, id: string): Promise<void> {
  await rm(fileOf(folder, id), { force: true });
  await syncFolder(folder);
}

function fileOf(folder: string, id: string): string {
  return `${folder}/${id}.json`;
}

function parse(text: string): readonly State[] | undefined {
  try {
    const record = JSON.parse(text) as { version?: unknown; state?: State; states?: readonly State[] };
    const states =
      record.version === 1 && record.state !== undefined ? [ofVersion1(record.state)] : record.states;
    const isKnown = record.version === 1 || record.version === VERSION;
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
