import { expect, it } from 'vitest';
import { readTopics } from './topics.ts';

it('topics are kept small, once and in order', () => {
  expect(readTopics([' Web ', 'api', 'web', '', 'node.js', '3d'])).toEqual(['3d', 'api', 'node.js', 'web']);
});

it.each(['-x', '.git', 'a b', 'a/b', 'ä', 'a'.repeat(36), 'a\u0000'])('%j is none', (topic) => {
  expect(() => readTopics(['fine', topic])).toThrow('Topic names are invalid');
});

it('25 are enough', () => {
  const many = Array.from({ length: 26 }, (_, index) => `t${index}`);
  expect(readTopics(many.slice(1))).toHaveLength(25);
  expect(() => readTopics(many)).toThrow('Exceeding maximum number of topics per repo');
});
