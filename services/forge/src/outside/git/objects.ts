import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import { assertOutsideTransaction } from '@croft/runtime';
import type { Git } from './git.ts';
import { sync } from './repository.ts';

const compress = promisify(deflate);

/** Who did something, as a commit says it. */
export interface Signature {
  name: string;
  email: string;
  at: Date;
}

/** An object that is not written yet; its id is known all the same. */
export interface GitObject {
  id: string;
  /** Header and content, as git hashes them. */
  bytes: Buffer;
}

/** A commit of the given tree. */
export function commitObject(commit: {
  tree: string;
  parents: readonly string[];
  author: Signature;
  committer: Signature;
  message: string;
}): GitObject {
  const lines = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${signatureLine(commit.author)}`,
    `committer ${signatureLine(commit.committer)}`,
    '',
    `${commit.message.replaceAll('\0', '').trimEnd()}\n`,
  ];
  return gitObject('commit', Buffer.from(lines.join('\n')));
}

/** A commit with a signature of everything else in it, as the last of its headers. */
export function signedCommit(commit: GitObject, sign: (content: Buffer) => string): GitObject {
  const content = commit.bytes.subarray(commit.bytes.indexOf(0) + 1);
  const end = content.indexOf('\n\n') + 1;
  const header = `gpgsig ${sign(content).replaceAll('\n', '\n ')}\n`;
  return gitObject(
    'commit',
    Buffer.concat([content.subarray(0, end), Buffer.from(header), content.subarray(end)]),
  );
}

/** A file's content. */
export const blobObject = (content: string | Buffer): GitObject =>
  gitObject('blob', typeof content === 'string' ? Buffer.from(content) : content);

/** A tree of ordinary files: their names and blobs. */
export const treeObject = (...files: readonly (readonly [name: string, blobId: string])[]): GitObject =>
  gitObject(
    'tree',
    Buffer.concat(
      files
        .map(([name, blobId]) => ({ name: Buffer.from(name), blob: Buffer.from(blobId, 'hex') }))
        .sort((a, b) => Buffer.compare(a.name, b.name))
        .flatMap(({ name, blob }) => [Buffer.from('100644 '), name, Buffer.from('\0'), blob]),
    ),
  );

/** Writes an object to the repository as git writes a loose one; it is on the disk before it gets its name. */
export async function writeObject(git: Git, repositoryId: number, object: GitObject): Promise<void> {
  await writeObjects(git, repositoryId, [object]);
}

/** The same in a folder of objects that nobody else looks into yet: without a detour and not yet on the disk. */
export async function writeQuarantined(objects: string, object: GitObject): Promise<void> {
  const path = loosePath(objects, object.id);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await deflated(object.bytes));
}

/**
 * What is small is stored as it is, which takes a tenth of the time; maintenance packs and compresses it. In our own process
 * because it is several times cheaper than starting `git hash-object`, and the format has not changed since 2005.
 */
async function deflated(bytes: Buffer): Promise<Buffer> {
  return bytes.length <= MAX_STORED
    ? deflateSync(bytes, { level: 0, windowBits: 9, memLevel: 1 })
    : await compress(bytes, { level: 1 });
}

const MAX_STORED = 32 * 1024;

/** The file of a loose object in a folder of objects. */
export const loosePath = (objects: string, id: string) => join(objects, id.slice(0, 2), id.slice(2));

/** Files synced at once; more only wait for one another. */
const AT_ONCE = 32;

/** Moves the objects that a program wrote to a folder of its own into the repository, each on the disk first. */
export async function adoptObjects(git: Git, repositoryId: number, quarantine: string): Promise<void> {
  assertOutsideTransaction('moving git objects');
  const objects = join(git.folderOf(repositoryId), 'objects');
  await Promise.all(
    (await readdir(quarantine)).map(async (prefix) => {
      const folder = join(quarantine, prefix);
      const names = await readdir(folder);
      await someAtOnce(names, (some) =>
        Promise.all(some.map((name) => adopt(join(folder, name), prefix + name))),
      );
      // Empty ones would be looked through at each merge from now on; git makes them anew.
      await rmdir(folder);
    }),
  );

  async function adopt(file: string, id: string): Promise<void> {
    await sync(file);
    await place(file, objects, id);
  }
}

/** Gives an object its name. One that is there already has the same content. */
async function place(file: string, objects: string, id: string): Promise<void> {
  const name = loosePath(objects, id);
  try {
    await rename(file, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    await mkdir(dirname(name), { recursive: true });
    await rename(file, name);
  }
}

/** An object of a content that is complete. */
export function gitObject(type: string, content: Buffer): GitObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { id: createHash('sha1').update(bytes).digest('hex'), bytes };
}

/**
 * Somebody as a commit's header says it. Names and addresses are people's own text: what would end the line or the field
 * is left out.
 */
export function signatureLine({ name, email, at }: Signature): string {
  const clean = (text: string) => text.replace(/[\u0000-\u001f<>]/g, '').trim();
  return `${clean(name) || 'unknown'} <${clean(email)}> ${Math.floor(at.getTime() / 1000)} +0000`;
}

/** An annotated tag of a commit. */
export function tagObject(tag: {
  commit: string;
  name: string;
  tagger: Signature;
  message: string;
}): GitObject {
  const lines = [
    `object ${tag.commit}`,
    'type commit',
    `tag ${tag.name}`,
    `tagger ${signatureLine(tag.tagger)}`,
    '',
    `${tag.message.replaceAll('\0', '').trimEnd()}\n`,
  ];
  return gitObject('tag', Buffer.from(lines.join('\n')));
}

/** A tree of whatever entries; names are bytes, one character each. */
export function rawTreeObject(entries: Iterable<readonly [name: string, entry: RawEntry]>): GitObject {
  // git sorts folders as if their names ended in a slash.
  const key = ([name, { mode }]: readonly [string, RawEntry]) =>
    Buffer.from(mode === FOLDER ? `${name}/` : name, 'latin1');
  const sorted = [...entries]
    .map((entry) => ({ entry, key: key(entry) }))
    .sort((a, b) => Buffer.compare(a.key, b.key));
  return gitObject(
    'tree',
    Buffer.concat(
      sorted.flatMap(({ entry: [name, { mode, id }] }) => [
        Buffer.from(`${mode} ${name}\0`, 'latin1'),
        Buffer.from(id, 'hex'),
      ]),
    ),
  );
}

/** An entry of a tree as the tree spells it. */
export interface RawEntry {
  mode: string;
  id: string;
}

/** The mode of a folder. */
export const FOLDER = '40000';

/** Writes objects, several at once; none has its name before it is on the disk. */
export async function writeObjects(
  git: Git,
  repositoryId: number,
  objects: readonly GitObject[],
): Promise<void> {
  const folder = join(git.folderOf(repositoryId), 'objects');
  await someAtOnce(objects, async (some) => {
    const contents = await Promise.all(some.map(({ bytes }) => deflated(bytes)));
    const names = some.map(({ id }) => loosePath(folder, id));
    await git.files.write({ folder, contents, mode: 0o444, names });
  });
}

/** Does something with some at once: files that are open are counted. */
export async function someAtOnce<T>(
  items: readonly T[],
  use: (some: readonly T[]) => Promise<unknown>,
): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) await use(items.slice(start, start + AT_ONCE));
}
