import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createBloomFilter } from './bloom-filter.ts';

const digest = (text: string): Buffer => createHash('sha1').update(text).digest();
const filled = (items: number, falsePositives: number) => {
  const filter = createBloomFilter(items, falsePositives);
  for (let item = 0; item < items; item++) filter.add(digest(`in ${item}`));
  return filter;
};

test('what was added is there', () => {
  const filter = filled(5_000, 0.01);
  expect(filter.size).toBe(5_000);
  for (let item = 0; item < 5_000; item++) expect(filter.has(digest(`in ${item}`))).toBe(true);
});

test.each([
  [0.1, 60, 140],
  [0.01, 2, 22],
  [0.0000099, 0, 0],
])('of 1,000 strangers a share of %f is taken for known', (falsePositives, least, most) => {
  const filter = filled(2_000, falsePositives);
  let wrong = 0;
  for (let item = 0; item < 1_000; item++) if (filter.has(digest(`out ${item}`))) wrong++;
  expect(wrong).toBeGreaterThanOrEqual(least);
  expect(wrong).toBeLessThanOrEqual(most);
});

test('an empty one knows nothing, and one for a single item works', () => {
  const filter = createBloomFilter(1, 0.5);
  expect(filter.has(digest('a'))).toBe(false);
  filter.add(digest('a'));
  expect(filter.has(digest('a'))).toBe(true);
});
