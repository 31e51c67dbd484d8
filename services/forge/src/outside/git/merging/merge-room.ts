import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConversationEnded, type TakeAnswer } from '../conversation.ts';
import { type Git, quarantined } from '../git.ts';
import { inTurn } from '../reading/turns.ts';
import { type AttributesFile, findAttributes, writeAttributes } from './attributes.ts';

/** What merging two commits gives: a tree, with markers in the named files when they conflict. */
export interface MergedTree {
  tree: string;
  conflicts: string[];
}

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
    try {
      return await work({
        objects,
        environment: quarantined([git.folderOf(repositoryId)], objects),
        merge: (one, other) => conversation.ask(`${one} ${other}\n`, takeMergedTree),
      });
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
    const options = ['-c', 'core.fsync=none', ...(tree === undefined ? [] : ['-C', tree, '--work-tree=.'])];
    return await work({
      objects,
      environment,
      async merge(one, other) {
        const args = [...options, ...MERGE_TREE, one, other];
        const run = () => git.run(repositoryId, args, undefined, environment);
        // Trials are for readers, of whom there may be a crowd; merges stand in the queue of their repository.
        const { stdout, stderr } = await (topic === 'trials' ? inTurn(git, run) : run());
        const [merged = '', ...files] = stdout.toString().split('\0');
        // The exit code does not tell: it is 1 for conflicts and for commits that do not exist.
        if (!/^[0-9a-f]{40,64}$/.test(merged))
          throw new Error(`merge-tree of ${one} and ${other} failed: ${stderr}`);
        return { tree: merged, conflicts: conflictedFiles(files) };
      },
    });
  } finally {
    for (const folder of [objects, tree])
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}

/** Prints `<tree>\0`, and after conflicts `<file>\0…`. */
const MERGE_TREE = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages'] as const;

/** `1\0<tree>\0\0` is clean, `0\0<tree>\0<file>\0…\0` has conflicts. */
const takeMergedTree: TakeAnswer<MergedTree> = (received) => {
  const end = received.indexOf('\0\0', 2 + 40);
  if (end === -1) return undefined;
  const [, tree = '', ...conflicts] = received.toString('utf8', 0, end).split('\0');
  return { answer: { tree, conflicts: conflictedFiles(conflicts) }, length: end + 2 };
};

/** One file has several entries, and another name where both a file and a folder want to be: `name~<commit>`. */
function conflictedFiles(listed: readonly string[]): string[] {
  return [...new Set(listed.filter((file) => file !== '').map((file) => file.replace(/~[0-9a-f]{40}$/, '')))];
}

/** The folder itself belongs to the process, which goes on. */
async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    await rm(join(folder, name), { recursive: true, force: true });
}
