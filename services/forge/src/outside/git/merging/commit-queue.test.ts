import { expect, it } from 'vitest';
import { CommitQueue } from './commit-queue.ts';

it('gives the newest first, and of equal dates the one that came first', () => {
  const queue = new CommitQueue<number>();
  const dates = Array.from({ length: 500 }, (_, index) => (index * 7919) % 97);
  for (const [index, date] of dates.entries()) queue.put(date, index);
  const taken = dates.map(() => queue.take() as number);
  const expected = dates
    .map((date, index) => ({ date, index }))
    .sort((a, b) => b.date - a.date || a.index - b.index)
    .map(({ index }) => index);
  expect(taken).toEqual(expected);
  expect(queue.take()).toBeUndefined();
});
