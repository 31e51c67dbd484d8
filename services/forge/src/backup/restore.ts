import { copyFile, cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StartError } from '@croft/runtime';
import { type Database, migrate, type Tx } from '@croft/sql';
import type { Git } from '../outside/git/git.ts';
import { checkCopy } from '../outside/git/upkeep.ts';
import * as catalogue from '../store/upkeep/catalogue.ts';
import * as restoration from '../store/upkeep/restoration.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { loadTable } from './tables.ts';

/** Where a backup goes. */
export interface RestoreTarget {
  database: Database;
  git: Git;
  attachments: string;
  /** The forge's own. */
  migrations: URL;
}

/**
 * Brings a backup back, into a database schema and a data folder that hold nothing of a forge. The rows come last and
 * in one transaction: a restore that fails leaves nothing.
 * @throws StartError when there is something already, or the backup is of a later version or not whole
 */
export async function restore(target: RestoreTarget, from: string): Promise<Manifest> {
  const { database, git, attachments } = target;
  const folder = resolve(from);
  const manifest = await readManifest(folder);
  await checkEmpty(target);
  await using undo = new AsyncDisposableStack();
  undo.defer(async () => {
    for (const { id } of manifest.repositories) await rm(git.folderOf(id), { recursive: true, force: true });
    await rm(attachments, { recursive: true, force: true });
    await restoration.dropSchema(database.autocommit());
  });
  await applyMigrations(target, manifest);
  for (const { id } of manifest.repositories) {
    const to = git.folderOf(id);
    await cp(join(folder, 'repositories', `${id}.git`), to, {
      recursive: true,
      errorOnExist: true,
      force: false,
    }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'ENOENT'
        ? new StartError(`The backup is damaged: repositories/${id}.git is missing. Use another one.`)
        : error;
    });
    const [problem] = await checkCopy(git, to);
    if (problem !== undefined)
      throw new StartError(`Repository ${id} is not whole in the backup: ${problem}`);
  }
  await mkdir(attachments, { recursive: true, mode: 0o700 });
  await cp(join(folder, 'attachments'), attachments, { recursive: true });
  await loadRows(database, manifest, join(folder, 'tables'));
  await migrate(database, target.migrations);
  undo.move();
  return manifest;
}

async function checkEmpty({ database, git, attachments }: RestoreTarget): Promise<void> {
  if (!(await catalogue.isEmpty(database.autocommit(), database.schema))) {
    throw new StartError(
      `The schema "${database.schema}" of the database holds something already. Restore into an empty one.`,
    );
  }
  for (const folder of [git.folder, attachments]) {
    if ((await readdir(folder).catch(() => [])).length > 0)
      throw new StartError(`${folder} holds something already. Restore into an empty data folder.`);
  }
}

/** Exactly those the backup was made with; later ones change its rows once they are there. */
async function applyMigrations({ database, migrations }: RestoreTarget, manifest: Manifest): Promise<void> {
  const own = await readdir(migrations);
  const folder = await mkdtemp(join(tmpdir(), 'croft-restore-'));
  try {
    // An empty folder has those that every service has.
    await migrate(database, pathToFileURL(`${folder}/`));
    const shared = await catalogue.listMigrations(database.autocommit());
    checkKnown(
      manifest,
      ({ name }) => own.includes(`${name}.sql`) || shared.some((one) => one.name === name),
    );
    for (const name of own.filter((one) => manifest.migrations.some((known) => one === `${known.name}.sql`)))
      await copyFile(new URL(name, migrations), join(folder, name));
    await migrate(database, pathToFileURL(`${folder}/`));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const applied = await catalogue.listMigrations(database.autocommit());
  checkKnown(manifest, ({ name, checksum }) =>
    applied.some((one) => one.name === name && one.checksum === checksum),
  );
}

function checkKnown(
  { version, migrations }: Manifest,
  isKnown: (migration: Manifest['migrations'][number]) => boolean,
): void {
  const unknown = migrations.find((migration) => !isKnown(migration));
  if (unknown === undefined) return;
  throw new StartError(
    `The backup is of another version of Croft (${version}): this one does not have its migration ${unknown.name}. Restore it with that version.`,
  );
}

async function loadRows(database: Database, manifest: Manifest, folder: string): Promise<void> {
  const { schema } = database;
  const load = async (tx: Tx): Promise<void> => {
    const keys = await catalogue.lift(tx, schema);
    for (const table of manifest.tables) await loadTable(tx, schema, table, folder);
    await catalogue.putBack(tx, schema, keys);
    for (const { name, value } of manifest.sequences) await catalogue.advance(tx, schema, name, value);
    for (const id of manifest.gone) await restoration.markGone(tx, id);
    for (const { id, moved } of manifest.repositories) {
      if (moved.length > 0) await restoration.announceMoves(tx, id, moved);
    }
  };
  await database.transaction(load, { unlimited: true });
}
