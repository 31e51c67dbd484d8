import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConversationEnded } from '../conversation.ts';
import { type Git, quarantined } from '../git.ts';
import { type AttributesFile, findAttributes, writeAttributes } from './attributes.ts';
import { hasFailedOver, mergeAlone } from './merge-alone.ts';
import { type MergedTree, takeMergedTree } from './merged-tree.ts';

/** Where merges are made: the repository has none of the objects yet. */
export interface MergeRoom {
  /** Folder of the objects that are written here. */
  objects: string;
  /** Lets a process of its own read them, with all that is merged. */
  environment: Readonly<Record<string, string>>;
  /** Merges two commits with related histories. */
  merge(ours: string, theirs: string): Promise<MergedTree>;
}

/**
 * Does something with merges into a commit, whose `.gitattributes` hold for them. What `trials` write goes away by itself;
 * what `merges` write and nobody moved into the repository is gone afterwards. Not twice at once in one repository for
 * `merges`. The work may be begun anew when git ended in the middle.
 * @param beside id of another repository, whose objects are needed as well
 */
export async function inMergeRoom<T>(
  git: Git,
  repositoryId: number,
  topic: 'trials' | 'merges',
  ours: string,
  work: (room: MergeRoom) => Promise<T>,
  beside?: number,
): Promise<T> {
  const attributes = await findAttributes(git, repositoryId, ours);
  return git.hasUnbufferedMerges && attributes.length === 0 && beside === undefined
    ? await inConversation(git, repositoryId, topic, work)
    : await oneByOne(git, repositoryId, topic, { attributes, beside }, work);
}

async function inConversation<T>(
  git: Git,
  repositoryId: number,
  topic: 'trials' | 'merges',
  work: (room: MergeRoom) => Promise<T>,
): Promise<T> {
  const attempt = async () => {
    const conversation = await git.converse(repositoryId, topic);
    using _held = conversation.hold();
    const objects = conversation.quarantine as string;
    const environment = quarantined([git.folderOf(repositoryId)], objects);
    const merge: MergeRoom['merge'] = async (ours, theirs) => {
      try {
        return await conversation.ask(`${ours} ${theirs}\n`, takeMergedTree());
      } catch (error) {
        // That may have been for what somebody else asked.
        if (!(error instanceof ConversationEnded && hasFailedOver(error.exit))) throw error;
        return await mergeAlone(git, repositoryId, { topic, ours, theirs, environment });
      }
    };
    try {
      return await work({ objects, environment, merge });
    } finally {
      if (topic === 'merges') await empty(objects);
    }
  };
  try {
    return await attempt();
  } catch (error) {
    // Idle processes are ended, and the same merge twice is the same merge: once more, with a new process.
    if (!(error instanceof ConversationEnded)) throw error;
    return await attempt();
  }
}

/** A process for each merge: where none can be kept, and where it must see attributes or objects that others must not. */
async function oneByOne<T>(
  git: Git,
  repositoryId: number,
  topic: 'trials' | 'merges',
  { attributes, beside }: { attributes: readonly AttributesFile[]; beside: number | undefined },
  work: (room: MergeRoom) => Promise<T>,
): Promise<T> {
  const objects = git.quarantineFor(repositoryId, topic);
  const tree =
    attributes.length === 0 ? undefined : `${git.quarantineFor(repositoryId, 'trials')}-attributes`;
  try {
    await mkdir(objects);
    if (tree !== undefined) await writeAttributes(git, repositoryId, attributes, tree);
    const folders = [repositoryId, beside].flatMap((id) => (id === undefined ? [] : [git.folderOf(id)]));
    const environment = quarantined(folders, objects);
    const options = tree === undefined ? [] : ['-C', tree, '--work-tree=.'];
    return await work({
      objects,
      environment,
      merge: (one, other) =>
        mergeAlone(git, repositoryId, { topic, ours: one, theirs: other, environment, options }),
    });
  } finally {
    for (const folder of [objects, tree])
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** The folder itself belongs to the process, which goes on. */
async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    await rm(join(folder, name), { recursive: true, force: true });
}
