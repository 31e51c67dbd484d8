import { join } from 'node:path';
import type { Tx } from '@croft/sql';
import type { Caller } from '../caller/caller.ts';
import type { Context } from '../context.ts';
import { announce } from '../events/announce.ts';
import { alreadyForked, notFound, unacceptable } from '../failures.ts';
import { listRefs, shareObjects, writePackedRefs } from '../outside/git/copy.ts';
import { makeRepository } from '../outside/git/repository.ts';
import { by, makeNew } from '../repositories/create-repository.ts';
import { findNewOwner } from '../repositories/find-new-owner.ts';
import {
  accessTo,
  findRepository,
  mayRead,
  type VisibleRepository,
} from '../repositories/find-repository.ts';
import { checkRepositoryName } from '../rules/access/name.ts';
import type { UserRow } from '../store/people/users.ts';
import * as repositories from '../store/repositories/repositories.ts';

/** Pull requests and what else is ours stay with the original. */
const COPIED_REFS = ['refs/heads', 'refs/tags'];

/**
 * Makes a repository with the branches and tags of another. Objects are shared as files with two names: each of the
 * two repositories can be packed anew or removed without harm to the other.
 * @throws 403 when the organization gives the caller no right, 404, 409 when the name is taken, 422 when it is forked
 *   for the owner it has
 */
export async function forkRepository(
  context: Context,
  caller: Caller,
  path: { owner: string; repo: string },
  wanted: { organization: string; name: string },
): Promise<VisibleRepository> {
  const found = await findRepository(context, caller, path, 'code');
  const { repository: source } = found;
  const owner = await findNewOwner(context, caller, wanted.organization);
  const name = wanted.name || source.name;
  checkRepositoryName(name);
  if (owner.id === source.owner_id) throw unacceptable('the repository belongs to this owner already');
  // The next one for this owner finds the fork that is made here, or may try once it failed.
  return await context.queues.inTurn(`fork of ${source.id} for ${owner.id}`, () =>
    makeFork(context, caller, found, { owner, name }),
  );
}

async function makeFork(
  context: Context,
  caller: Caller,
  found: VisibleRepository,
  { owner, name }: { owner: UserRow; name: string },
): Promise<VisibleRepository> {
  const { database, git } = context;
  const { repository: source } = found;
  if ((await repositories.findFork(database.autocommit(), owner.id, source.id)) !== undefined)
    throw alreadyForked(owner.login);
  const draft = {
    ownerId: owner.id,
    name,
    description: source.description,
    website: source.website,
    // What not everybody may know of does not become public by way of a fork.
    private: isHidden(found),
    template: false,
    defaultBranch: source.default_branch,
    forkOf: source.id,
  };
  return await makeNew(context, caller, draft, {
    fill: async (fork) => {
      const isThere = async () =>
        (await repositories.findById(database.autocommit(), source.id))?.state === 'ready';
      try {
        // Refs before objects: what they name is there, and stays.
        const refs = await listRefs(git, source.id, COPIED_REFS);
        const objects = join(git.folderOf(source.id), 'objects');
        await makeRepository(git, fork.id, source.default_branch, async (folder) => {
          await shareObjects(objects, join(folder, 'objects'), 'link');
          await writePackedRefs(folder, refs);
        });
        // Its folder goes only after its row said so: as long as the row does not, everything was there to copy.
        if (!(await isThere())) throw notFound();
        return refs.filter(({ ref }) => ref.startsWith('refs/heads/')).length;
      } catch (error) {
        throw (await isThere()) ? error : notFound();
      }
    },
    also: async (tx, fork) => {
      // Which holds the row of the original: what becomes private from here on does so after it was forked.
      await repositories.countForks(tx, source.id);
      await checkSource(tx, caller, source.id, fork);
      await repositories.setSize(tx, fork.id, source.size_bytes);
      await announce(tx, { kind: 'repository', action: 'forked', forkId: fork.id, ...by(source, caller) });
      // Whoever follows what an organization has is told of it as of any other.
      if (owner.kind === 'organization')
        await announce(tx, { kind: 'repository', action: 'created', ...by(fork, caller) });
    },
  });
}

/** Whether not everybody may know of a repository. */
const isHidden = ({ repository, owner }: VisibleRepository) =>
  repository.private || owner.visibility !== 'public';

/**
 * What was copied is what the caller could read when the copying was over, and no more public than that.
 * @throws 404
 */
async function checkSource(
  tx: Tx,
  caller: Caller,
  sourceId: number,
  fork: repositories.RepositoryRow,
): Promise<void> {
  const [row] = await repositories.listByIds(tx, [sourceId], caller.userId);
  const now = row && accessTo(row, caller);
  if (now === undefined || !mayRead(now, 'code') || (isHidden(now) && !fork.private)) throw notFound();
}
