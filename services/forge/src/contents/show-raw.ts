import type { Caller } from '../caller/caller.ts';
import { streamFromGit } from '../commits/stream-from-git.ts';
import type { Context } from '../context.ts';
import type { Answer } from '../endpoint.ts';
import { notFound } from '../failures.ts';
import { describeObject, readObject, startReading } from '../outside/git/reading/objects.ts';
import { followRefs } from '../outside/git/reading/resolve.ts';
import { branchRef, tagRef } from '../outside/git/refs.ts';
import { findRepository, type VisibleRepository } from '../repositories/find-repository.ts';
import { attachmentName } from '../rules/files/attachment-name.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { isWholeId } from '../rules/git/revision.ts';
import { type ContentsPath, type FoundEntry, findContentsIn } from './find-entry.ts';

/** As git looks for the byte that makes a file binary. */
const LOOKED_AT_BYTES = 8000;
/** Slashes of a ref that a path may begin with: more are in no name that people give. */
const MAX_REF_PARTS = 10;

/** What a path begins with, where that is said. */
export type RefKind = 'branch' | 'tag' | 'commit';

/**
 * A file as it is. Without `ref` a path may begin with a branch, a tag or the whole id of a commit, as the reference has it from
 * before there was `ref`: Jenkins and Drone ask that way. With `kind` it has to.
 * @throws 404
 */
export async function showRawOf(
  context: Context,
  viewer: Caller | undefined,
  path: ContentsPath,
  { ref, kind }: { ref?: string | undefined; kind?: RefKind },
): Promise<Answer> {
  const found = await findRepository(context, viewer, path, 'code');
  const named = ref ? undefined : await splitRef(context, found, path.file, kind);
  if (kind !== undefined && named === undefined) throw notFound(`the path begins with no ${kind}`);
  const entry = await findContentsIn(context, found, named?.file ?? path.file, named?.ref ?? ref);
  return await showRaw(context, viewer, entry);
}

/** What a path names before the file: the shortest branch, else tag, else commit; undefined when it names none. */
async function splitRef(
  { git }: Context,
  { repository }: VisibleRepository,
  path: string,
  kind: RefKind | undefined,
): Promise<{ ref: string; file: string } | undefined> {
  const parts = path.split('/');
  const prefixes = parts.slice(0, Math.min(parts.length - 1, MAX_REF_PARTS)).map((_, index) => index + 1);
  const names = prefixes.map((count) => parts.slice(0, count).join('/')).filter(isBranchName);
  const folders = FOLDERS.filter(([folder]) => kind === undefined || kind === folder);
  const refs = folders.flatMap(([, toRef]) => names.map((name) => ({ name, ref: toRef(name) })));
  const commits = await followRefs(
    git,
    repository.id,
    refs.map(({ ref }) => ref),
  );
  const known = refs.find((_, index) => commits[index] !== undefined);
  if (known !== undefined) return { ref: known.ref, file: path.slice(known.name.length + 1) };
  const [id = '', ...file] = parts;
  const isCommit = (kind ?? 'commit') === 'commit' && isWholeId(id.toLowerCase());
  return isCommit ? { ref: id, file: file.join('/') } : undefined;
}

const FOLDERS = [
  ['branch', branchRef],
  ['tag', tagRef],
] as const;

/** A file as it is. A browser that is led here shows text at most: nothing in it may run in our name. */
export async function showRaw(
  context: Context,
  viewer: Caller | undefined,
  { found, entry }: FoundEntry,
): Promise<Answer> {
  const { git } = context;
  const { id } = found.repository;
  const info = entry.type === 'blob' ? await describeObject(git, id, entry.id) : undefined;
  if (info === undefined) throw notFound('the path is not a file');
  const whole = await readObject(git, id, info.id, 'skip');
  const { start, body } =
    whole === undefined
      ? await streamFromGit(context, viewer, () => startReading(git, id, info))
      : { start: whole.content, body: whole.content };
  const isText = !start.subarray(0, LOOKED_AT_BYTES).includes(0);
  return {
    status: 200,
    type: isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    headers: {
      'content-length': String(info.size),
      'content-disposition': `inline; ${attachmentName(entry.path.slice(entry.path.lastIndexOf('/') + 1))}`,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}
