import { describe, expect, it } from 'vitest';
import type { StackMember } from '../../stacks/stack-member.ts';
import { findAbove, findFooting, MOST_IN_STACK } from './stack.ts';

const pull = (number: number, head: string | null, base: string): StackMember => ({
  id: 100 + number,
  number,
  base_branch: base,
  own_head: head,
});
const numbers = (members: readonly StackMember[]) => members.map(({ number }) => number);
const footing = (from: StackMember, open: readonly StackMember[]) => {
  const { below, obstacle } = findFooting(from, open);
  return [numbers(below), obstacle];
};

const [one, two, three] = [pull(1, 'a', 'main'), pull(2, 'b', 'a'), pull(3, null, 'b')];
const stack = [three, one, two, pull(9, 'z', 'main')];

describe('what a pull request stands on', () => {
  it.each<[string, StackMember, readonly StackMember[], number[], string | undefined]>([
    ['nothing', one, stack, [], undefined],
    ['the one below', two, stack, [1], undefined],
    ['all of those below, the lowest first, also from a fork', three, stack, [1, 2], undefined],
    ['not what has the same base', pull(4, 'c', 'main'), stack, [], undefined],
    ['either of two', three, [...stack, pull(7, 'a', 'release')], [2], '#2: a is the head of #1 and of #7'],
    ['itself', pull(5, 'x', 'y'), [pull(5, 'x', 'y'), pull(6, 'y', 'x')], [6], '#5: it stands on itself'],
    [
      'a circle below it',
      pull(8, 'w', 'x'),
      [pull(5, 'x', 'y'), pull(6, 'y', 'x')],
      [6, 5],
      '#5: it stands on itself',
    ],
  ])('%s', (_, from, open, below, obstacle) => {
    expect(footing(from, open)).toEqual([below, obstacle]);
  });

  it('is bounded', () => {
    const tower = Array.from({ length: 60 }, (_, index) => pull(index + 1, `b${index + 1}`, `b${index}`));
    const [below, obstacle] = footing(tower[59] as StackMember, tower);
    expect(below).toHaveLength(MOST_IN_STACK - 1);
    expect(obstacle).toBe('#10: no more than 50 pull requests are merged together');
    expect(footing(tower[49] as StackMember, tower)[1]).toBeUndefined();
  });
});

describe('what stands on a pull request', () => {
  it('comes nearest first, and by its number', () => {
    const sibling = pull(4, 'd', 'a');
    expect(numbers(findAbove(one, [...stack, sibling, pull(5, null, 'd')], []))).toEqual([2, 4, 3, 5]);
  });

  it('is nothing that it stands on', () => {
    const circle = [pull(5, 'x', 'y'), pull(6, 'y', 'x')] as const;
    expect(numbers(findAbove(circle[0], circle, [circle[1]]))).toEqual([]);
  });

  it('is nothing where its head is elsewhere', () => {
    expect(findAbove(three, stack, [one, two])).toEqual([]);
  });
});
