import { createHash } from 'node:crypto';
import type { Entry } from '../../../model/entry.ts';
import type { Member } from '../../../model/model.ts';
import { openFolder, splitPath } from '../open-folder.ts';
import { Additions } from '../vault/content/additions.ts';
import { type Content, copyContent, PIECE_BYTES } from '../vault/content/copy-content.ts';
import { Objects } from '../vault/content/objects.ts';
import { StatCache } from '../vault/content/stat-cache.ts';
import { bytesOf, close, open, READ } from '../vault/files.ts';
import { captureTree } from '../vault/trees/capture-tree.ts';
import { manifestPieces, type Tree } from '../vault/trees/manifest.ts';
import { type SentTree, wholeFile } from './send-states.ts';

const NOWHERE = '/nonexistent';

/** A tree whose list was made by reading it, and what that counted. */
export interface ListedTree extends SentTree {
  readonly counted: Pick<Member, 'entries' | 'bytes' | 'unreadable' | 'torn'>;
  /** What is not in it, one line each, which begins with the path text. */
  readonly problems: readonly string[];
}

/**
 * Lists a tree that nobody writes to, as the vault would save it. Every file is read for its hash, because the list comes
 * before the contents; it is read again when it is sent.
 * @param root as latin1 bytes
 */
export async function listTree(root: string, signal: AbortSignal): Promise<ListedTree> {
  const captured = await captureTree({
    root,
    leaveOut: { dev: -1n, ino: -1n },
    additions: new Hashes(),
    cache: await StatCache.open(NOWHERE, 'none'),
    signal,
  });
  const { tree, entries, bytes, unreadable, torn, bare } = captured;
  const hash = createHash('sha256');
  for (const piece of numbered(tree)) hash.update(piece);
  const list = hash.digest('hex');
  return {
    list,
    counted: { entries, bytes, unreadable: unreadable.length, torn: torn.length },
    problems: [
      ...unreadable.map(({ path, code }) => `${path} could not be read and is not in the export (${code})`),
      ...bare.map((path) => `${path} is in the export without its extended attributes`),
    ],
    async *listFile() {
      yield* wholeFile(
        `manifests/${list}`,
        [...numbered(tree)].map((piece) => Buffer.from(piece)),
      );
    },
    async *entries() {
      for (const piece of numbered(tree)) yield entriesIn(piece);
    },
    open: (entry) => openEntry(root, entry),
  };
}

/** Tells what files hold, and keeps nothing. */
class Hashes extends Additions {
  constructor() {
    super(new Objects(NOWHERE), NOWHERE, { budget: 0 });
  }

  override put(fd: number, _sparse: boolean, limit: number): Promise<Content> {
    return copyContent(fd, Buffer.allocUnsafe(Math.min(PIECE_BYTES, limit + 1)), { limit });
  }
}

/**
 * The list in pieces. Files with several names are told by counting them: numbers of devices and inodes are others each time a
 * snapshot is looked into, and the same state gives the same bytes.
 */
function* numbered(tree: Tree): Generator<string> {
  const numbers = new Map<string, string>();
  const numberOf = (inode: string) => {
    const number = numbers.get(inode) ?? String(numbers.size + 1);
    numbers.set(inode, number);
    return number;
  };
  for (const piece of manifestPieces(tree)) {
    const lines = piece.split('\n').map((line) => {
      if (!line.includes('"inode":')) return line;
      const entry = JSON.parse(line) as Entry;
      return entry.inode === undefined ? line : JSON.stringify({ ...entry, inode: numberOf(entry.inode) });
    });
    yield lines.join('\n');
  }
}

function entriesIn(piece: string): readonly Entry[] {
  return piece.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Entry]));
}

/** Each folder on the way is opened without following links. */
async function openEntry(root: string, { path }: Entry): Promise<number> {
  const { parent, name } = splitPath(path);
  const folder = await openFolder(root, parent);
  try {
    return await open(bytesOf(`/proc/self/fd/${folder}/${name}`), READ);
  } finally {
    await close(folder);
  }
}
