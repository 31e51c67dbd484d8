import { expect, it } from 'vitest';
import { type MergedTree, readMergedTree, takeMergedTree } from './merged-tree.ts';

const TREE = '1'.repeat(40);
const OTHER = '2'.repeat(40);

/** Answers of a conversation that come in pieces of so many bytes; and the most that was kept meanwhile. */
function taken(printed: string, size: number): { answers: MergedTree[]; kept: number } {
  const answers: MergedTree[] = [];
  let [take, received, kept] = [takeMergedTree(), Buffer.alloc(0), 0];
  for (let start = 0; start < printed.length; start += size) {
    received = Buffer.concat([received, Buffer.from(printed.slice(start, start + size), 'latin1')]);
    for (;;) {
      const part = take(received);
      received = received.subarray(part?.length ?? 0);
      if (part === undefined || 'isPart' in part) break;
      answers.push(part.answer);
      take = takeMergedTree();
    }
    kept = Math.max(kept, received.length);
  }
  expect(received).toHaveLength(0);
  return { answers, kept };
}

const clean = (tree: string) => ({ tree, isClean: true, conflicts: [] });
const conflicting = (tree: string, ...conflicts: string[]) => ({ tree, isClean: false, conflicts });

it.each([1, 2, 7, 64, 100_000])('answers are taken from pieces of %i bytes', (size) => {
  const printed = [
    `1\0${TREE}\0\0`,
    `0\0${TREE}\0\0`,
    `0\0${OTHER}\0a b\0c\0c~${TREE}\0\0`,
    `1\0${OTHER}\0\0`,
  ].join('');
  expect(taken(printed, size).answers).toEqual([
    clean(TREE),
    conflicting(TREE),
    conflicting(OTHER, 'a b', 'c'),
    clean(OTHER),
  ]);
});

it('of many files a hundred have a name, and nothing of the rest is kept', () => {
  const names = Array.from({ length: 200_000 }, (_, n) => `folder/file-${n}`);
  const { answers, kept } = taken(`0\0${TREE}\0${names.join('\0')}\0\0` + `1\0${OTHER}\0\0`, 65_536);
  expect(answers).toEqual([conflicting(TREE, ...names.slice(0, 100)), clean(OTHER)]);
  expect(kept).toBeLessThan(100);
});

it('names of more than 64 KiB are not told, nor kept', () => {
  const long = 'x'.repeat(3_000_000);
  const { answers, kept } = taken(`0\0${TREE}\0${long}\0short\0\0` + `1\0${OTHER}\0\0`, 10_000);
  expect(answers).toEqual([conflicting(TREE, 'short'), clean(OTHER)]);
  expect(kept).toBeLessThan(80_000);
});

it('a lone merge may be cut off anywhere', () => {
  const printed = Buffer.from(`${TREE}\0a\0bcd\0`);
  expect(readMergedTree(printed, false)).toEqual(conflicting(TREE, 'a', 'bcd'));
  expect(readMergedTree(printed.subarray(0, -1), false)).toEqual(conflicting(TREE, 'a'));
  expect(readMergedTree(printed.subarray(0, 41), false)).toEqual(conflicting(TREE));
  expect(readMergedTree(printed.subarray(0, 41), true)).toEqual(clean(TREE));
  expect(readMergedTree(printed.subarray(0, 40), false)).toBeUndefined();
  expect(readMergedTree(Buffer.alloc(0), true)).toBeUndefined();
});
