import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Log, StartError } from '@croft/runtime';
import type { Database } from '@croft/sql';
import { unlessMissing } from '../outside/unless-missing.ts';
import { decidePair } from '../rules/repositories/data-folder.ts';
import * as marks from '../store/upkeep/data-folder.ts';

/**
 * Makes sure that the schema's repositories are those in the data folder: the lock of the folder keeps a second forge out of
 * it, not one with another folder out of the schema. Both have the same id, made by the first start.
 * @throws StartError when they do not belong together
 */
export async function pairDataFolder(database: Database, dataFolder: string): Promise<void> {
  const { decision, inFolder } = await look(database, dataFolder);
  if (decision !== 'adopt') return;
  const id = inFolder ?? randomUUID();
  if (inFolder === undefined) await writeId(dataFolder, id);
  const { schema } = database;
  const kept = await database.transaction((tx) => marks.insertId(tx, schema, id));
  if (kept === id) return;
  // Another forge was quicker.
  if (inFolder === undefined) await rm(fileIn(dataFolder));
  throw new StartError(otherFolder(schema, dataFolder, kept));
}

/**
 * New repositories get numbers beyond those of all folders. A database that was put back to an older state would give them again,
 * and take what is in the folders for what a crash left of the new ones.
 */
export async function skipTakenNumbers(database: Database, dataFolder: string, log: Log): Promise<void> {
  const last = (await listNumbers(dataFolder)).reduce((most, number) => Math.max(most, number), 0);
  if (last <= (await marks.lastNumber(database.autocommit()))) return;
  await database.transaction((tx) => marks.skipNumbers(tx, last));
  log.warn(
    { last },
    'there are folders of repositories that the database has not numbered yet, so it is older than the data folder. New ones come after them. Run croft forge doctor',
  );
}

/**
 * Makes sure of the pair for tasks beside a forge, which write nothing.
 * @throws StartError when they do not belong together
 */
export async function checkDataFolder(database: Database, dataFolder: string): Promise<void> {
  await look(database, dataFolder);
}

async function look(database: Database, dataFolder: string) {
  const { schema } = database;
  const tx = database.autocommit();
  const inSchema = await marks.findId(tx, schema);
  const inFolder = await readId(dataFolder);
  const decision = decidePair({
    inSchema,
    inFolder,
    hasRows: await marks.hasRepositories(tx),
    hasFolders: await hasRepositories(dataFolder),
  });
  if (decision === 'other folder') throw new StartError(otherFolder(schema, dataFolder, inSchema));
  if (decision === 'other schema') throw new StartError(otherSchema(schema, dataFolder));
  return { decision, inFolder };
}

const fileIn = (dataFolder: string) => join(dataFolder, 'forge-id');

const otherFolder = (schema: string, dataFolder: string, id: string = randomUUID()) =>
  `The repositories of the schema "${schema}" are not in the data folder ${dataFolder}, but in another. Set CROFT_DATA to that one, or FORGE_DB_SCHEMA to a schema of this folder's own. If they shall be looked for in this one from now on, write ${id} into ${fileIn(dataFolder)}.`;

const otherSchema = (schema: string, dataFolder: string) =>
  `The repositories in the data folder ${dataFolder} belong to another schema than "${schema}", which has none. Set DATABASE_URL and FORGE_DB_SCHEMA to theirs (no DATABASE_URL, if they are in the embedded database), or CROFT_DATA to another folder. If nobody needs them any more, move ${join(dataFolder, 'repositories')} away.`;

async function readId(dataFolder: string): Promise<string | undefined> {
  const text = await readFile(fileIn(dataFolder), 'utf8').catch(unlessMissing(''));
  // A crash of the machine may leave the file without its content.
  return text.trim() === '' ? undefined : text.trim();
}

async function writeId(dataFolder: string, id: string): Promise<void> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  await writeFile(fileIn(dataFolder), `${id}\n`, { mode: 0o600, flush: true });
}

async function hasRepositories(dataFolder: string): Promise<boolean> {
  return (await listNumbers(dataFolder)).length > 0;
}

/** Numbers of the repositories that have a folder. */
async function listNumbers(dataFolder: string): Promise<number[]> {
  const names = await readdir(join(dataFolder, 'repositories')).catch(unlessMissing<string[]>([]));
  return names.flatMap((name) => /^(\d{1,15})\.git$/.exec(name)?.[1] ?? []).map(Number);
}
