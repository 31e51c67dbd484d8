import type { z } from 'zod';
import type { Caller } from '../caller/caller.ts';
import { inPath } from '../commits/commit-json.ts';
import { findCommit } from '../commits/resolve-commit.ts';
import type { Context } from '../context.ts';
import { notFound } from '../failures.ts';
import { readBlob } from '../git-data/read-blob.ts';
import { findLastCommits, findLastCommitsOf, type LastCommit } from '../outside/git/reading/last-commits.ts';
import { findEntry, listTree } from '../outside/git/reading/trees.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { submoduleAddresses } from '../rules/files/submodules.ts';
import {
  type ContentsDetails,
  type ContentsPlace,
  contentsJson,
  type contentsSchema,
} from './contents-json.ts';
import { type ContentsPath, type FoundEntry, findContentsIn, findEachIn } from './find-entry.ts';
import { readMessages, readPointers } from './read-extras.ts';

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

/** Which parts of entries are wanted beside what their folder says of them. */
export interface ContentsParts {
  /** Of a single file; folders come without. */
  content: boolean;
  /** The commits that last changed them. */
  commits: boolean;
  /** What those commits say. */
  messages: boolean;
  /** What Git LFS keeps elsewhere. */
  lfs: boolean;
}

const USUAL: ContentsParts = { content: true, commits: true, messages: false, lfs: false };

/** A file with its content, or the entries of a folder. */
export async function showContents(
  context: Context,
  viewer: Caller | undefined,
  path: ContentsPath,
  ref: string | undefined,
  parts: ContentsParts = USUAL,
): Promise<Contents | Contents[]> {
  const found = await findRepository(context, viewer, path, 'code');
  if (path.file === '' && !ref && (await findCommit(context, found, ref)) === undefined) return [];
  const it = await findContentsIn(context, found, path.file, ref);
  const place = { found, at: it.at, links: context.links };
  if (it.entry.type === 'tree') return await showFolder(context, it, place, parts);
  const { path: name } = it.entry;
  const [lastCommits, details, pointers] = await Promise.all([
    needsCommits(parts)
      ? findLastCommitsOf(context.git, found.repository.id, it.at.commit, [name])
      : new Map<string, LastCommit>(),
    parts.content || it.entry.type === 'commit' ? readDetails(context, it) : {},
    parts.lfs ? readPointers(context.git, found.repository.id, [it.entry]) : undefined,
  ]);
  const commits = await describeCommits(context, found, lastCommits, parts);
  return contentsJson(it.entry, { ...details, ...commits(name), lfs: pointers?.get(it.entry.id) }, place);
}

const needsCommits = ({ commits, messages }: ContentsParts) => commits || messages;

/** What is told of the commits that last changed some entries, by the names of these. */
async function describeCommits(
  context: Context,
  { repository }: VisibleRepository,
  lastCommits: ReadonlyMap<string, LastCommit>,
  parts: ContentsParts,
): Promise<(name: string) => Pick<ContentsDetails, 'lastCommit' | 'message'>> {
  const ids = new Set(Array.from(lastCommits.values(), ({ id }) => id));
  const messages = parts.messages ? await readMessages(context.git, repository.id, [...ids]) : undefined;
  return (name) => {
    const lastCommit = lastCommits.get(name);
    return {
      lastCommit: parts.commits ? lastCommit : undefined,
      message: lastCommit && messages?.get(lastCommit.id),
    };
  };
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

async function showFolder(
  context: Context,
  it: FoundEntry,
  place: ContentsPlace,
  parts: ContentsParts,
): Promise<Contents[]> {
  const { git } = context;
  const { id } = it.found.repository;
  const fit = Math.floor(MAX_FOLDER_BYTES / (ENTRY_BYTES + 6 * inPath(it.entry.path).length));
  const slice = { recursive: false, offset: 0, limit: Math.min(MAX_ENTRIES, fit) };
  const listed = await listTree(git, id, it.entry.id, slice);
  if (listed === undefined) throw notFound('the folder cannot be read');
  const names = listed.entries.map(({ path }) => path);
  const lastCommits = needsCommits(parts)
    ? await findLastCommits(git, id, it.at.commit, it.entry.path, names)
    : new Map<string, LastCommit>();
  const commits = await describeCommits(context, it.found, lastCommits, parts);
  const pointers = parts.lfs ? await readPointers(git, id, listed.entries) : undefined;
  const before = it.entry.path === '' ? '' : `${it.entry.path}/`;
  const submodules = listed.entries.some(({ type }) => type === 'commit')
    ? await readSubmodules(context, it)
    : undefined;
  return listed.entries.map((entry) => {
    const path = before + entry.path;
    const details = {
      ...commits(entry.path),
      lfs: pointers?.get(entry.id),
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
