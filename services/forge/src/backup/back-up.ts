import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Log, makeFolder, StartError } from '@croft/runtime';
import type { Database, Tx } from '@croft/sql';
import { listRefs, type RefValue, readHead, shareObjects, writePackedRefs } from '../outside/git/copy.ts';
import type { Git } from '../outside/git/git.ts';
import { checkCopy } from '../outside/git/upkeep.ts';
import { unlessMissing } from '../outside/unless-missing.ts';
import * as catalogue from '../store/upkeep/catalogue.ts';
import * as examination from '../store/upkeep/examination.ts';
import { copyAttachments } from './copy-attachments.ts';
import { type Manifest, writeManifest } from './manifest.ts';
import { saveTable } from './tables.ts';

/** What a backup reads. */
export interface BackupSource {
  database: Database;
  git: Git;
  attachments: string;
  version: string;
  log: Log;
}

/** Refs that belong to a repository; others are work that is not done. */
const KEPT_REFS = ['refs/heads', 'refs/tags', 'refs/notes', 'refs/pull'];
/** Objects may be packed anew while they are copied; a copy that is not whole is made again. */
const TRIES = 3;

/**
 * Copies the database and the repositories into a new folder, as one set, while everybody goes on working: the rows as
 * of one moment, and then the repositories, which have everything the rows speak of. Refs that moved in between are
 * noted, and the first start on the restored set takes them over as it does with pushes that a crash interrupted.
 * @throws StartError when the folder is not empty, or when files are missing that the rows speak of
 */
export async function backUp(source: BackupSource, into: string): Promise<Manifest> {
  const folder = resolve(into);
  try {
    await takeEmptyFolder(folder);
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, folder, FAULTS_OF_PATHS);
  }
  try {
    return await copyInto(source, folder);
  } catch (error) {
    // The next try is to find it as this one did.
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
    throw explain(error as NodeJS.ErrnoException, folder);
  }
}

/** What a disk says, in words that say what to do. */
function explain(
  error: NodeJS.ErrnoException,
  folder: string,
  faults: Readonly<Record<string, string>> = FAULTS_OF_WRITING,
): Error {
  const why = faults[error.code ?? ''];
  if (why === undefined) return error;
  return new StartError(`${folder} cannot take the backup: ${why}. Name another folder.`, { cause: error });
}

/** What is read gives none of these. */
const FAULTS_OF_WRITING: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'the quota of its disk is used up',
  EROFS: 'its disk takes no writes',
};
const FAULTS_OF_PATHS: Readonly<Record<string, string>> = {
  ...FAULTS_OF_WRITING,
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOTDIR: 'a part of its path is no folder',
  // Only below /proc and the like: what is above it was made.
  ENOENT: 'no folder can be made there',
};

async function copyInto(source: BackupSource, folder: string): Promise<Manifest> {
  const { database, git } = source;
  const before = await refsOfAll(source);
  const rows = await saveRows(source, join(folder, 'tables'));
  const ready = rows.repositories.filter(({ state }) => state === 'ready');
  const repositories: Manifest['repositories'] = [];
  const gone: number[] = [];
  await mkdir(join(folder, 'repositories'), { mode: 0o700 });
  for (const { id } of ready) {
    const copied = await copyRepository(
      source,
      id,
      join(folder, 'repositories', `${id}.git`),
      before.get(id) ?? [],
    );
    if (copied !== undefined) repositories.push(copied);
    else if (await isThere(database, id))
      throw new Error(`the folder of repository ${id} is missing in ${git.folder}`);
    else gone.push(id);
  }
  const manifest: Manifest = {
    format: 1,
    made_at: database.autocommit().now.toISOString(),
    version: source.version,
    migrations: rows.migrations,
    tables: rows.tables,
    sequences: rows.sequences,
    repositories,
    gone,
    attachments: await copyAttachments(source, folder),
  };
  await writeManifest(folder, manifest);
  return manifest;
}

async function takeEmptyFolder(folder: string): Promise<void> {
  makeFolder(folder);
  if ((await readdir(folder)).length > 0)
    throw new StartError(`${folder} is not empty. Name a new folder for each backup.`);
}

async function saveRows({ database }: BackupSource, folder: string) {
  await mkdir(folder, { mode: 0o700 });
  const { schema } = database;
  const save = async (tx: Tx) => {
    await catalogue.freeze(tx);
    const tables: Manifest['tables'] = [];
    for (const table of await catalogue.listTables(tx, schema))
      tables.push(await saveTable(tx, schema, table, folder));
    return {
      tables,
      migrations: await catalogue.listMigrations(tx),
      sequences: await catalogue.listSequences(tx, schema),
      repositories: await examination.listRepositories(tx),
    };
  };
  return await database.transaction(save, { unlimited: true });
}

async function refsOfAll({ database, git }: BackupSource): Promise<Map<number, RefValue[]>> {
  const refs = new Map<number, RefValue[]>();
  for (const { id, state } of await examination.listRepositories(database.autocommit())) {
    if (state !== 'ready') continue;
    try {
      refs.set(id, await listRefs(git, id, KEPT_REFS));
    } catch (error) {
      // Without them every ref would count as one that moved.
      if ((await hasFolder(git, id)) && (await isThere(database, id))) throw error;
    }
  }
  return refs;
}

/** Undefined when the repository was removed meanwhile. */
async function copyRepository(
  { git, log }: BackupSource,
  id: number,
  to: string,
  before: readonly RefValue[],
): Promise<Manifest['repositories'][number] | undefined> {
  const from = git.folderOf(id);
  for (let tries = 1; ; tries++) {
    try {
      const refs = await listRefs(git, id, KEPT_REFS);
      const head = await readHead(git, id);
      await mkdir(join(to, 'refs'), { recursive: true, mode: 0o700 });
      await mkdir(join(to, 'objects'));
      await copyFile(join(from, 'config'), join(to, 'config'));
      await writeFile(join(to, 'HEAD'), `ref: ${head}\n`, { flush: true });
      await shareObjects(join(from, 'objects'), join(to, 'objects'), 'copy');
      await writePackedRefs(to, refs);
      const problems = await checkCopy(git, to);
      if (problems.length === 0) return { id, head, refs: refs.length, moved: movesBetween(before, refs) };
      if (tries === TRIES) {
        throw new StartError(
          `Repository ${id} could not be copied whole (${problems[0]}). Let croft forge doctor look at it.`,
        );
      }
      log.warn(
        { repository: id, problem: problems[0] },
        'a copy of a repository was not whole; it is made again',
      );
      await rm(to, { recursive: true, force: true });
    } catch (error) {
      if (error instanceof StartError) throw error;
      await rm(to, { recursive: true, force: true });
      if (!(await hasFolder(git, id))) return undefined;
      if (tries === TRIES) throw error;
    }
  }
}

const NOTHING = '0'.repeat(40);

function hasFolder(git: Git, id: number): Promise<boolean> {
  return readdir(git.folderOf(id)).then(() => true, unlessMissing(false));
}

/** The row of a repository that is gone, or going, says so. */
async function isThere(database: Database, id: number): Promise<boolean> {
  const rows = await examination.listRepositories(database.autocommit());
  return rows.some((row) => row.id === id && row.state === 'ready');
}

function movesBetween(
  before: readonly RefValue[],
  after: readonly RefValue[],
): { ref: string; before: string; after: string }[] {
  const was = new Map(before.map(({ ref, id }) => [ref, id]));
  const is = new Map(after.map(({ ref, id }) => [ref, id]));
  // Refs of pull requests are our own: their rows say whether they are to be written.
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((ref) => was.get(ref) !== is.get(ref) && !ref.startsWith('refs/pull/'))
    .map((ref) => ({ ref, before: was.get(ref) ?? NOTHING, after: is.get(ref) ?? NOTHING }));
}
