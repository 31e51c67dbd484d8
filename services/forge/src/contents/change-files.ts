import { Failure } from '@croft/failure';
import { findWritable } from '../branches/find-writable.ts';
import { moveInTurn } from '../branches/move-refs.ts';
import { checkMove, loadPushRules } from '../branches/push-rules.ts';
import { checkArrived } from '../branches/refuse-arrived.ts';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { baseMoved, fileMoved, notFound, tooLarge, unacceptable } from '../failures.ts';
import { commitObject, type GitObject, type Signature, writeObjects } from '../outside/git/objects.ts';
import { readObject } from '../outside/git/reading/objects.ts';
import { parseCommit } from '../outside/git/reading/parse-commit.ts';
import { branchRef, NO_COMMIT, readRef } from '../outside/git/refs.ts';
import type { VisibleRepository } from '../repositories/find-repository.ts';
import { roomLeft } from '../repositories/room-left.ts';
import { commitPeople, fileMessage, type GivenPeople } from '../rules/files/file-commit.ts';
import { isBranchName } from '../rules/git/branch-name.ts';
import { signatureOf } from '../users/signature-of.ts';
import { type FileChange, type PlannedChanges, planChanges } from './plan-changes.ts';

/** Changes of files that become one commit. */
export interface WantedChanges extends GivenPeople {
  files: readonly FileChange[];
  message: string;
  /** Empty for the default branch. */
  branch: string;
  /** A branch that is to begin with the commit; empty to move the one above. */
  newBranch: string;
  /** When they did it; now, when it is not said. */
  authoredAt: Date | undefined;
  committedAt: Date | undefined;
  signOff: boolean;
}

/** A commit that changed files. */
export interface FilesChanged {
  found: VisibleRepository;
  branch: string;
  commit: GitObject;
  files: PlannedChanges['files'];
}

/**
 * Changes files and commits that to a branch, without a work tree. Everything is decided before anything moves;
 * who loses a race tries again on what is there now, unless it was about the same files.
 * @throws 403, 404 without the branch or a file, 409 when somebody else changed the files meanwhile, 413, 422, 423
 */
export async function changeFiles(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: WantedChanges,
): Promise<FilesChanged> {
  const { git } = context;
  const found = await findWritable(context, caller, path);
  const { id, default_branch: defaultBranch } = found.repository;
  const branch = wanted.branch || defaultBranch;
  const target = wanted.newBranch || branch;
  for (const [field, name] of Object.entries({ Branch: branch, NewBranch: target }))
    if (!isBranchName(name)) throw unacceptable(`[${field}]: GitRefName`);
  const [rules, room] = await Promise.all([
    loadPushRules(context, found, caller.userId),
    roomLeft(context, found.repository),
  ]);
  const bytes = wanted.files.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  if (room !== undefined && bytes > room) throw tooLarge('the repository has reached its size limit');
  const seen = await readRef(git, id, branchRef(branch));
  await plan(seen);

  const taken = () => unacceptable(`branch already exists [name: ${target}]`);
  return await moveInTurn(context, id, caller.userId, prepare, target === branch ? baseMoved : taken);

  async function prepare() {
    const [tip, there] = await Promise.all([
      readRef(git, id, branchRef(branch)),
      target === branch ? undefined : readRef(git, id, branchRef(target)),
    ]);
    if (there !== undefined) throw taken();
    const planned = await plan(tip).catch((failure: unknown) => {
      // What was right a moment ago is so no longer.
      throw tip !== seen && failure instanceof Failure ? fileMoved() : failure;
    });
    const commit = toCommit(planned, tip);
    await writeObjects(git, id, [...planned.objects, commit]);
    const before = target === branch ? (tip ?? NO_COMMIT) : NO_COMMIT;
    const move = { ref: branchRef(target), before, after: commit.id };
    // A new branch brings everything the other one has, which only the commit itself shows.
    if (target !== branch) await checkArrived(context, found.repository, move, rules);
    const result: FilesChanged = { found, branch: target, commit, files: planned.files };
    return { moves: [move], result };
  }

  async function plan(tip: string | undefined): Promise<PlannedChanges> {
    // The first commit of a repository makes its branch.
    if (tip === undefined && !found.repository.empty)
      throw notFound(`branch does not exist [name: ${branch}]`);
    const paths = wanted.files.flatMap(({ path: file, fromPath }) => [file, ...(fromPath ? [fromPath] : [])]);
    const kind = target === branch && tip !== undefined ? 'fast-forward' : 'create';
    checkMove(rules, target, kind, paths);
    const commit = tip === undefined ? undefined : await readObject(git, id, tip);
    return await planChanges(git, id, commit && parseCommit(commit).tree, wanted.files);
  }

  function toCommit(planned: PlannedChanges, tip: string | undefined): GitObject {
    const { at: now, ...self } = signatureOf(context, caller.user);
    const people = commitPeople(wanted, self);
    const author: Signature = { ...people.author, at: wanted.authoredAt ?? now };
    const committer: Signature = { ...people.committer, at: wanted.committedAt ?? now };
    const described = wanted.files.map((file, index) => ({
      ...file,
      created: planned.files[index]?.created ?? false,
    }));
    return commitObject({
      tree: planned.tree,
      parents: tip === undefined ? [] : [tip],
      author,
      committer,
      message: fileMessage(wanted.message, described, wanted.signOff ? people.committer : undefined),
    });
  }
}
