import { countOf, type Entry, entryAt, type Tree, textOf } from './tree-entries.ts';

/** What stands under one name in several trees, undefined where nothing does. */
export type Step = readonly (Entry | undefined)[];

/** How far somebody has come in a tree. */
interface Rest {
  tree: Tree;
  place: number;
}

/** Entries of several trees next to each other; those that are the same in all of them as one text, as they are spelled. */
export function inStep(trees: readonly Tree[]): (Step | string)[] {
  const pieces: (Step | string)[] = [];
  const rests: Rest[] = trees.map((tree) => ({ tree, place: 0 }));
  for (;;) {
    const same = textOfSame(rests);
    if (same !== '') pieces.push(same);
    const entries = rests.map(({ tree, place }) => entryAt(tree, place));
    let next: string | undefined;
    for (const entry of entries)
      if (entry !== undefined && (next === undefined || entry.key < next)) next = entry.key;
    if (next === undefined) return pieces;
    pieces.push(
      rests.map((rest, index) => {
        if (entries[index]?.key !== next) return undefined;
        rest.place++;
        return entries[index];
      }),
    );
  }
}

/**
 * Passes over the entries that come next and are the same in all trees: compared by stretches, each twice as long as the one
 * before and shorter again where they differ, so no more is compared than twice what is the same.
 */
function textOfSame(rests: readonly Rest[]): string {
  let same = '';
  for (let step = 1; step > 0; ) {
    let count = step;
    for (const { tree, place } of rests) count = Math.min(count, countOf(tree) - place);
    const text = sameText(rests, count);
    if (text !== undefined) {
      same += text;
      for (const rest of rests) rest.place += count;
    }
    step = text === undefined ? count >> 1 : count * 2;
  }
  return same;
}

function sameText(rests: readonly Rest[], count: number): string | undefined {
  let text: string | undefined;
  for (const { tree, place } of rests) {
    const own = textOf(tree, place, count);
    if (text !== undefined && own !== text) return undefined;
    text = own;
  }
  return text;
}
