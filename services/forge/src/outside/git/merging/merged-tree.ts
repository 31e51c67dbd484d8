import { MAX_CONFLICTS } from '../../../rules/pulls/mergeable.ts';
import type { TakePart } from '../conversation.ts';

/** What merging two commits gives: a tree, with markers in it where they conflict. */
export interface MergedTree {
  tree: string;
  /** As git says: a folder that both sides moved may be in conflict, and no file of it. */
  isClean: boolean;
  /** Files in conflict, as many as are told. */
  conflicts: string[];
  /** Whether it is not clean for want of memory or time, which may be there another time. */
  isGivenUp?: boolean;
}

/** Bytes of the names of files in conflict. */
const MAX_NAMES_BYTES = 64 * 1024;

/** What is merged without conflicts. */
export const cleanTree = (tree: string): MergedTree => ({ tree, isClean: true, conflicts: [] });

/**
 * What `merge-tree --stdin` prints: `1\0<tree>\0\0` where it is clean, else `0\0<tree>\0<file>\0…\0`. Taken record by record,
 * and what is not told is not kept.
 */
export function takeMergedTree(): TakePart<MergedTree> {
  const first: string[] = [];
  const conflicts = new Conflicts();
  let isWithinLong = false;
  return (received) => {
    let start = 0;
    for (let end = received.indexOf(0); end !== -1; end = received.indexOf(0, start)) {
      const record = received.subarray(start, end);
      start = end + 1;
      if (first.length < 2) first.push(record.toString('latin1'));
      else if (isWithinLong) isWithinLong = false;
      else if (record.length > 0) conflicts.add(record);
      else {
        const [isClean, tree = ''] = [first[0] === '1', first[1]];
        return { answer: { tree, isClean, conflicts: [...conflicts.names] }, length: start };
      }
    }
    if (received.length - start > MAX_NAMES_BYTES) {
      isWithinLong = true;
      start = received.length;
    }
    return { isPart: true, length: start };
  };
}

/** The same of `merge-tree` for one merge, `<tree>\0<file>\0…`, as far as it came; undefined when that is not to a tree. */
export function readMergedTree(printed: Buffer, isClean: boolean): MergedTree | undefined {
  const records = printed.subarray(0, printed.lastIndexOf(0) + 1);
  const taken = takeMergedTree()(
    Buffer.concat([Buffer.from(isClean ? '1\0' : '0\0'), records, Buffer.from('\0')]),
  );
  return taken === undefined || 'isPart' in taken ? undefined : taken.answer;
}

/** Files in conflict, each once. */
class Conflicts {
  readonly names = new Set<string>();
  #room = MAX_NAMES_BYTES;

  add(listed: Buffer): void {
    if (this.names.size >= MAX_CONFLICTS || listed.length > this.#room) return;
    // One file has several entries, and another name where both a file and a folder want to be.
    this.names.add(listed.toString().replace(/~[0-9a-f]{40}$/, ''));
    this.#room -= listed.length;
  }
}
