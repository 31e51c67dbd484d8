import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { findCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readBlob } from '../git-data/read-blob.ts';
import { findLastCommits } from '../outside/git/reading/last-commits.ts';
import { findEntry, listTree, type TreeEntry } from '../outside/git/reading/trees.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { submoduleAddress } from '../rules/files/submodules.ts';
import {
  type ContentsDetails,
  type ContentsPlace,
  contentsJson,
  type contentsSchema,
} from './contents-json.ts';
import { type ContentsPath, type FoundEntry, findContentsIn } from './find-entry.ts';

/** A folder with more entries is shown so far; `git/trees` has pages. */
const MAX_ENTRIES = 10_000;
const MAX_SUBMODULES_BYTES = 64 * 1024;

type Contents = z.output<typeof contentsSchema>;

/** A file with its content, or the entries of a folder. */
export async function showContents(
  context: Context,
  viewer: Caller | undefined,
  path: ContentsPath,
  ref: string | undefined,
): Promise<Contents | Contents[]> {
  const found = await findRepository(context, viewer, path, 'code');
  if (path.file === '' && !ref && (await findCommit(context, found, ref)) === undefined) return [];
  const it = await findContentsIn(context, found, path.file, ref);
  const place = { found, at: it.at, links: context.links };
  if (it.entry.type === 'tree') return await showFolder(context, it, place);
  const [lastCommits, details] = await Promise.all([
    findLastCommits(context.git, found.repository.id, it.at.commit, it.entry.path, []),
    readDetails(context, it, it.entry),
  ]);
  return contentsJson(it.entry, { ...details, lastCommit: lastCommits.get('') }, place);
}

async function showFolder(context: Context, it: FoundEntry, place: ContentsPlace): Promise<Contents[]> {
  const { git } = context;
  const { id } = it.found.repository;
  const slice = { recursive: false, offset: 0, limit: MAX_ENTRIES };
  const listed = await listTree(git, id, it.entry.id, slice);
  if (listed === undefined) throw notFound('the folder cannot be read');
  const names = listed.entries.map(({ path }) => path);
  const lastCommits = await findLastCommits(git, id, it.at.commit, it.entry.path, names);
  const before = it.entry.path === '' ? '' : `${it.entry.path}/`;
  const submodules = listed.entries.some(({ type }) => type === 'commit')
    ? await readSubmodules(context, it)
    : '';
  return listed.entries.map((entry) => {
    const path = before + entry.path;
    const details = {
      lastCommit: lastCommits.get(entry.path),
      submoduleUrl: entry.type === 'commit' ? submoduleAddress(submodules, path) : undefined,
    };
    return contentsJson({ ...entry, path }, details, place);
  });
}

async function readDetails(context: Context, it: FoundEntry, entry: TreeEntry): Promise<ContentsDetails> {
  if (entry.type === 'commit')
    return { submoduleUrl: submoduleAddress(await readSubmodules(context, it), entry.path) };
  const content = await readBlob(context, it.found.repository.id, entry.id);
  return entry.mode === '120000' ? { target: content?.toString() } : { content };
}

/** The file that says where submodules come from; empty when there is none that can be read. */
async function readSubmodules(context: Context, { found, root }: FoundEntry): Promise<string> {
  const { id } = found.repository;
  const entry = await findEntry(context.git, id, root, '.gitmodules');
  const content =
    entry?.type === 'blob' ? await readBlob(context, id, entry.id, MAX_SUBMODULES_BYTES) : undefined;
  return content?.toString() ?? '';
}
