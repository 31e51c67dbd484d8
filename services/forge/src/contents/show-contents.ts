import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { inPath } from '../commits/commit-json.ts';
import { findCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readBlob } from '../git-data/read-blob.ts';
import { findLastCommits, findLastCommitsOf } from '../outside/git/reading/last-commits.ts';
import { findEntry, listTree } from '../outside/git/reading/trees.ts';
import { findRepository } from '../repositories/find-repository.ts';
import { submoduleAddresses } from '../rules/files/submodules.ts';
import {
  type ContentsDetails,
  type ContentsPlace,
  contentsJson,
  type contentsSchema,
} from './contents-json.ts';
import { type ContentsPath, type FoundEntry, findContentsIn, findEachIn } from './find-entry.ts';

/** A folder with more entries is shown so far; `git/trees` has pages. */
const MAX_ENTRIES = 10_000;
/** About what the answer to a folder may have: each entry tells its path six times, which can have four kilobytes. */
const MAX_FOLDER_BYTES = 32 * 1024 * 1024;
const ENTRY_BYTES = 1000;
const MAX_SUBMODULES_BYTES = 64 * 1024;
/** No system follows a link to a longer path (PATH_MAX of Linux). */
const MAX_TARGET_BYTES = 4096;
/** So many files are shown at once, as many as a list has on a page. */
const MAX_FILES = 50;
/** What the files have together; one that no longer fits is shown without its content. */
const MAX_FILES_BYTES = 16 * 1024 * 1024;

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
    findLastCommitsOf(context.git, found.repository.id, it.at.commit, [it.entry.path]),
    readDetails(context, it),
  ]);
  return contentsJson(it.entry, { ...details, lastCommit: lastCommits.get(it.entry.path) }, place);
}

/**
 * Several files with their content, in the order they are named; null stands for what is not there, and folders come
 * without their entries.
 */
export async function showFiles(
  context: Context,
  viewer: Caller | undefined,
  path: Omit<ContentsPath, 'file'>,
  files: readonly string[],
  ref: string | undefined,
): Promise<(Contents | null)[]> {
  const found = await findRepository(context, viewer, path, 'code');
  const its = (await findEachIn(context, found, files.slice(0, MAX_FILES), ref)).map((it) =>
    it?.entry.path === '' ? undefined : it,
  );
  const paths = [...new Set(its.flatMap((it) => it?.entry.path ?? []))];
  const commit = its.find((it) => it !== undefined)?.at.commit ?? '';
  const lastCommits = await findLastCommitsOf(context.git, found.repository.id, commit, paths);
  let left = MAX_FILES_BYTES;
  const shown: (Contents | null)[] = [];
  for (const it of its) {
    if (it === undefined) {
      shown.push(null);
      continue;
    }
    const { entry, at } = it;
    const details = entry.type === 'tree' || entry.size > left ? {} : await readDetails(context, it);
    if (details.content !== undefined || details.target !== undefined) left -= entry.size;
    const place = { found, at, links: context.links };
    shown.push(contentsJson(entry, { ...details, lastCommit: lastCommits.get(entry.path) }, place));
  }
  return shown;
}

async function showFolder(context: Context, it: FoundEntry, place: ContentsPlace): Promise<Contents[]> {
  const { git } = context;
  const { id } = it.found.repository;
  const fit = Math.floor(MAX_FOLDER_BYTES / (ENTRY_BYTES + 6 * inPath(it.entry.path).length));
  const slice = { recursive: false, offset: 0, limit: Math.min(MAX_ENTRIES, fit) };
  const listed = await listTree(git, id, it.entry.id, slice);
  if (listed === undefined) throw notFound('the folder cannot be read');
  const names = listed.entries.map(({ path }) => path);
  const lastCommits = await findLastCommits(git, id, it.at.commit, it.entry.path, names);
  const before = it.entry.path === '' ? '' : `${it.entry.path}/`;
  const submodules = listed.entries.some(({ type }) => type === 'commit')
    ? await readSubmodules(context, it)
    : undefined;
  return listed.entries.map((entry) => {
    const path = before + entry.path;
    const details = {
      lastCommit: lastCommits.get(entry.path),
      submoduleUrl: entry.type === 'commit' ? submodules?.get(path) : undefined,
    };
    return contentsJson({ ...entry, path }, details, place);
  });
}

async function readDetails(context: Context, it: FoundEntry): Promise<ContentsDetails> {
  const { entry } = it;
  if (entry.type === 'commit') return { submoduleUrl: (await readSubmodules(context, it)).get(entry.path) };
  const { id } = it.found.repository;
  if (entry.mode !== '120000') return { content: await readBlob(context, id, entry.id) };
  return { target: (await readBlob(context, id, entry.id, MAX_TARGET_BYTES))?.toString() };
}

/** Where submodules come from; empty when there is no file that can be read and says it. */
async function readSubmodules(
  context: Context,
  { found, root }: FoundEntry,
): Promise<Map<string, string | undefined>> {
  const { id } = found.repository;
  const entry = await findEntry(context.git, id, root, '.gitmodules');
  const content =
    entry?.type === 'blob' ? await readBlob(context, id, entry.id, MAX_SUBMODULES_BYTES) : undefined;
  return submoduleAddresses(content?.toString() ?? '');
}
