import { readdir, readFile, rm } from 'node:fs/promises';
import { contentDamaged } from '../../../failures.ts';
import type { State } from '../../../model/model.ts';
import { errorCode, syncFolder, writeDurably } from './files.ts';

/** The layout of a record; a newer daemon's vault is refused rather than misread. */
const VERSION = 1;

/** Writes a state's record: the completion mark. */
export async function writeRecord(folder: string, state: State): Promise<void> {
  await writeDurably(fileOf(folder, state.id), folder, `${JSON.stringify({ version: VERSION, state })}\n`);
}

/** The record of a state; undefined when there is none. */
export async function readRecord(folder: string, id: string): Promise<State | undefined> {
  const file = fileOf(folder, id);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  const state = parse(text);
  if (state?.id !== id) throw contentDamaged(`the record ${file}`);
  return state;
}

/** Every record; one that cannot be read stops everything, because what it needs could be taken for garbage. */
export async function readRecords(folder: string): Promise<State[]> {
  const states: State[] = [];
  for (const file of await readdir(folder)) {
    if (!file.endsWith('.json')) continue;
    const state = await readRecord(folder, file.slice(0, -'.json'.length));
    if (state !== undefined) states.push(state);
  }
  return states.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/** Removes a record if there is one: from here on the state is gone. */
export async function removeRecord(folder: string, id: string): Promise<void> {
  await rm(fileOf(folder, id), { force: true });
  await syncFolder(folder);
}

function fileOf(folder: string, id: string): string {
  return `${folder}/${id}.json`;
}

function parse(text: string): State | undefined {
  try {
    const record = JSON.parse(text) as { version?: unknown; state?: State };
    return record.version === VERSION && Array.isArray(record.state?.members) ? record.state : undefined;
  } catch {
    return undefined;
  }
}
