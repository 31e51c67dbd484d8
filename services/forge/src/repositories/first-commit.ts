import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { blobObject, commitObject, treeObject, writeObject } from '../outside/git/objects.ts';
import { branchRef, moveRefs, NO_COMMIT } from '../outside/git/refs.ts';
import type { RepositoryRow } from '../store/repositories/repositories.ts';
import { signatureOf } from '../users/signature-of.ts';

/** Begins the default branch of an empty repository with files, by their names. */
export async function commitFiles(
  context: Context,
  caller: Caller,
  row: RepositoryRow,
  files: ReadonlyMap<string, string>,
): Promise<void> {
  const blobs = [...files].map(([name, text]) => ({ name, blob: blobObject(text) }));
  const tree = treeObject(...blobs.map(({ name, blob }) => [name, blob.id] as const));
  for (const object of [...blobs.map(({ blob }) => blob), tree])
    await writeObject(context.git, row.id, object);
  await commitTree(context, caller, row, tree.id);
}

/** The same with a tree that the repository has already. */
export async function commitTree(
  context: Context,
  { user }: Caller,
  row: RepositoryRow,
  tree: string,
): Promise<void> {
  const { git } = context;
  const signature = signatureOf(context, user);
  const commit = commitObject({
    tree,
    parents: [],
    author: signature,
    committer: signature,
    message: 'Initial commit',
  });
  await writeObject(git, row.id, commit);
  await moveRefs(git, row.id, [{ ref: branchRef(row.default_branch), new: commit.id, old: NO_COMMIT }]);
}
