import { z } from 'zod';
import { addressesOf, inPath } from '../commits/commit-json.ts';
import type { ResolvedCommit } from '../commits/resolve-commit.ts';
import type { Links } from '../links.ts';
import type { LastCommit } from '../outside/git/reading/last-commits.ts';
import type { TreeEntry } from '../outside/git/reading/trees.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import type { LfsPointer } from '../rules/files/lfs-pointer.ts';
import { timeSchema } from '../wire-schemas.ts';
import { wireTime } from '../wire-time.ts';

/** A file, folder, symbolic link or submodule on the wire. */
export const contentsSchema = z.object({
  name: z.string(),
  path: z.string(),
  sha: z.string(),
  last_commit_sha: z.string().nullable(),
  last_committer_date: timeSchema.nullable(),
  last_author_date: timeSchema.nullable(),
  last_commit_message: z.string().optional(),
  type: z.enum(['file', 'dir', 'symlink', 'submodule']),
  size: z.int(),
  encoding: z.string().nullable(),
  content: z.string().nullable(),
  target: z.string().nullable(),
  url: z.string(),
  html_url: z.string(),
  git_url: z.string().nullable(),
  download_url: z.string().nullable(),
  submodule_git_url: z.string().nullable(),
  lfs_oid: z.string().optional(),
  lfs_size: z.int().optional(),
  _links: z.object({ self: z.string(), git: z.string().nullable(), html: z.string() }),
});

/** What is known of an entry besides itself; what is not given is null on the wire. */
export interface ContentsDetails {
  lastCommit?: LastCommit | undefined;
  /** The words of that commit; left out of the answer where they were not asked for. */
  message?: string | undefined;
  /** Of files that are not too large. */
  content?: Buffer | undefined;
  /** Of symbolic links. */
  target?: string | undefined;
  /** Of submodules. */
  submoduleUrl?: string | undefined;
  /** Of files that Git LFS keeps elsewhere; left out as well. */
  lfs?: LfsPointer | undefined;
}

/** Where entries are shown. */
export interface ContentsPlace {
  found: VisibleRepository;
  /** The commit, and the branch or tag by which it was asked for. */
  at: ResolvedCommit;
  links: Links;
}

/** An entry of a commit's tree; its path is from the root. */
export function contentsJson(
  entry: TreeEntry,
  { lastCommit, message, content, target, submoduleUrl, lfs }: ContentsDetails,
  { found, at, links }: ContentsPlace,
): z.output<typeof contentsSchema> {
  const address = addressesOf(found, links);
  const path = inPath(entry.path);
  const ref = `?ref=${encodeURIComponent(at.name)}`;
  const type = typeOf(entry);
  const self = address.api(`contents/${path}${ref}`);
  const html = address.page(`src/${at.kind}/${inPath(at.name)}/${path}`);
  const git = type === 'submodule' ? null : type === 'dir' ? address.tree(entry.id) : address.blob(entry.id);
  return {
    name: entry.path.slice(entry.path.lastIndexOf('/') + 1),
    path: entry.path,
    sha: entry.id,
    last_commit_sha: lastCommit?.id ?? null,
    last_committer_date: lastCommit ? wireTime(lastCommit.committed) : null,
    last_author_date: lastCommit ? wireTime(lastCommit.authored) : null,
    ...(message === undefined ? {} : { last_commit_message: message }),
    type,
    size: entry.size,
    encoding: content === undefined ? null : 'base64',
    content: content?.toString('base64') ?? null,
    target: target ?? null,
    url: self,
    html_url: html,
    git_url: git,
    download_url: type === 'file' || type === 'symlink' ? address.api(`raw/${path}${ref}`) : null,
    submodule_git_url: submoduleUrl ?? null,
    ...(lfs === undefined ? {} : { lfs_oid: lfs.oid, lfs_size: lfs.size }),
    _links: { self, git, html },
  };
}

function typeOf({ type, mode }: TreeEntry): 'file' | 'dir' | 'symlink' | 'submodule' {
  if (type === 'commit') return 'submodule';
  if (type === 'tree') return 'dir';
  return mode === '120000' ? 'symlink' : 'file';
}
